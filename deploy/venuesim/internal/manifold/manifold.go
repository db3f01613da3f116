package manifold

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/signalcast/signalcast/deploy/venuesim/internal/reply"
	"github.com/signalcast/signalcast/deploy/venuesim/internal/world"
)

const (
	letters   = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	checkSize = 4
	idSize    = 10
)

// Service answers for the venue. It is safe for concurrent use.
type Service struct {
	world *world.World
	kept  reply.Kept[row]
}

// New builds the venue over a world.
func New(w *world.World) *Service { return &Service{world: w} }

// Handler serves /manifold/v0/….
func (s *Service) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /manifold/v0/search-markets", s.search)
	mux.HandleFunc("GET /manifold/v0/market/{id}", s.one)
	mux.HandleFunc("GET /manifold/v0/bets", s.bets)
	mux.HandleFunc("/manifold/", func(w http.ResponseWriter, _ *http.Request) {
		reply.JSON(w, http.StatusNotFound, map[string]string{"message": "This is not the endpoint you're looking for"})
	})
	return mux
}

func notFound(w http.ResponseWriter) {
	reply.JSON(w, http.StatusNotFound, map[string]string{"message": "Contract not found"})
}

// detail is one thing wrong with a request; field is null for the whole of it.
type detail struct {
	Field *string `json:"field"`
	Error string  `json:"error"`
}

func refuse(w http.ResponseWriter, field, text string) {
	d := detail{Error: text}
	if field != "" {
		d.Field = &field
	}
	reply.JSON(w, http.StatusBadRequest, struct {
		Message string   `json:"message"`
		Details []detail `json:"details"`
	}{"Error validating request.", []detail{d}})
}

// unknown refuses a request with a parameter that the route does not have.
func unknown(w http.ResponseWriter, v url.Values, known ...string) bool {
	var strange []string
	for name := range v {
		if !slices.Contains(known, name) {
			strange = append(strange, "'"+name+"'")
		}
	}
	if len(strange) == 0 {
		return false
	}
	slices.Sort(strange)
	refuse(w, "", "Unrecognized key(s) in object: "+strings.Join(strange, ", "))
	return true
}

// Key is the id of a market: letters of a check, then its number, so that it can
// be read without a table. A recorded one has its own.
func (s *Service) Key(m *world.Market) string {
	if m.Key != "" {
		return m.Key
	}
	return s.spell(m.ID)
}

func (s *Service) spell(id int64) string {
	check := world.Draw(fmt.Sprint("contract", s.world.IDs.Seed), uint64(id))
	var out [idSize]byte
	n := uint64(id)
	for i := idSize - 1; i >= 0; i-- {
		if i == checkSize-1 {
			n = check
		}
		out[i] = letters[n%62]
		n /= 62
	}
	return string(out[:])
}

// Find finds a market by its id, in whatever state. Case counts.
func (s *Service) Find(key string) (world.Market, bool) {
	if m, ok := s.world.Recorded(key); ok {
		return m, m.Key == key
	}
	if len(key) != idSize {
		return world.Market{}, false
	}
	id := int64(0)
	for _, c := range []byte(key[checkSize:]) {
		at := strings.IndexByte(letters, c)
		if at < 0 {
			return world.Market{}, false
		}
		id = id*62 + int64(at)
	}
	m, ok := s.world.Get(id)
	return m, ok && m.Key == "" && s.spell(id) == key
}

func (s *Service) one(w http.ResponseWriter, r *http.Request) {
	if unknown(w, r.URL.Query(), "lite") {
		return
	}
	m, ok := s.Find(r.PathValue("id"))
	if !ok {
		notFound(w)
		return
	}
	reply.JSON(w, http.StatusOK, s.single(&m))
}
