// Package follow stores which operators follow which operators, and counts followers. Follows refer to operator ids, so they
// survive a change of the handle. The package contains no HTTP and no SQL.
package follow
