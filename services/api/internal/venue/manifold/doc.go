// Package manifold reads Manifold: its binary play-money markets. The derivation
// of status and outcome is one ordered list of rules in derive.go.
package manifold
