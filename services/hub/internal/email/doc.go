// Package email sends letters to users who have confirmed an e-mail address: messages about their account and digests.
//
// A user enters an address and confirms it with a link that works once. Letters wait in the database until the mail server
// accepts them. The package contains no HTTP, SQL or SMTP. Start with email.go.
package email
