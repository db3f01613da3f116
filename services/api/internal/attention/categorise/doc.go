// Package categorise puts a market into a content lane and into a category of
// the program clock. The venue's own tags decide; words of the title decide
// only when the tags say nothing. It is a pure function of its input: no clock,
// no state, no override (an override is the caller's).
package categorise
