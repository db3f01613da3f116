// Package effect turns what was signed or asked for on the protocol routes into
// facts of the ledger: the effects of messages, and calls that the hub files and
// attests itself.
//
// The ledger and the messages are two stores. An effect carries the id of its
// message, so that the ledger does it once however often it is asked. What the hub
// attests is noted as due before the ledger is asked and crossed out after the
// attestation; Sweep finishes what a crash left between the two.
package effect
