// Package limitless reads Limitless: order-book and pool markets, and the
// children of its groups. The derivation of status and outcome is one
// ordered list of rules in derive.go.
package limitless
