// Package card draws what is shown of a call, a market or an operator where a link to
// it is shared: a picture of 1200 by 630, as SVG and as PNG, with the same words in the
// same places. It knows nothing of where the words come from, and takes every one of
// them for something that a stranger wrote.
package card
