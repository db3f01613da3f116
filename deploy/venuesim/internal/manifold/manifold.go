package manifold

import (
	_ "embed"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/signalcast/signalcast/deploy/venuesim/internal/venue"
	"github.com/signalcast/signalcast/deploy/venuesim/internal/world"
)

//go:embed constants.json
var constantsJSON []byte

var constants = venue.ParseConstants(constantsJSON)

const (
	base           = "/manifold/v0"
	maxEntries     = 1000 // maximum number of entries of a list
	defaultEntries = 100
	keyPrefix      = "Inv"
)

// Service implements venue.Venue for Manifold.
type Service struct {
	world *world.World
	lists venue.Lists
}

// New returns a Manifold venue that serves the markets of w.
func New(w *world.World) *Service { return &Service{world: w} }

// Rules implements venue.Venue.
func (s *Service) Rules() venue.Rules {
	return venue.Rules{
		Prefix: "manifold-", RateLimited: `{"message":"Too many requests"}`, NoBook: true, NoDispute: true, Creator: true, Payout: true,
		Resolutions: map[string][]world.Outcome{"CANCEL": {world.Invalid}, "MKT": {world.Invalid}},
	}
}

// Key implements venue.Venue. The key of a market is a prefix and its number in base 36.
func (s *Service) Key(m *world.Market) string { return keyPrefix + strconv.FormatInt(m.ID, 36) }

// Find implements venue.Venue. Keys are case-sensitive.
func (s *Service) Find(key string) (world.Market, bool) {
	number, _ := strings.CutPrefix(key, keyPrefix)
	id, err := strconv.ParseInt(number, 36, 64)
	if err != nil {
		return world.Market{}, false
	}
	m, ok := s.world.Get(id)
	return m, ok && s.Key(&m) == key
}

// Handler implements venue.Venue.
func (s *Service) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+base+"/search-markets", s.search)
	mux.HandleFunc("GET "+base+"/market/{id}", s.one)
	mux.HandleFunc("/manifold/", func(w http.ResponseWriter, _ *http.Request) {
		venue.Answer(w, http.StatusNotFound, venue.Object{"message": "This is not the endpoint you're looking for"})
	})
	return mux
}

// refuse responds with a validation error. field is nil if the error concerns the whole request.
func refuse(w http.ResponseWriter, field any, text string) {
	venue.Answer(w, http.StatusBadRequest, venue.Object{
		"message": "Error validating request.", "details": []venue.Object{{"field": field, "error": text}},
	})
}

// refuseUnknown refuses a request with a parameter that the route does not have. It reports whether it refused the request.
func refuseUnknown(w http.ResponseWriter, v url.Values, known ...string) bool {
	for name := range v {
		if !slices.Contains(known, name) {
			refuse(w, nil, "Unrecognized key(s) in object: '"+name+"'")
			return true
		}
	}
	return false
}

// readNumber returns the value of the query parameter with the given name, which must be from 0 to most. If the parameter is
// missing, it returns the default value usual. If the value is invalid, it responds with an error and returns false.
func readNumber(w http.ResponseWriter, v url.Values, name string, usual, most int64) (n int64, ok bool) {
	if !v.Has(name) {
		return usual, true
	}
	n, err := strconv.ParseInt(v.Get(name), 10, 64)
	switch {
	case err != nil:
		refuse(w, name, "Expected number, received nan")
	case n < 0 || n > most:
		refuse(w, name, "Number must be from 0 to "+strconv.FormatInt(most, 10))
	default:
		return n, true
	}
	return 0, false
}

// search responds with a page of the open binary markets, the newest first. It refuses unknown parameters and unsupported values.
func (s *Service) search(w http.ResponseWriter, r *http.Request) {
	v := r.URL.Query()
	if refuseUnknown(w, v, "term", "filter", "contractType", "sort", "limit", "beforeTime") {
		return
	}
	for name, only := range map[string]string{"filter": "open", "contractType": "BINARY", "sort": "newest"} {
		if v.Get(name) != only {
			refuse(w, name, "Invalid enum value. Expected '"+only+"', received '"+v.Get(name)+"'")
			return
		}
	}
	limit, ok1 := readNumber(w, v, "limit", defaultEntries, maxEntries)
	if !ok1 {
		return
	}
	before, ok2 := readNumber(w, v, "beforeTime", 1<<62, 1<<62)
	if !ok2 {
		return
	}
	now := s.world.Now()
	list := s.lists.Get(s.world, "open", func(m *world.Market) (venue.Entry, bool) {
		return venue.Entry{Key: float64(createdAt(m)), ID: m.ID}, m.State == world.Open && m.End.After(now)
	})
	out := []venue.Object{}
	for _, e := range list {
		if int64(len(out)) == limit {
			break
		}
		m, ok := s.world.Get(e.ID)
		if ok && int64(e.Key) < before && strings.Contains(strings.ToLower(m.Question), strings.ToLower(v.Get("term"))) {
			out = append(out, s.short(&m))
		}
	}
	venue.Answer(w, http.StatusOK, out)
}

func (s *Service) one(w http.ResponseWriter, r *http.Request) {
	m, ok := s.Find(r.PathValue("id"))
	switch {
	case refuseUnknown(w, r.URL.Query()):
	case !ok:
		venue.Answer(w, http.StatusNotFound, venue.Object{"message": "Contract not found"})
	default:
		venue.Answer(w, http.StatusOK, s.full(&m))
	}
}
