// Package record returns the record of an operator: numbers of calls, streak, rank, moments, newest calls, and a measurement of
// skill (docs/method.md).
package record
