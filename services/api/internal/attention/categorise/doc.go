// Package categorise assigns a content lane and a programme category to a market. The tags of the venue decide. Words
// of the title decide only without a known tag. The result depends on the arguments alone. Overrides of administrators
// are applied by the callers.
package categorise
