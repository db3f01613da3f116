// Package livestream is the part of an operator that is live: its session, which heartbeats
// keep open, the signal over its picture, who watches, and what is left of a session
// when it has ended. It knows where viewers are sent and never opens that address; the
// video itself is somebody else's.
package livestream
