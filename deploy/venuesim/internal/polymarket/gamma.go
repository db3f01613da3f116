package polymarket

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"

	"github.com/signalcast/signalcast/deploy/venuesim/internal/reply"
	"github.com/signalcast/signalcast/deploy/venuesim/internal/world"
)

// Books gives recorded order-book records; a world without any has none.
type Books interface {
	Book(conditionID string) (json.RawMessage, bool)
}

// Service answers for the read services and the market channel of the venue. It
// is safe for concurrent use.
type Service struct {
	world *world.World
	books Books
	kept  reply.Kept[row]
}

// New builds the venue over a world; books may be nil.
func New(w *world.World, books Books) *Service { return &Service{world: w, books: books} }

// Handler serves /gamma/… and /clob/….
func (s *Service) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /gamma/markets/keyset", s.keyset)
	mux.HandleFunc("GET /gamma/markets", s.legacy)
	mux.HandleFunc("GET /gamma/markets/{id}", s.byID)
	mux.HandleFunc("GET /gamma/markets/slug/{slug}", s.bySlug)
	mux.HandleFunc("GET /gamma/events/keyset", s.events)
	mux.HandleFunc("GET /gamma/events/{id}", s.oneEvent)
	mux.HandleFunc("/gamma/", func(w http.ResponseWriter, _ *http.Request) { notFound(w, "route") })
	s.clobRoutes(mux)
	return mux
}

func (s *Service) keyset(w http.ResponseWriter, r *http.Request) {
	v := r.URL.Query()
	v.Del("offset") // this list has no offset
	q, err := parse(v, keysetLimit)
	if err != nil {
		invalid(w, err.Error())
		return
	}
	rows, next := page(s.listing(q), q)
	reply.JSON(w, http.StatusOK, struct {
		Markets []any  `json:"markets"`
		Next    string `json:"next_cursor,omitempty"`
	}{s.objects(rows, q.withTags), next})
}

// legacy is the old list by offset, on its way out.
func (s *Service) legacy(w http.ResponseWriter, r *http.Request) {
	v := r.URL.Query()
	v.Del("after_cursor")
	q, err := parse(v, legacyLimit)
	if err != nil {
		invalid(w, err.Error())
		return
	}
	if q.offset > maxOffset {
		invalid(w, "offset too large, use /markets/keyset for deeper pagination")
		return
	}
	w.Header().Set("Deprecation", "@1777593600")
	w.Header().Set("Sunset", "Fri, 01 May 2026 00:00:00 GMT")
	rows, _ := page(s.listing(q), q)
	reply.JSON(w, http.StatusOK, s.objects(rows, q.withTags))
}

func (s *Service) objects(rows []row, withTags bool) []any {
	out := make([]any, 0, len(rows))
	for _, r := range rows {
		if m, ok := s.world.Get(r.id); ok {
			out = append(out, s.market(&m, withTags, true))
		}
	}
	return out
}

func (s *Service) byID(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil || id < 0 {
		invalid(w, "id is invalid")
		return
	}
	m, ok := s.world.Get(id)
	if !ok {
		notFound(w, "id")
		return
	}
	s.single(w, r, m)
}

func (s *Service) bySlug(w http.ResponseWriter, r *http.Request) {
	m, ok := s.world.Find(r.PathValue("slug"))
	if !ok || m.Slug != r.PathValue("slug") {
		notFound(w, "slug")
		return
	}
	s.single(w, r, m)
}

func (s *Service) single(w http.ResponseWriter, r *http.Request, m world.Market) {
	withTags := false
	if err := flag(r.URL.Query(), "include_tag", func(b bool) { withTags = b }); err != nil {
		invalid(w, err.Error())
		return
	}
	reply.JSON(w, http.StatusOK, s.market(&m, withTags, true))
}

// events lists events with their markets inside, ordered by their first market.
func (s *Service) events(w http.ResponseWriter, r *http.Request) {
	v := r.URL.Query()
	v.Del("offset")
	q, err := parse(v, eventLimit)
	if err != nil {
		invalid(w, err.Error())
		return
	}
	rows := s.listing(q)
	heads, members := s.group(rows)
	cut, next := page(heads, q)
	out := make([]gammaEvent, 0, len(cut))
	for _, h := range cut {
		if e, ok := s.assemble(members[h.id]); ok {
			out = append(out, e)
		}
	}
	reply.JSON(w, http.StatusOK, struct {
		Events []gammaEvent `json:"events"`
		Next   string       `json:"next_cursor,omitempty"`
	}{out, next})
}

// group gathers rows by event; an event stands where its first row stands.
func (s *Service) group(rows []row) (heads []row, members map[int64][]row) {
	first := map[string]int64{}
	members = map[int64][]row{}
	for _, r := range rows {
		m, ok := s.world.Get(r.id)
		if !ok || m.Event.ID == "" {
			continue
		}
		head, seen := first[m.Event.ID]
		if !seen {
			head = r.id
			first[m.Event.ID] = head
			heads = append(heads, r)
		}
		members[head] = append(members[head], r)
	}
	return heads, members
}

func (s *Service) assemble(rows []row) (gammaEvent, bool) {
	var e gammaEvent
	slices.SortFunc(rows, func(a, b row) int { return int(a.id - b.id) })
	for i, r := range rows {
		m, ok := s.world.Get(r.id)
		if !ok {
			return e, false
		}
		if i == 0 {
			e = s.event(&m)
			e.Liquidity, e.Volume, e.Volume24hr, e.Closed = 0, 0, 0, true
			e.Tags = tags(m.Tags) // events carry their tags unasked
		}
		e.Liquidity, e.Volume, e.Volume24hr = e.Liquidity+m.Liquidity, e.Volume+m.Volume, e.Volume24hr+m.Volume24h
		e.Closed = e.Closed && m.Finished()
		e.Markets = append(e.Markets, s.market(&m, false, false))
	}
	return e, len(rows) > 0
}

func (s *Service) oneEvent(w http.ResponseWriter, r *http.Request) {
	want := r.PathValue("id")
	if _, err := strconv.ParseInt(want, 10, 64); err != nil {
		invalid(w, "id is invalid")
		return
	}
	var rows []row
	s.world.Range(func(m world.Market) bool {
		if m.Event.ID == want {
			rows = append(rows, row{0, m.ID})
		}
		return true
	})
	e, ok := s.assemble(rows)
	if !ok {
		notFound(w, "id")
		return
	}
	reply.JSON(w, http.StatusOK, e)
}
