// Package messageapi serves signed messages: signers, submission, verification and reads.
//
// Rules of messages are in hub/message. Start with submit.go.
package messageapi
