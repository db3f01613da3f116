// Package board ranks operators by their counters. Every row has the tier of its operator: independent,
// house or automated.
//
// A window of 28 days starts exactly 28 days before the read. A board has the same content before and after Run has updated
// its stored rows.
package board
