// Package mail sends letters by SMTP. Without a mail server, the digest of the administrators is written to the log.
package mail
