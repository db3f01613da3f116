// Package share is about what is passed on: the short links of calls, markets,
// operators and tapes.
package share
