package polymarket

import (
	_ "embed"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/signalcast/signalcast/deploy/venuesim/internal/venue"
	"github.com/signalcast/signalcast/deploy/venuesim/internal/world"
)

//go:embed constants.json
var constantsJSON []byte

var constants = venue.ParseConstants(constantsJSON)

const (
	keysetLimit  = 100
	legacyLimit  = 500
	defaultLimit = 20
)

// sortKeys maps the values of the parameter order to functions that return the sort key of a market.
var sortKeys = map[string]func(*world.Market) float64{
	"":           func(m *world.Market) float64 { return float64(m.ID) },
	"volumeNum":  func(m *world.Market) float64 { return m.Volume },
	"volume24hr": func(m *world.Market) float64 { return m.Volume24h },
}

// Service implements venue.Venue and venue.Streamer for Polymarket.
type Service struct {
	world *world.World
	lists venue.Lists
}

// New returns a Polymarket venue that serves the markets of w.
func New(w *world.World) *Service { return &Service{world: w} }

// Rules implements venue.Venue.
func (s *Service) Rules() venue.Rules { return venue.Rules{Labels: true, TradesProposed: true} }

// Key implements venue.Venue.
func (s *Service) Key(m *world.Market) string { return strconv.FormatInt(m.ID, 10) }

// Find implements venue.Venue.
func (s *Service) Find(key string) (world.Market, bool) {
	id, err := strconv.ParseInt(key, 10, 64)
	if err != nil {
		return world.Market{}, false
	}
	return s.world.Get(id)
}

// Handler implements venue.Venue.
func (s *Service) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /gamma/markets/keyset", s.keyset)
	mux.HandleFunc("GET /gamma/markets", s.legacy)
	mux.HandleFunc("GET /gamma/markets/{id}", s.one)
	mux.HandleFunc("GET /clob/markets/{condition}", s.record)
	mux.HandleFunc("GET /clob/book", s.oneBook)
	mux.HandleFunc("POST /clob/books", s.manyBooks)
	mux.HandleFunc("GET /clob/prices-history", s.history)
	mux.HandleFunc("/gamma/", func(w http.ResponseWriter, _ *http.Request) { notFound(w, "route") })
	mux.HandleFunc("/clob/", func(w http.ResponseWriter, _ *http.Request) { clobError(w, http.StatusNotFound, "not found") })
	return mux
}

func notFound(w http.ResponseWriter, what string) {
	venue.Answer(w, http.StatusNotFound, venue.Object{"type": "not found error", "error": what + " not found"})
}

func invalid(w http.ResponseWriter, text string) {
	venue.Answer(w, http.StatusUnprocessableEntity, venue.Object{"type": "validation error", "error": text})
}

func clobError(w http.ResponseWriter, status int, text string) {
	venue.Answer(w, status, venue.Object{"error": text})
}

func (s *Service) one(w http.ResponseWriter, r *http.Request) {
	m, ok := s.Find(r.PathValue("id"))
	if _, err := strconv.ParseUint(r.PathValue("id"), 10, 63); err != nil {
		invalid(w, "id is invalid")
	} else if !ok {
		notFound(w, "id")
	} else {
		venue.Answer(w, http.StatusOK, s.market(&m, r.URL.Query().Get("include_tag") == "true"))
	}
}

func (s *Service) keyset(w http.ResponseWriter, r *http.Request) {
	objects, next, fault := s.list(r.URL.Query(), keysetLimit)
	if fault != "" {
		invalid(w, fault)
		return
	}
	out := venue.Object{"markets": objects}
	if next != "" {
		out["next_cursor"] = next
	}
	venue.Answer(w, http.StatusOK, out)
}

// legacy responds with the list of markets in its old format, which has no cursors.
func (s *Service) legacy(w http.ResponseWriter, r *http.Request) {
	objects, _, fault := s.list(r.URL.Query(), legacyLimit)
	if fault != "" {
		invalid(w, fault)
		return
	}
	w.Header().Set("Deprecation", "@1777593600")
	w.Header().Set("Sunset", "Fri, 01 May 2026 00:00:00 GMT")
	venue.Answer(w, http.StatusOK, objects)
}

// list returns the markets that the parameters in v select, and the cursor of the next page. With closed=true it returns only
// finished markets, otherwise only markets that are not finished. The order is that of the ids in the parameter id or,
// without this parameter, descending by the sort key. The parameter most is the largest limit that a request can set. fault
// is the reason for a refusal, or empty.
func (s *Service) list(v url.Values, most int) (objects []venue.Object, next, fault string) {
	key, known := sortKeys[v.Get("order")]
	if !known {
		return nil, "", "order fields are not valid"
	}
	limit, closed := defaultLimit, v.Get("closed") == "true"
	if text := v.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return nil, "", "limit is invalid"
		}
		limit = min(n, most)
	}
	objects = []venue.Object{}
	add := func(id int64) {
		if m, ok := s.world.Get(id); ok && m.Finished() == closed {
			objects = append(objects, s.market(&m, v.Get("include_tag") == "true"))
		}
	}
	if v.Has("id") {
		for _, text := range strings.Split(strings.Join(v["id"], ","), ",") {
			id, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				return nil, "", "id is invalid"
			}
			add(id)
		}
		return objects[:min(limit, len(objects))], "", ""
	}
	entries := s.lists.Get(s.world, v.Get("order")+v.Get("closed"), func(m *world.Market) (venue.Entry, bool) {
		return venue.Entry{Key: key(m), ID: m.ID}, m.Finished() == closed
	})
	page, next, ok := venue.Page(entries, v.Get("after_cursor"), limit)
	if !ok {
		return nil, "", "after_cursor is invalid"
	}
	for _, e := range page {
		add(e.ID)
	}
	return objects, next, ""
}
