// Package mail sends digests by SMTP, or writes them to the log if no mail server is configured.
package mail
