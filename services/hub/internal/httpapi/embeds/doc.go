// Package embeds serves what other sites show of a call, a market or an operator: cards as pictures, embeds, oEmbed and short
// links.
//
// It draws with hub/card and stores links with hub/share. Start with cards.go.
package embeds
