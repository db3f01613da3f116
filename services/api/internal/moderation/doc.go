// Package moderation hides text and media by decisions of administrators. Numbers stay.
package moderation
