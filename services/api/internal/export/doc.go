// Package export is the record of one operator on its way out: every call with
// what belongs to it, page by page, as fast as its reader takes it. It knows
// nothing of the form in which a record is written down.
package export
