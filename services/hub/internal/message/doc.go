// Package message is about signed protocol messages and the keys that sign
// them: the bytes that are signed, the order in which a message is checked, the
// payload of each type, delegated signers, and the messages that the hub itself
// attests.
//
// A message is a JSON object signed with Ed25519. Signed is its canonical form
// (RFC 8785) without the member signature, behind a prefix and the issuer, so a
// signature made for one hub or for another purpose is worth nothing here. Only
// canonical bytes are ever looked at: a reader in any language sees the same.
//
// The package stores nothing and calls nobody: it knows a store of messages, a
// store of signers and the effects of messages as ports. It knows no transport,
// no database and reads no clock.
package message
