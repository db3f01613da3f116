// Package audit names what is written down about acts of admins and of the
// scheduler. Entries are only ever added.
package audit
