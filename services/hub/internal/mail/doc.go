// Package mail hands digests over: by SMTP, or to the log where no mail server is
// configured.
package mail
