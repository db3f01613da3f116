package limitless

import (
	_ "embed"
	"net/http"
	"strconv"
	"strings"

	"github.com/signalcast/signalcast/deploy/venuesim/internal/venue"
	"github.com/signalcast/signalcast/deploy/venuesim/internal/world"
)

//go:embed constants.json
var constantsJSON []byte

var constants = venue.ParseConstants(constantsJSON)

const (
	maxEntries     = 25 // maximum number of entries on a page
	defaultEntries = 10
	levels         = 3 // number of price levels on each side of a book
	tick           = world.Price(1_000)
	noMarket       = "Market not found"
)

// Values of the member status of a market.
const (
	draft    = "DRAFT"
	created  = "CREATED"
	funded   = "FUNDED"
	flagged  = "FUNDED_FLAGGED"
	locked   = "LOCKED"
	disputed = "DISPUTED"
	resolved = "RESOLVED"
)

// Kinds of markets: with a pool (amm) or with an order book (clob).
const (
	pool = "amm"
	clob = "clob"
)

// Service implements venue.Venue for Limitless.
type Service struct {
	world *world.World
	lists venue.Lists
}

// New returns a Limitless venue that serves the markets of w.
func New(w *world.World) *Service { return &Service{world: w} }

// Rules implements venue.Venue.
func (s *Service) Rules() venue.Rules {
	return venue.Rules{
		Prefix: "lmt-", Kinds: []string{clob, pool},
		RateLimited: `{"statusCode":429,"message":"ThrottlerException: Too Many Requests"}`,
		VenueStates: map[string]world.State{
			draft: world.Open, created: world.Open, funded: world.Open, flagged: world.Open, locked: world.Proposed,
			disputed: world.Disputed, resolved: world.Resolved,
		},
		Resolutions: map[string][]world.Outcome{"even": {world.Invalid}, "none": {world.Yes, world.No, world.Invalid}},
	}
}

// Key implements venue.Venue. The key of a market is its slug.
func (s *Service) Key(m *world.Market) string { return m.Slug }

// Find implements venue.Venue. It finds a market by its slug.
func (s *Service) Find(slug string) (world.Market, bool) {
	m, ok := s.world.Find(slug)
	return m, ok && m.Slug == slug
}

func groupSlug(first *world.Market) string {
	return world.Slug(first.Event.Title, 60) + "-g" + strconv.FormatInt(first.Event.First, 10)
}

// members returns the markets of the group with this slug, or nil if there is no such group.
func (s *Service) members(slug string) []world.Market {
	first, _ := strconv.ParseInt(slug[strings.LastIndex(slug, "-g")+2:], 10, 64)
	list := s.world.Members(first)
	if len(list) == 0 || !list[0].Event.Group || groupSlug(&list[0]) != slug {
		return nil
	}
	return list
}

// Handler implements venue.Venue.
func (s *Service) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /limitless/markets/active", s.listActive)
	mux.HandleFunc("GET /limitless/markets/{slug}", s.one)
	mux.HandleFunc("GET /limitless/markets/{slug}/orderbook", s.orderbook)
	mux.HandleFunc("/limitless/", func(w http.ResponseWriter, r *http.Request) {
		notFound(w, "Cannot "+r.Method+" "+strings.TrimPrefix(r.URL.Path, "/limitless"))
	})
	return mux
}

func notFound(w http.ResponseWriter, text string) {
	venue.Answer(w, http.StatusNotFound, venue.Object{"statusCode": http.StatusNotFound, "message": text, "error": "Not Found"})
}

func refuse(w http.ResponseWriter, text string) {
	venue.Answer(w, http.StatusBadRequest, venue.Object{
		"statusCode": http.StatusBadRequest, "message": []string{text}, "error": "Bad Request",
	})
}

// listActive responds with a page of the open markets and groups, the newest first. It refuses an invalid page number or limit.
func (s *Service) listActive(w http.ResponseWriter, r *http.Request) {
	page, limit := 1, defaultEntries
	for name, into := range map[string]*int{"page": &page, "limit": &limit} {
		if text := r.URL.Query().Get(name); text != "" {
			n, err := strconv.Atoi(text)
			if err != nil || n < 1 {
				refuse(w, name+" must not be less than 1")
				return
			}
			*into = n
		}
	}
	if limit > maxEntries {
		refuse(w, "limit must not be greater than "+strconv.Itoa(maxEntries))
		return
	}
	now := s.world.Now()
	entries := s.lists.Get(s.world, "active", func(m *world.Market) (venue.Entry, bool) {
		e := venue.Entry{ID: m.ID}
		if m.Event.Group {
			e.ID = m.Event.First
		}
		return e, tradable(m, now)
	})
	from := len(entries)
	if page <= len(entries) {
		from = min((page-1)*limit, from)
	}
	data := []venue.Object{}
	for _, e := range entries[from:min(from+limit, len(entries))] {
		if list := s.world.Members(e.ID); len(list) > 0 && list[0].Event.Group {
			data = append(data, s.group(list))
		} else if m, ok := s.world.Get(e.ID); ok {
			data = append(data, s.market(&m))
		}
	}
	venue.Answer(w, http.StatusOK, venue.Object{"data": data, "totalMarketsCount": len(entries)})
}

func (s *Service) one(w http.ResponseWriter, r *http.Request) {
	slug := r.PathValue("slug")
	if m, ok := s.Find(slug); ok {
		venue.Answer(w, http.StatusOK, s.market(&m))
	} else if list := s.members(slug); len(list) > 0 {
		venue.Answer(w, http.StatusOK, s.group(list))
	} else {
		notFound(w, noMarket)
	}
}

// orderbook responds with the order book of YES. A market with a pool has no order book, so the status is 400. The status is 404
// for an unknown market.
func (s *Service) orderbook(w http.ResponseWriter, r *http.Request) {
	m, ok := s.Find(r.PathValue("slug"))
	switch {
	case !ok:
		notFound(w, noMarket)
		return
	case kind(&m) == pool:
		venue.Answer(w, http.StatusBadRequest, venue.Object{"message": "Market does not have an order book"})
		return
	}
	top, bids, asks := m.Top(), []venue.Object{}, []venue.Object{}
	for i := range world.Price(levels) {
		size := 300_000_000 + 100_000_000*int64(i)
		if p := top.Bid - i*tick; p > 0 {
			bids = append(bids, venue.Object{"price": p.Float(), "size": size, "side": "BUY"})
		}
		if p := top.Ask + i*tick; p < world.One {
			asks = append(asks, venue.Object{"price": p.Float(), "size": size, "side": "SELL"})
		}
	}
	if !tradable(&m, s.world.Now()) {
		bids, asks = bids[:0], asks[:0]
	}
	venue.Answer(w, http.StatusOK, venue.Object{
		"bids": bids, "asks": asks, "tokenId": m.Tokens[m.YesIndex()], "lastTradePrice": m.Price.Float(),
		"adjustedMidpoint": m.Price.Float(), "midpoint": m.Price.Float(), "maxSpread": "0.035", "minSize": "50000000",
	})
}
