// Package record returns the record of an operator: numbers of calls, streak, rank, moments, newest calls, and a measurement of
// skill (docs/method.md). The cost of a read does not grow with the number of calls. The cost of a measurement grows with the
// number of distinct prices, which is at most 9,999.
package record
