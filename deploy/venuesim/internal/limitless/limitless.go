package limitless

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/signalcast/signalcast/deploy/venuesim/internal/reply"
	"github.com/signalcast/signalcast/deploy/venuesim/internal/world"
)

const (
	mostRows  = 25
	usualRows = 10
)

// Service answers for the venue. It is safe for concurrent use.
type Service struct {
	world *world.World
	kept  reply.Kept[row]
}

// row is a line of the active list: a market, or the group that begins with it.
type row struct {
	id    int64
	group bool
}

// New builds the venue over a world.
func New(w *world.World) *Service { return &Service{world: w} }

// Handler serves /limitless/….
func (s *Service) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /limitless/markets/active", s.active)
	mux.HandleFunc("GET /limitless/markets/{slug}", s.one)
	mux.HandleFunc("GET /limitless/markets/{slug}/orderbook", s.orderbook)
	mux.HandleFunc("GET /limitless/markets/{slug}/historical-price", s.history)
	mux.HandleFunc("/limitless/", func(w http.ResponseWriter, r *http.Request) {
		notFound(w, "Cannot "+r.Method+" "+strings.TrimPrefix(r.URL.Path, "/limitless"))
	})
	return mux
}

type fault struct {
	StatusCode int    `json:"statusCode,omitempty"`
	Message    any    `json:"message"` // a text or a list of texts
	Error      string `json:"error,omitempty"`
}

func notFound(w http.ResponseWriter, text string) {
	reply.JSON(w, http.StatusNotFound, fault{http.StatusNotFound, text, "Not Found"})
}

func refuse(w http.ResponseWriter, text string) {
	reply.JSON(w, http.StatusBadRequest, fault{http.StatusBadRequest, []string{text}, "Bad Request"})
}

const noMarket = "Market not found"

// key is the slug of a market; a recorded one has its own.
func key(m *world.Market) string {
	if m.Key != "" {
		return m.Key
	}
	return m.Slug
}

func groupSlug(first *world.Market) string {
	if first.Key != "" {
		return first.Event.Slug
	}
	return world.Slug(first.Event.Title, 60) + "-g" + strconv.FormatInt(first.Event.Head, 10)
}

// Key is the venue's own key of a market.
func (s *Service) Key(m *world.Market) string { return key(m) }

// Find finds a single market by its slug.
func (s *Service) Find(slug string) (world.Market, bool) {
	if m, ok := s.world.Recorded(slug); ok {
		return m, m.Key == slug
	}
	m, ok := s.world.Find(slug)
	return m, ok && m.Key == "" && m.Slug == slug
}

// members finds the markets of a group by its slug.
func (s *Service) members(slug string) []world.Market {
	at := strings.LastIndex(slug, "-g")
	head, err := int64(0), error(nil)
	if at >= 0 {
		head, err = strconv.ParseInt(slug[at+2:], 10, 64)
	}
	if first, ok := s.world.Recorded("event " + slug); ok {
		head = first.Event.Head
	} else if at < 0 || err != nil {
		return nil
	}
	list := s.world.Members(head)
	if len(list) == 0 || !list[0].Event.Group || groupSlug(&list[0]) != slug {
		return nil
	}
	return list
}

func (s *Service) active(w http.ResponseWriter, r *http.Request) {
	v := r.URL.Query()
	page, limit := 1, usualRows
	for name, into := range map[string]*int{"page": &page, "limit": &limit} {
		if text := v.Get(name); text != "" {
			n, err := strconv.Atoi(text)
			if err != nil || n < 1 {
				refuse(w, name+" must not be less than 1")
				return
			}
			*into = n
		}
	}
	if limit > mostRows {
		refuse(w, "limit must not be greater than "+strconv.Itoa(mostRows))
		return
	}
	trade := v.Get("tradeType")
	if trade != "" && trade != kindBook && trade != kindPool && trade != "group" {
		refuse(w, "tradeType must be one of the following values: amm, clob, group")
		return
	}
	rows := s.kept.Get(s.world, trade, func() []row { return s.rows(trade) })
	from := len(rows)
	if page <= len(rows) { // also keeps the product small
		from = min((page-1)*limit, len(rows))
	}
	data := []any{}
	for _, r := range rows[from:min(from+limit, len(rows))] {
		if m, ok := s.world.Get(r.id); ok && !r.group {
			data = append(data, s.render(&m))
		} else if list := s.world.Members(r.id); len(list) > 0 {
			data = append(data, s.group(list))
		}
	}
	reply.JSON(w, http.StatusOK, struct {
		Data  []any `json:"data"`
		Total int   `json:"totalMarketsCount"`
	}{data, len(rows)})
}

// rows are the active markets and groups, newest first.
func (s *Service) rows(trade string) (out []row) {
	now, groups := s.world.Now(), map[int64]bool{}
	s.world.Range(func(m world.Market) bool {
		switch {
		case !active(&m, now):
		case m.Event.Group:
			if !groups[m.Event.Head] && (trade == "" || trade == "group") {
				groups[m.Event.Head] = true
				out = append(out, row{m.Event.Head, true})
			}
		case trade == "" || trade == kind(&m):
			out = append(out, row{m.ID, false})
		}
		return true
	})
	slices.SortFunc(out, func(a, b row) int { return int(b.id - a.id) })
	return out
}

func (s *Service) one(w http.ResponseWriter, r *http.Request) {
	slug := r.PathValue("slug")
	if m, ok := s.Find(slug); ok {
		reply.JSON(w, http.StatusOK, s.render(&m))
		return
	}
	if list := s.members(slug); len(list) > 0 {
		reply.JSON(w, http.StatusOK, s.group(list))
		return
	}
	notFound(w, noMarket)
}
