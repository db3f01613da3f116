package reads

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/cache"
	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/protocol"
	wirev1 "github.com/signalcast/signalcast/proto/wire/v1"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
	"github.com/signalcast/signalcast/services/hub/internal/market"
)

// Ages of the leading markets of events.
const (
	storyTTL  = 30 * time.Second
	storyLast = 10 * time.Minute // oldest answer while the ledger is unavailable
)

// stories finds the market that leads the situation of an event. Links to events lead to this market. Any number of
// requests, also for unknown events, cause at most two looks in storyTTL while the ledger answers.
type stories struct {
	ledger wirev1.WireReadServiceClient
	leads  *cache.Cache[bool, leads] // key: see look
}

// leads has the market that leads the situation of an event, by the key of the event.
type leads map[string]protocol.MarketID

func newStories(ledger wirev1.WireReadServiceClient, now func() time.Time) *stories {
	return &stories{ledger: ledger, leads: cache.New(cache.Options[bool, leads]{
		TTL: storyTTL, Hold: -1, Timeout: 2 * time.Second, Values: true, Now: now,
	})}
}

// lead returns the market that leads the situation of an event; empty when no market of the event moves. With a fault of the
// ledger it returns the market that led at the last look, if that is younger than storyLast.
func (s *stories) lead(ctx context.Context, key string) (protocol.MarketID, error) {
	for _, wide := range [...]bool{false, true} {
		look := func(ctx context.Context, _ leads) (leads, error) { return s.look(ctx, wide) }
		found, err := s.leads.Get(ctx, wide, look)
		if err != nil {
			return s.last(key), err
		}
		if id := found[key]; id != "" {
			return id, nil
		}
	}
	return "", nil
}

// last returns the market that led an event at the last look; empty if that is older than storyLast.
func (s *stories) last(key string) (id protocol.MarketID) {
	newest := storyLast
	for _, wide := range [...]bool{false, true} {
		if found, age, _ := s.leads.Last(wide); age < newest && found[key] != "" {
			id, newest = found[key], age
		}
	}
	return id
}

// look reads the situations of every window, the longest first: one list of all lanes and, if wide, one
// list of each lane. A list of all lanes can be too short for an event.
func (s *stories) look(ctx context.Context, wide bool) (leads, error) {
	lanes := []protocol.Lane{""}
	if wide {
		for _, lane := range protocol.Lanes {
			if lane.Filterable() {
				lanes = append(lanes, lane)
			}
		}
	}
	found := leads{}
	for i := range protocol.Windows {
		window := protocol.Windows[len(protocol.Windows)-1-i]
		for _, lane := range lanes {
			list, err := view.ListSituations(ctx, s.ledger, view.MovementQuery{Window: window, Lane: lane, Limit: maxSituations})
			if err != nil {
				return nil, err
			}
			for _, sit := range list.GetSituations() {
				key := sit.GetEventKey()
				if _, ok := found[key]; !ok && key != "" {
					found[key] = protocol.MarketID(sit.GetMarkets()[0].GetMarketId())
				}
			}
		}
	}
	return found, nil
}

// Story is GET /s/{eventKey}: it leads on to the market that leads the situation
// of an event. Who asks for JSON gets a fault as JSON, a person gets a page.
func (s *Server) Story(c echo.Context) error {
	header := c.Response().Header()
	header.Set("Vary", "Accept")
	id, err := s.stories.lead(c.Request().Context(), c.Param("eventKey"))
	switch {
	case id != "":
		if err != nil {
			httpx.Degrade(c, httpx.Source(err))
		}
		return c.Redirect(http.StatusFound, "/m/"+string(id))
	case err == nil:
		err = market.ErrUnknown
	}
	accept := c.Request().Header.Get("Accept")
	if strings.Contains(accept, "application/json") && !strings.Contains(accept, "text/html") {
		return err
	}
	header.Set("Cache-Control", view.CacheNever)
	header.Set("Content-Security-Policy", "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	header.Set("X-Frame-Options", "DENY")
	header.Set("Referrer-Policy", "strict-origin-when-cross-origin")
	switch apperr.Of(err).Kind {
	case apperr.NotFound:
		return c.HTML(http.StatusNotFound, note("Nothing moves here", "No market of this event has moved lately."))
	case apperr.Unavailable:
		header.Set("Retry-After", "1")
		return c.HTML(
			http.StatusServiceUnavailable, note("Temporarily unavailable", "Market movement is unavailable. Try again in a minute."),
		)
	}
	return err // logged and written in the one shape
}

// note is a page of two sentences, which need no escaping.
func note(heading, text string) string {
	return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">` +
		`<meta name="robots" content="noindex"><title>` + heading + ` · Signalcast</title></head>
<body><h1>` + heading + `</h1><p>` + text + `</p></body></html>
`
}
