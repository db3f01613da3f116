// Package movement measures how far the price of each open market moved within a window of time, and groups the moves of one
// event into situations.
//
// The package only computes. The caller passes all data and the present time; the package reads no store and no clock.
package movement
