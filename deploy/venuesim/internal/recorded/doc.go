// Package recorded serves recorded answers of Polymarket as a world.Source:
// the objects are kept whole and given back byte for byte, whatever is odd
// about them. It reads lists of metadata objects, single ones, list envelopes,
// order-book pages and one price history; files of any other form are named
// and left out.
package recorded
