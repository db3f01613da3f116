// Package export reads the complete record of one operator in pages: every call with its quotes, result and events. It reads
// the next page only after the receiver has accepted the previous one. It does not depend on the format of the export.
package export
