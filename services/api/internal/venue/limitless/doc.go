// Package limitless reads Limitless: order-book and pool markets, the children
// of its groups, and price history. The derivation of status and outcome is one
// ordered list of rules in derive.go.
package limitless
