// Package movement measures how far the price of each open market moved within a window, and groups these moves into
// situations.
//
// The package only computes. The caller passes all facts, including the time; the package reads no store and no clock.
package movement
