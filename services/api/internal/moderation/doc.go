// Package moderation stores decisions of administrators to hide texts and media. Numbers, such as scores, remain visible.
package moderation
