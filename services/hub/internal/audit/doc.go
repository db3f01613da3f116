// Package audit defines the audit log, which records the actions of administrators and the scheduler. Entries are only added,
// never changed.
package audit
