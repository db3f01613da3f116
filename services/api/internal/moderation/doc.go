// Package moderation hides text and media by decisions of administrators. Figures remain visible.
package moderation
