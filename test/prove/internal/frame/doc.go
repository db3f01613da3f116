// Package frame is what a row of the promises is made of: what it is told, what
// it gives back, and how rows are run one after the other and written down.
//
// A row keeps its own history of what it sent and what came back; its verdict is
// that history against the database, never the system's word about itself.
package frame
