// Package manifold reads the binary play-money markets of Manifold. The rules for status and outcome are in derive.go,
// in their order of precedence.
package manifold
