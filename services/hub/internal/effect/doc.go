// Package effect applies protocol messages to the ledger, and files and attests calls for clients that do not sign
// messages.
//
// The ledger and the messages are two stores without a common transaction. Each effect carries the id of its message as
// an idempotency key, so the ledger applies it once. For an attestation the hub first stores a due entry, then writes
// to the ledger, attests, and deletes the entry. Sweep completes entries that a crash left.
package effect
