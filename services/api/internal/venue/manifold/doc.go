// Package manifold reads markets of Manifold: its play-money markets with the outcomes YES and NO. The rules for status and
// outcome are in derive.go, in their order of precedence.
package manifold
