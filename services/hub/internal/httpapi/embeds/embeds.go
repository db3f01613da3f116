package embeds

import (
	"context"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/protocol"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	"github.com/signalcast/signalcast/proto/openapi"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
	"github.com/signalcast/signalcast/services/hub/internal/card"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
	"github.com/signalcast/signalcast/services/hub/internal/record"
	"github.com/signalcast/signalcast/services/hub/internal/share"
)

// Sizes of embeds in pixels, and the cache age of an oEmbed document in seconds. frameWidth and frameHeight are for an operator,
// who is shown as a page in an iframe. Other items are shown as a card at half its size.
const (
	frameWidth, frameHeight     = 420, 220
	pictureWidth, pictureHeight = 600, 315
	oembedAge                   = 300
)

// errXML is the error for a format parameter other than json.
var errXML = apperr.New(apperr.NotImplemented, "not_implemented", "only format=json is supported")

// embedOf returns the embed of an item as a JSON model. If the short link cannot be created, the short URL is null and the
// response is marked as degraded. Errors: the errors of the ledger.
func (s *Server) embedOf(c echo.Context, t *item) (any, error) {
	ctx := c.Request().Context()
	f := s.frameOf(t, 0, 0)
	var shortURL *string // null while the database is unavailable
	if code, err := share.Mint(ctx, s.Links, t.kind, t.id); err != nil {
		httpx.Degrade(c, httpx.Source(err))
	} else {
		short := s.HubURL + "/api/c/" + code
		shortURL = &short
	}
	switch t.kind {
	case share.Market:
		m := t.market
		row := openapi.EmbedMarket_Market{
			ID: m.GetId(), Name: t.Title, Volume: m.Volume, Closed: m.GetStatus() != string(protocol.MarketOpen),
			ClosesAt: ledgerclient.StampOrNull(m.GetEndDate()), ResolutionValue: m.ResolutionValue, Disputed: m.GetDisputed(),
			Sides: t.sides,
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
		calls := openapi.EmbedMarket_Crowd{YesCount: yes, NoCount: no, TotalSignals: yes + no}
		return openapi.EmbedMarket{
			Type: "market", Market: row, Crowd: calls,
			HTML: f.html, EmbedURL: f.address, Width: f.width, Height: f.height, URL: t.url, ShortURL: shortURL,
		}, nil
	case share.Signal:
		shown := view.ShowSignal(t.signal)
		shown.MarketTitle, shown.Sides = card.Clean(shown.MarketTitle), t.sides
		if take := shown.TextTake; take != nil {
			plain := card.RemoveBidi(*take)
			shown.TextTake = &plain
		}
		return openapi.EmbedSignal{
			Type: "signal", Signal: shown, Disputed: t.disputed, ReceiptURL: t.url,
			HTML: f.html, EmbedURL: f.address, Width: f.width, Height: f.height, URL: t.url, ShortURL: shortURL,
		}, nil
	}
	o, st := t.record.GetOperator(), t.record.GetStats()
	calls := view.ShowCalls(s.HubURL, t.record.GetRecent())
	live, approved, shown := view.LiveState(ctx, s.OnAir, protocol.Handle(t.id))
	ids := view.List(calls, func(call openapi.RecordCall) string { return call.MarketID })
	if shown != nil {
		ids = append(ids, shown.MarketID)
	}
	named := s.sidesOf(ctx, ids)
	for i := range calls {
		calls[i].MarketTitle, calls[i].Sides = card.Clean(calls[i].MarketTitle), named[calls[i].MarketID]
	}
	if shown != nil {
		shown.Name, shown.Sides = card.Clean(shown.Name), named[shown.MarketID]
	}
	return openapi.EmbedOperator{
		Type: "operator", Handle: o.GetHandle(), DisplayName: card.Clean(o.GetDisplayName()),
		Live: live, Approved: approved, LiveSignal: shown,
		Rank: record.Title(record.Resolved(st)), Score: st.GetScore(), Accuracy: int64(st.GetAccuracy()), RecentCalls: calls,
		HTML: f.html, EmbedURL: f.address, Width: f.width, Height: f.height, URL: t.url, ShortURL: shortURL,
	}, nil
}

// sidesOf returns the names of the sides of markets, by market id. Markets with the sides Yes and No are missing. If the markets
// cannot be read within disputeTimeout, the result is empty.
func (s *Server) sidesOf(ctx context.Context, ids []string) map[string]*openapi.MarketSides {
	slices.Sort(ids)
	named := map[string]*openapi.MarketSides{}
	if ids = slices.Compact(ids); len(ids) == 0 {
		return named
	}
	ctx, cancel := context.WithTimeout(ctx, disputeTimeout)
	defer cancel()
	r, _ := s.Ledger.Markets.ListMarkets(ctx, &marketv1.ListMarketsRequest{Ids: ids})
	for _, m := range r.GetMarkets() {
		named[m.GetId()] = showSides(m)
	}
	return named
}

// showSides returns the names of the two sides of a market, each as one line; nil if they are Yes and No.
func showSides(m *marketv1.Market) *openapi.MarketSides {
	sides := view.ShowNamedSides(m)
	if sides != nil {
		sides.Yes, sides.No = card.Clean(sides.Yes), card.Clean(sides.No)
	}
	return sides
}

// frame is an HTML snippet that shows an item on another site. address is the URL of the iframe or image; sizes are in pixels.
type frame struct {
	html, address string
	width, height int64
}

// frameOf returns the snippet of an item, reduced to fit maxWidth and maxHeight. Both are in pixels; 0 means no limit.
func (s *Server) frameOf(t *item, maxWidth, maxHeight int64) frame {
	if t.kind == share.Operator {
		f := frame{address: s.HubURL + "/operator/" + t.id + "/embed", width: frameWidth, height: frameHeight}
		if maxWidth > 0 {
			f.width = min(f.width, maxWidth)
		}
		if maxHeight > 0 {
			f.height = min(f.height, maxHeight)
		}
		f.html = fmt.Sprintf(`<iframe src="%s" width="%d" height="%d" title="@%s on Signalcast" loading="lazy"`+
			` style="border:0" sandbox="allow-popups allow-popups-to-escape-sandbox"></iframe>`,
			html.EscapeString(f.address), f.width, f.height, t.id)
		return f
	}
	f := frame{address: s.cardURL(t) + ".svg", width: pictureWidth, height: pictureHeight}
	if maxWidth > 0 && maxWidth < f.width {
		f.width, f.height = maxWidth, max(1, maxWidth*pictureHeight/pictureWidth)
	}
	if maxHeight > 0 && maxHeight < f.height {
		f.width, f.height = max(1, maxHeight*pictureWidth/pictureHeight), maxHeight
	}
	f.html = fmt.Sprintf(`<a href="%s"><img src="%s" alt="%s" width="%d" height="%d" loading="lazy"></a>`,
		html.EscapeString(t.url), html.EscapeString(f.address), html.EscapeString(t.Title), f.width, f.height)
	return f
}

func (s *Server) cardURL(t *item) string {
	return s.HubURL + "/api/card/" + string(t.kind) + "/" + url.PathEscape(t.id)
}

// Oembed handles GET /api/embed/oembed, which returns the oEmbed document of a page of this hub. Errors: not_found,
// not_implemented.
func (s *Server) Oembed(c echo.Context) error {
	if f := c.QueryParam("format"); f != "" && f != "json" {
		return errXML
	}
	kind, id, ok := s.ownAddress(c.QueryParam("url"))
	if !ok {
		return errItemNotFound
	}
	t, err := s.item(c.Request().Context(), kind, id)
	if err != nil {
		return err
	}
	f := s.frameOf(&t, size(c.QueryParam("maxwidth")), size(c.QueryParam("maxheight")))
	return httpx.Tagged(c, openapi.OEmbed{
		Type: "rich", Version: "1.0", Title: t.Title, ProviderName: "Signalcast", ProviderURL: s.HubURL, CacheAge: oembedAge,
		HTML: f.html, Width: f.width, Height: f.height,
		ThumbnailURL: s.cardURL(&t) + ".png", ThumbnailWidth: 1200, ThumbnailHeight: 630,
	})
}

func size(raw string) int64 {
	n, err := strconv.ParseInt(raw, 10, 64)
	if err != nil || n < 1 {
		return 0
	}
	return n
}

// ownAddress returns the kind and id of the item that a URL of this hub shows. ok is false for other URLs.
func (s *Server) ownAddress(raw string) (kind, id string, ok bool) {
	rest, ours := strings.CutPrefix(raw, s.HubURL+"/")
	u, err := url.Parse(rest)
	if !ours || err != nil || u.Scheme != "" || u.Host != "" || u.User != nil {
		return "", "", false
	}
	parts := strings.Split(strings.TrimSuffix(u.Path, "/"), "/")
	switch {
	case len(parts) == 2 && (parts[0] == "u" || parts[0] == "live"),
		len(parts) == 3 && parts[0] == "operator" && parts[2] == "embed":
		return string(share.Operator), parts[1], true
	case len(parts) == 2 && parts[0] == "receipts":
		return string(share.Signal), parts[1], true
	case len(parts) == 2 && parts[0] == "m":
		return string(share.Market), parts[1], true
	}
	return "", "", false
}

// Short handles GET /api/c/{code}, which resolves a short link. Browsers are redirected to the page of the item; other clients
// receive JSON.
func (s *Server) Short(c echo.Context) error {
	code := c.Param("code")
	c.Response().Header().Set("Vary", "Accept")
	if !share.IsCode(code) {
		return share.ErrUnknown
	}
	l, err := s.Links.Link(c.Request().Context(), code)
	if err != nil {
		return err
	}
	to, ok := map[share.Kind]string{share.Signal: "/receipts/", share.Market: "/m/", share.Operator: "/u/", share.Tape: "/clips/"}[l.Kind]
	if !ok {
		return share.ErrUnknown
	}
	address := s.HubURL + to + url.PathEscape(l.ID)
	if strings.Contains(c.Request().Header.Get("Accept"), "text/html") {
		return c.Redirect(http.StatusFound, address)
	}
	return httpx.Tagged(c, openapi.ShortLink{Code: l.Code, Type: string(l.Kind), ID: l.ID, URL: address})
}
