// Package follow manages which operators follow which, and the numbers of followers. Follows refer to operator ids, so
// they survive a change of the handle. The package contains no HTTP and no SQL.
package follow
