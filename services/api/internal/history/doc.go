// Package history shows how the price of a market moved: from its venue's order
// book where it has one, else from our own snapshots. Answers are kept for as
// long as their interval allows, because a chart is looked at by many and a venue
// may be asked only now and then.
package history
