// Package moderation applies decisions of administrators to hide or show texts and media. It also stores reports of operators.
package moderation
