// Package embeds serves previews of calls, markets and operators for other sites: card images, embeds, oEmbed documents and short
// links.
//
// Package card draws the images and package share stores the links. Start with cards.go.
package embeds
