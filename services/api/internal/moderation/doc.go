// Package moderation defines the decisions with which administrators hide texts and media. Numbers, such as scores, remain
// visible.
package moderation
