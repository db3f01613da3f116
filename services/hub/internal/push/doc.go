// Package push sends notifications to browsers by web push (RFC 8030, RFC 8291, RFC 8292).
//
// The message of a notification is stored together with the notification, so that a crash loses none. After a crash during a
// delivery the same message can be sent twice; the browser shows it once. Start with sender.go.
package push
