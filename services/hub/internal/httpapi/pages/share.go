package pages

import (
	"html"
	"net/url"

	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/site"
)

// sharePanel has the links and texts with which a visitor shares a receipt.
type sharePanel struct {
	URL, Text, Picture    string
	X, Bluesky, Farcaster string
	Embed                 string // HTML for other sites
}

// shareOf returns the links and texts for the receipt with the given id. side, price and title describe the call.
func (s *server) shareOf(id, side, price, title string) *sharePanel {
	p := &sharePanel{
		URL: s.HubURL + site.ReceiptPath + id, Text: side + " at " + price + " on “" + title + "”",
		Picture: s.HubURL + "/api/card/signal/" + id + ".png",
	}
	p.X = "https://x.com/intent/post?" + url.Values{"text": {p.Text}, "url": {p.URL}}.Encode()
	p.Bluesky = "https://bsky.app/intent/compose?" + url.Values{"text": {p.Text + " " + p.URL}}.Encode()
	p.Farcaster = "https://farcaster.xyz/~/compose?" + url.Values{"text": {p.Text}, "embeds[]": {p.URL}}.Encode()
	p.Embed = `<a href="` + p.URL + `"><img src="` + p.Picture + `" alt="` + html.EscapeString(p.Text) +
		`" width="600" height="315" loading="lazy"></a>`
	return p
}
