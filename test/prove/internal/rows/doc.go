// Package rows holds the promises, one file each.
package rows
