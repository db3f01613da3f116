// Package digest sends a summary of each day. It reserves the day first, so that concurrent requests do not send the summary
// twice. Other packages deliver the mail and store which days have been sent.
package digest
