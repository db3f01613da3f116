// Package export reads the complete record of one operator: every call with its quotes, result and events, in pages. It reads
// the next page when the receiver has taken the last one. It has no dependency on the format of the export.
package export
