package kalshi

import (
	"cmp"
	_ "embed"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/signalcast/signalcast/deploy/venuesim/internal/venue"
	"github.com/signalcast/signalcast/deploy/venuesim/internal/world"
)

//go:embed constants.json
var constantsJSON []byte

var constants = venue.ParseConstants(constantsJSON)

const (
	base         = "/kalshi/trade-api/v2"
	maxEvents    = 200
	maxTickers   = 1000
	defaultLimit = 100
)

// Values of the member status of a market.
const (
	initialized = "initialized"
	active      = "active"
	inactive    = "inactive"
	closed      = "closed"
	determined  = "determined"
	disputed    = "disputed"
	amended     = "amended"
	finalized   = "finalized"
)

// States maps values of the member status to market states of the simulator.
var States = map[string]world.State{
	initialized: world.Open, active: world.Open, inactive: world.Open, closed: world.Closed,
	determined: world.Proposed, amended: world.Proposed, disputed: world.Disputed, finalized: world.Resolved,
}

// Service implements venue.Venue for Kalshi.
type Service struct {
	world *world.World
	lists venue.Lists
}

// New returns a Kalshi venue that serves the markets of w.
func New(w *world.World) *Service { return &Service{world: w} }

// Rules implements venue.Venue.
func (s *Service) Rules() venue.Rules {
	return venue.Rules{
		Prefix: "kalshi-", RateLimited: `{"error":"too many requests"}`, VenueStates: States, Payout: true,
		Resolutions: map[string][]world.Outcome{
			"scalar": {world.Invalid}, "void": {world.Invalid}, "blank": {world.Yes, world.No, world.Invalid},
		},
	}
}

// Key implements venue.Venue. The key of a market is its ticker.
func (s *Service) Key(m *world.Market) string {
	if m.Key != "" {
		return m.Key
	}
	return eventTicker(m) + "-" + base36(m.ID)
}

// Find implements venue.Venue. It finds a market by its ticker.
func (s *Service) Find(ticker string) (world.Market, bool) {
	m, ok := s.world.Find(ticker)
	if !ok {
		m, ok = s.world.Get(lastNumber(ticker))
	}
	return m, ok && s.Key(&m) == ticker
}

func eventTicker(m *world.Market) string {
	if m.Key != "" {
		return m.Event.Slug
	}
	return seriesTicker(m) + "-" + base36(m.Event.First)
}

func seriesTicker(m *world.Market) string {
	if m.Event.Series != "" {
		return m.Event.Series
	}
	return seriesOf(m).Ticker
}

func base36(n int64) string { return strings.ToUpper(strconv.FormatInt(n, 36)) }

// lastNumber returns the base-36 number at the end of a ticker, or 0 if there is none.
func lastNumber(s string) int64 {
	n, _ := strconv.ParseInt(s[strings.LastIndexByte(s, '-')+1:], 36, 64)
	return n
}

// members returns the markets of the event with this ticker, or nil if there is no such event.
func (s *Service) members(ticker string) []world.Market {
	first := lastNumber(ticker)
	if m, recorded := s.world.Find(ticker); recorded {
		first = m.Event.First
	}
	list := s.world.Members(first)
	if len(list) == 0 || eventTicker(&list[0]) != ticker {
		return nil
	}
	return list
}

// Handler implements venue.Venue.
func (s *Service) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+base+"/events", s.listEvents)
	mux.HandleFunc("GET "+base+"/events/{event}", s.oneEvent)
	mux.HandleFunc("GET "+base+"/series/{series}", s.oneSeries)
	mux.HandleFunc("GET "+base+"/markets", s.listMarkets)
	mux.HandleFunc("GET "+base+"/markets/{ticker}", s.oneMarket)
	mux.HandleFunc("/kalshi/", func(w http.ResponseWriter, _ *http.Request) { notFound(w) })
	return mux
}

func notFound(w http.ResponseWriter) {
	fault := venue.Object{"code": "not_found", "message": "not found", "service": "trade-api"}
	venue.Answer(w, http.StatusNotFound, venue.Object{"error": fault})
}

func refuse(w http.ResponseWriter, details string) {
	fault := venue.Object{"code": "invalid_parameters", "message": "invalid parameters", "details": details}
	venue.Answer(w, http.StatusBadRequest, venue.Object{"error": fault})
}

func (s *Service) oneMarket(w http.ResponseWriter, r *http.Request) {
	m, ok := s.Find(r.PathValue("ticker"))
	if !ok {
		notFound(w)
		return
	}
	venue.Answer(w, http.StatusOK, venue.Object{"market": s.market(&m)})
}

// listMarkets responds with the markets in the parameter tickers, which must contain 1 to maxTickers tickers. It omits unknown
// tickers.
func (s *Service) listMarkets(w http.ResponseWriter, r *http.Request) {
	tickers := strings.Split(r.URL.Query().Get("tickers"), ",")
	if len(tickers) > maxTickers || tickers[0] == "" {
		refuse(w, "tickers: 1 to "+strconv.Itoa(maxTickers))
		return
	}
	out := []venue.Object{}
	for _, ticker := range tickers {
		if m, ok := s.Find(ticker); ok {
			out = append(out, s.market(&m))
		}
	}
	venue.Answer(w, http.StatusOK, venue.Object{"markets": out, "cursor": ""})
}

// listEvents responds with a page of the events that have an open market, the newest first. It refuses a status other than open,
// and an invalid limit or cursor.
func (s *Service) listEvents(w http.ResponseWriter, r *http.Request) {
	v, now := r.URL.Query(), s.world.Now()
	limit, err := strconv.Atoi(cmp.Or(v.Get("limit"), strconv.Itoa(defaultLimit)))
	if err != nil || limit < 1 || limit > maxEvents {
		refuse(w, "limit: must be between 1 and "+strconv.Itoa(maxEvents))
		return
	}
	if v.Get("status") != "open" {
		refuse(w, "status: unsupported value")
		return
	}
	list := s.lists.Get(s.world, "open", func(m *world.Market) (venue.Entry, bool) {
		return venue.Entry{ID: m.Event.First}, status(m, now) == active
	})
	page, next, ok := venue.Page(list, v.Get("cursor"), limit)
	if !ok {
		refuse(w, "cursor: invalid")
		return
	}
	out := []venue.Object{}
	for _, e := range page {
		members := s.world.Members(e.ID)
		o := s.event(members)
		if v.Get("with_nested_markets") == "true" {
			o["markets"] = s.markets(members)
		}
		out = append(out, o)
	}
	venue.Answer(w, http.StatusOK, venue.Object{"events": out, "cursor": next})
}

// oneEvent responds with an event and its markets, or with status 404 if the event is unknown.
func (s *Service) oneEvent(w http.ResponseWriter, r *http.Request) {
	list := s.members(r.PathValue("event"))
	if len(list) == 0 {
		notFound(w)
		return
	}
	venue.Answer(w, http.StatusOK, venue.Object{"event": s.event(list), "markets": s.markets(list)})
}

func (s *Service) oneSeries(w http.ResponseWriter, r *http.Request) {
	for _, f := range allSeries {
		if f.Ticker == r.PathValue("series") {
			o := constants.With("series", venue.Object{"ticker": f.Ticker, "title": f.Title, "category": f.Category, "tags": f.Tags})
			venue.Answer(w, http.StatusOK, venue.Object{"series": o})
			return
		}
	}
	notFound(w)
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
