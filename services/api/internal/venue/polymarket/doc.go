// Package polymarket reads Polymarket: markets from its metadata service,
// outcomes in doubt, fresh prices and price history from its order-book
// service. The derivation of status and outcome is one ordered list of rules
// in derive.go.
package polymarket
