// Package polymarket reads Polymarket. The metadata service provides markets. The order-book service provides prices,
// price histories and outcomes that the metadata does not decide. The rules for status and outcome are in derive.go, in
// their order of precedence.
package polymarket
