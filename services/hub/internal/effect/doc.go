// Package effect applies protocol messages to the ledger. It also files and attests calls for clients that do not sign
// messages.
//
// The ledger and the messages are two stores without a common transaction. Each effect carries the id of its message as an
// idempotency key, so the ledger applies it once. For an attestation, the hub first stores a due entry. It then writes to the
// ledger, attests, and deletes the entry. Sweep completes entries that remain after a crash.
package effect
