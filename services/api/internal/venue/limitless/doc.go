// Package limitless reads Limitless: order-book and pool markets, and the markets of its groups. The rules for status
// and outcome are in derive.go, in their order of precedence.
package limitless
