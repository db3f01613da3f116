// Package station manages partner stations: their owners, the URLs from which the hub reads their data, and their status. Each
// station has one origin (scheme, host and port). Two active stations cannot have the same origin. If the owner changes a URL
// of an approved station, an administrator must approve the station again.
package station
