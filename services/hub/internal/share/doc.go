// Package share manages short links to calls, markets, operators and tapes (clips).
package share
