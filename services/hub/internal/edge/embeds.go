package edge

import (
	"html"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/fault"
	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/pkg/web"
	"github.com/signalcast/signalcast/proto/openapi"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
	"github.com/signalcast/signalcast/services/hub/internal/card"
	"github.com/signalcast/signalcast/services/hub/internal/share"
)

// embedPartJSON is what every embed has. ShortURL is null while the hub cannot keep one.
type embedPartJSON struct {
	HTML     string  `json:"html"`
	EmbedURL string  `json:"embedUrl"`
	Width    int     `json:"width"`
	Height   int     `json:"height"`
	URL      string  `json:"url"`
	ShortURL *string `json:"shortUrl"`
}

type embedOperatorJSON struct {
	Type        string     `json:"type"`
	Handle      string     `json:"handle"`
	DisplayName string     `json:"displayName"`
	Rank        string     `json:"rank"`
	Score       int64      `json:"score"`
	Accuracy    int64      `json:"accuracy"`
	Live        bool       `json:"live"`
	Approved    bool       `json:"approved"`
	LiveSignal  any        `json:"liveSignal"`
	RecentCalls []callJSON `json:"recentCalls"`
	embedPartJSON
}

type embedMarketJSON struct {
	Type   string                     `json:"type"`
	Market openapi.EmbedMarket_Market `json:"market"`
	Crowd  openapi.EmbedMarket_Crowd  `json:"crowd"`
	embedPartJSON
}

type embedSignalJSON struct {
	Type       string     `json:"type"`
	Signal     signalJSON `json:"signal"`
	Disputed   bool       `json:"disputed"`
	ReceiptURL string     `json:"receiptUrl"`
	embedPartJSON
}

// Sizes of embeds: a page in a frame, or a card half as large as it is drawn.
const (
	frameWidth, frameHeight     = 420, 220
	pictureWidth, pictureHeight = 600, 315
	oembedAge                   = 300
)

// errXML is for the other form of oEmbed, which nobody asks for any more.
var errXML = fault.New(fault.NotImplemented, "not_implemented", "only format=json")

// embedOf is what an embed of the thing says.
func (s *server) embedOf(c echo.Context, t *thing) (any, error) {
	ctx := c.Request().Context()
	part := s.frameOf(t, 0, 0)
	if code, err := share.Mint(ctx, s.Links, t.kind, t.id); err != nil {
		s.markDegraded(c, web.Source(err))
	} else {
		short := s.HubURL + "/api/c/" + code
		part.ShortURL = &short
	}
	switch t.kind {
	case share.Market:
		m := t.market
		row := openapi.EmbedMarket_Market{
			ID: m.GetId(), Name: t.Title, Volume: m.Volume, Closed: m.GetStatus() != string(syntax.MarketOpen),
			ClosesAt: ledgerclient.StampOrNull(m.GetEndDate()), ResolutionValue: m.ResolutionValue, Disputed: m.GetDisputed(),
		}
		if m.YesBps != nil {
			pct := float64(m.GetYesBps()) / 100
			row.YesPct = &pct
		}
		crowd, err := s.Ledger.Signals.GetCrowd(ctx, &signalv1.GetCrowdRequest{MarketId: m.GetId()})
		if err != nil {
			return nil, err
		}
		yes, no := crowd.GetYes(), crowd.GetNo()
		return embedMarketJSON{"market", row, openapi.EmbedMarket_Crowd{YesCount: yes, NoCount: no, TotalSignals: yes + no}, part}, nil
	case share.Signal:
		shown := showSignal(t.signal)
		shown.MarketTitle = card.Clean(shown.MarketTitle)
		if take := shown.TextTake; take != nil {
			unturned := card.Unturned(*take)
			shown.TextTake = &unturned
		}
		return embedSignalJSON{"signal", shown, t.disputed, t.url, part}, nil
	}
	atom := s.showAtom(t.record, 0)
	for i := range atom.RecentCalls {
		atom.RecentCalls[i].MarketTitle = card.Clean(atom.RecentCalls[i].MarketTitle)
	}
	return embedOperatorJSON{
		Type: "operator", Handle: atom.Handle, DisplayName: card.Clean(atom.DisplayName), Rank: atom.Rank, Score: atom.Stats.Score,
		Accuracy: int64(atom.Stats.Accuracy),
		Live:     atom.Live, Approved: atom.Approved, LiveSignal: atom.LiveSignal, RecentCalls: atom.RecentCalls, embedPartJSON: part,
	}, nil
}

// frameOf is what a page puts in to show the thing, no wider and no higher than asked
// where that is above 0.
func (s *server) frameOf(t *thing, maxWidth, maxHeight int) embedPartJSON {
	if t.kind == share.Operator {
		p := embedPartJSON{EmbedURL: s.HubURL + "/operator/" + t.id + "/embed", Width: frameWidth, Height: frameHeight, URL: t.url}
		if maxWidth > 0 {
			p.Width = min(p.Width, maxWidth)
		}
		if maxHeight > 0 {
			p.Height = min(p.Height, maxHeight)
		}
		p.HTML = `<iframe src="` + html.EscapeString(p.EmbedURL) + `" width="` + strconv.Itoa(p.Width) + `" height="` + strconv.Itoa(p.Height) +
			`" title="@` + t.id + ` on Signalcast" loading="lazy" style="border:0" sandbox="allow-popups allow-popups-to-escape-sandbox"></iframe>`
		return p
	}
	p := embedPartJSON{EmbedURL: s.cardURL(t) + ".svg", Width: pictureWidth, Height: pictureHeight, URL: t.url}
	if maxWidth > 0 && maxWidth < p.Width {
		p.Width, p.Height = maxWidth, max(1, maxWidth*pictureHeight/pictureWidth)
	}
	if maxHeight > 0 && maxHeight < p.Height {
		p.Width, p.Height = max(1, maxHeight*pictureWidth/pictureHeight), maxHeight
	}
	p.HTML = `<a href="` + html.EscapeString(p.URL) + `"><img src="` + html.EscapeString(p.EmbedURL) + `" alt="` + html.EscapeString(t.Title) +
		`" width="` + strconv.Itoa(p.Width) + `" height="` + strconv.Itoa(p.Height) + `" loading="lazy"></a>`
	return p
}

func (s *server) cardURL(t *thing) string {
	return s.HubURL + "/api/card/" + string(t.kind) + "/" + url.PathEscape(t.id)
}

// oembed is GET /api/embed/oembed.
func (s *server) oembed(c echo.Context) error {
	if f := c.QueryParam("format"); f != "" && f != "json" {
		return errXML
	}
	kind, id, ok := s.ownAddress(c.QueryParam("url"))
	if !ok {
		return errNoThing
	}
	t, err := s.thing(c.Request().Context(), kind, id)
	if err != nil {
		return err
	}
	p := s.frameOf(&t, size(c.QueryParam("maxwidth")), size(c.QueryParam("maxheight")))
	return tagged(c, openapi.OEmbed{
		Type: "rich", Version: "1.0", Title: t.Title, ProviderName: "Signalcast", ProviderURL: s.HubURL, CacheAge: oembedAge,
		HTML: p.HTML, Width: int64(p.Width), Height: int64(p.Height),
		ThumbnailURL: s.cardURL(&t) + ".png", ThumbnailWidth: 1200, ThumbnailHeight: 630,
	})
}

func size(raw string) int {
	n, err := strconv.Atoi(raw)
	if err != nil || n < 1 {
		return 0
	}
	return n
}

// ownAddress reads what an address of ours leads to.
func (s *server) ownAddress(raw string) (kind, id string, ok bool) {
	rest, ours := strings.CutPrefix(raw, s.HubURL+"/")
	u, err := url.Parse(rest)
	if !ours || err != nil || u.Scheme != "" || u.Host != "" || u.User != nil {
		return "", "", false
	}
	parts := strings.Split(strings.TrimSuffix(u.Path, "/"), "/")
	switch {
	case len(parts) == 2 && (parts[0] == "u" || parts[0] == "live"), len(parts) == 3 && parts[0] == "operator" && parts[2] == "embed":
		return string(share.Operator), parts[1], true
	case len(parts) == 2 && parts[0] == "receipts":
		return string(share.Signal), parts[1], true
	case len(parts) == 2 && parts[0] == "m":
		return string(share.Market), parts[1], true
	}
	return "", "", false
}

// short is GET /api/c/{code}.
func (s *server) short(c echo.Context) error {
	code := c.Param("code")
	c.Response().Header().Set("Vary", "Accept")
	if !share.IsCode(code) {
		return share.ErrUnknown
	}
	l, err := s.Links.Link(c.Request().Context(), code)
	if err != nil {
		return err
	}
	to, ok := map[share.Kind]string{share.Signal: "/receipts/", share.Market: "/m/", share.Operator: "/u/"}[l.Kind]
	if !ok { // a tape has no page here
		return share.ErrUnknown
	}
	address := s.HubURL + to + url.PathEscape(l.ID)
	if strings.Contains(c.Request().Header.Get("Accept"), "text/html") {
		return c.Redirect(http.StatusFound, address)
	}
	return tagged(c, openapi.ShortLink{Code: l.Code, Type: string(l.Kind), ID: l.ID, URL: address})
}
