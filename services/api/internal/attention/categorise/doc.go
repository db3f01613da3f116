// Package categorise assigns a content lane and a programme category to a market. The tags of the venue decide the lane. If no
// tag is known, the words of the title decide it. The result depends on the arguments only. The callers apply decisions of
// administrators.
package categorise
