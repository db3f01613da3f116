// Package moderation applies decisions of administrators to hide texts and media, and stores reports of operators.
package moderation
