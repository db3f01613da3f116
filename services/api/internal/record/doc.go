// Package record is what an operator has on record (contract 4.2.4, 4.7.3, 4.8.1):
// counters, streak, rank, moments, newest calls, and how much of it is skill. No read
// of it grows with the history behind it; statistics grow with the number of distinct
// prices, of which there are at most 9,999.
package record
