// Package station registers partner stations: their owners, the URLs from which the hub reads their data, and their status. A
// station represents one origin. Two active stations cannot have the same origin. If an approved station changes a URL, an
// administrator must approve it again.
package station
