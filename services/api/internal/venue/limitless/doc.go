// Package limitless reads markets of Limitless: order-book markets, pool markets, and the markets of groups. The rules for
// status and outcome are in derive.go, in their order of precedence.
package limitless
