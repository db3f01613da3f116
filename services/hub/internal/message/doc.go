// Package message implements signed protocol messages: the signed bytes, the checks of a message, the payload of each
// type, delegated signers, and the messages that the hub attests with its own keys.
//
// A message is a JSON object that is signed with Ed25519. The signed bytes are a prefix, the issuer, and the canonical form (RFC
// 8785) without the member signature. A signature for another hub or another purpose is therefore invalid. All checks read the
// canonical form, so that every implementation sees the same members.
//
// The package uses a store of messages and signers, and a function that applies a message. It contains no HTTP and no SQL.
package message
