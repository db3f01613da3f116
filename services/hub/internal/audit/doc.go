// Package audit defines the audit log of actions of administrators and of the scheduler. Entries are only added, never changed.
package audit
