// Package follow is who follows whom, and how many. Operators are known by their
// ids, so a handle that changes takes its followers along. The package knows no
// HTTP and no storage.
package follow
