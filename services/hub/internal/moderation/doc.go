// Package moderation hides text and media by decisions of administrators and takes reports.
package moderation
