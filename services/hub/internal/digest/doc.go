// Package digest sends the summary of a day once. Other packages deliver the mail and store which days are sent.
package digest
