// Package audit defines the audit log of administrators and of the scheduler. Entries are only added, never changed.
package audit
