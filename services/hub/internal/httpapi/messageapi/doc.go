// Package messageapi serves signers and signed messages: registration, submission, verification and reads.
//
// Package message has the rules of messages. Start with submit.go.
package messageapi
