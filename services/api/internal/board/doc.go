// Package board ranks operators by the results of their calls. Every row has the tier of its operator: independent, house or
// automated.
//
// A window of 28 days starts exactly 28 days before the read. A board has the same content before and after Run has updated its
// stored rows, unless it is ordered by edge.
package board
