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

// Lifetimes of the cached leading markets of events.
const (
	leadTTL    = 30 * time.Second
	leadMaxAge = 10 * time.Minute // maximum age of an entry that is used while the ledger is unavailable
)

// eventLeads caches the leading market of each event. A link to an event redirects to that market. All requests together cause at
// most two loads from the ledger per leadTTL, also for unknown events.
type eventLeads struct {
	ledger wirev1.WireReadServiceClient
	leads  *cache.Cache[bool, leads] // keys: the values of the argument wide of load
}

// leads maps event keys to the leading market of the event.
type leads map[string]protocol.MarketID

func newEventLeads(ledger wirev1.WireReadServiceClient, now func() time.Time) *eventLeads {
	return &eventLeads{ledger: ledger, leads: cache.New(cache.Options[bool, leads]{
		TTL: leadTTL, Hold: -1, Timeout: 2 * time.Second, Values: true, Now: now,
	})}
}

// lead returns the leading market of an event, or "" if no market of the event moves. If the ledger fails, it returns the last
// known leading market that is at most leadMaxAge old, together with the error.
func (s *eventLeads) lead(ctx context.Context, key string) (protocol.MarketID, error) {
	for _, wide := range [...]bool{false, true} {
		load := func(ctx context.Context, _ leads) (leads, error) { return s.load(ctx, wide) }
		found, err := s.leads.Get(ctx, wide, load)
		if err != nil {
			return s.last(key), err
		}
		if id := found[key]; id != "" {
			return id, nil
		}
	}
	return "", nil
}

// last returns the last known leading market of an event, or "" if there is none that is younger than leadMaxAge.
func (s *eventLeads) last(key string) (id protocol.MarketID) {
	newest := leadMaxAge
	for _, wide := range [...]bool{false, true} {
		if found, age, _ := s.leads.Last(wide); age < newest && found[key] != "" {
			id, newest = found[key], age
		}
	}
	return id
}

// load returns the leading market of each event. For each window, the longest first, it reads the list of moving events. The
// first list that contains an event decides.
//
// If wide is true, load also reads one list for each lane, because the list of all lanes may be too short to contain the event.
func (s *eventLeads) load(ctx context.Context, wide bool) (leads, error) {
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

// EventRedirect handles GET /s/{eventKey}. It redirects to the leading market of an event. It returns an error as JSON if the
// client prefers JSON, otherwise as an HTML page.
func (s *Server) EventRedirect(c echo.Context) error {
	header := c.Response().Header()
	header.Set("Vary", "Accept")
	id, err := s.eventLeads.lead(c.Request().Context(), c.Param("eventKey"))
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
		return c.HTML(http.StatusNotFound, errorPage("No recent movement", "No market of this event has moved recently."))
	case apperr.Unavailable:
		header.Set("Retry-After", "1")
		return c.HTML(
			http.StatusServiceUnavailable, errorPage("Temporarily unavailable",
				"Market movement is unavailable. Try again in a minute."),
		)
	}
	return err // the router logs internal errors and answers them as JSON
}

// errorPage returns an HTML page with a heading and a text. Both arguments must be constants, because they are not escaped.
func errorPage(heading, text string) string {
	return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">` +
		`<meta name="robots" content="noindex"><title>` + heading + ` · Signalcast</title></head>
<body><h1>` + heading + `</h1><p>` + text + `</p></body></html>
`
}
