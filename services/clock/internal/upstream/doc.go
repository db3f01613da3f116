// Package upstream contains the gRPC clients of the ledger. Markets copies the airable and the scheduled markets into memory.
// Ledger counts calls, lists stations, and publishes to the feed.
//
// Markets replaces the whole copy at once. The last copy remains in use while the ledger is unavailable. The package converts
// protobuf messages to the types of package program.
package upstream
