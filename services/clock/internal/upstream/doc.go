// Package upstream is the gRPC client of the ledger. Markets copies the airable and the scheduled markets into memory. Ledger
// counts calls, lists stations, and publishes to the feed.
//
// Markets replaces its copy as a whole and keeps the last one while the ledger is unavailable. The package converts protobuf
// messages to the types of package program.
package upstream
