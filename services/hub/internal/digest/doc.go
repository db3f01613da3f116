// Package digest sends the summary of each day at most once. Other packages deliver the mail and store which days have been sent.
package digest
