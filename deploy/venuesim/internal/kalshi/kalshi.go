package kalshi

import (
	"net/http"
	"strings"
	"time"

	"github.com/signalcast/signalcast/deploy/venuesim/internal/reply"
	"github.com/signalcast/signalcast/deploy/venuesim/internal/world"
)

const (
	base = "/kalshi/trade-api/v2"
	// keptLive is how long a settled market stays on the live paths.
	keptLive = 60 * 24 * time.Hour
)

// Service answers for the venue. It is safe for concurrent use.
type Service struct {
	world  *world.World
	kept   reply.Kept[int64]
	events reply.Kept[int64]
}

// New builds the venue over a world.
func New(w *world.World) *Service { return &Service{world: w} }

// Handler serves /kalshi/trade-api/v2/….
func (s *Service) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+base+"/events", s.listEvents)
	mux.HandleFunc("GET "+base+"/events/{event}", s.oneEvent)
	mux.HandleFunc("GET "+base+"/series/{series}", s.oneSeries)
	mux.HandleFunc("GET "+base+"/markets", s.listMarkets)
	mux.HandleFunc("GET "+base+"/markets/{ticker}", s.oneMarket)
	mux.HandleFunc("GET "+base+"/series/{series}/markets/{ticker}/candlesticks", s.liveCandles)
	mux.HandleFunc("GET "+base+"/markets/candlesticks", s.batchCandles)
	mux.HandleFunc("GET "+base+"/historical/cutoff", s.cutoffRoute)
	mux.HandleFunc("GET "+base+"/historical/markets/{ticker}", s.oldMarket)
	mux.HandleFunc("GET "+base+"/historical/markets/{ticker}/candlesticks", s.oldCandles)
	mux.HandleFunc("/kalshi/", func(w http.ResponseWriter, _ *http.Request) { notFound(w) })
	return mux
}

type fault struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Details string `json:"details,omitempty"`
	Service string `json:"service,omitempty"`
}

func fail(w http.ResponseWriter, status int, f fault) {
	reply.JSON(w, status, map[string]fault{"error": f})
}

func notFound(w http.ResponseWriter) {
	fail(w, http.StatusNotFound, fault{Code: "not_found", Message: "not found", Service: "trade-api"})
}

func refuse(w http.ResponseWriter, details string) {
	fail(w, http.StatusBadRequest, fault{Code: "invalid_parameters", Message: "invalid parameters", Details: details})
}

// cutoff is the moment before which a settled market is only in the archive.
func (s *Service) cutoff() time.Time {
	return s.world.Now().Add(-keptLive).Truncate(24 * time.Hour)
}

func (s *Service) archived(m *world.Market) bool {
	return word(m, s.world.Now()) == wordFinalized && settledAt(m).Before(s.cutoff())
}

func (s *Service) cutoffRoute(w http.ResponseWriter, _ *http.Request) {
	at := stamp(s.cutoff())
	reply.JSON(w, http.StatusOK, map[string]string{"market_settled_ts": at, "trades_created_ts": at, "orders_updated_ts": at})
}

func (s *Service) oneMarket(w http.ResponseWriter, r *http.Request) {
	if k, ok := s.combination(r.PathValue("ticker")); ok {
		reply.JSON(w, http.StatusOK, map[string]any{"market": k})
		return
	}
	m, ok := s.Find(r.PathValue("ticker"))
	if !ok || s.archived(&m) {
		notFound(w)
		return
	}
	reply.JSON(w, http.StatusOK, map[string]any{"market": s.render(&m)})
}

func (s *Service) oldMarket(w http.ResponseWriter, r *http.Request) {
	m, ok := s.Find(r.PathValue("ticker"))
	if !ok || !s.archived(&m) {
		notFound(w)
		return
	}
	reply.JSON(w, http.StatusOK, map[string]any{"market": s.render(&m)})
}

// oneEvent has its markets inside when that is asked for, else beside it, where
// the venue had them once.
func (s *Service) oneEvent(w http.ResponseWriter, r *http.Request) {
	list := s.members(r.PathValue("event"))
	if len(list) == 0 {
		notFound(w)
		return
	}
	var box struct {
		Event   event `json:"event"`
		Markets []any `json:"markets"`
	}
	box.Event, box.Markets = s.event(list), []any{}
	if nested(r) {
		box.Event.Markets = s.all(list)
	} else {
		box.Markets = s.all(list)
	}
	reply.JSON(w, http.StatusOK, box)
}

func nested(r *http.Request) bool { return r.URL.Query().Get("with_nested_markets") == "true" }

func (s *Service) oneSeries(w http.ResponseWriter, r *http.Request) {
	key := r.PathValue("series")
	out := seriesRecord{
		Ticker: key, Frequency: "custom", ContractURL: "https://docs.example.test/" + strings.ToLower(key) + ".pdf",
		ContractTermsURL: "https://docs.example.test/" + strings.ToLower(key) + "-terms.pdf", FeeType: "quadratic", FeeMultiplier: 1,
		SettlementSources:      []source{{"Invented Record Office", "https://records.example.test/" + strings.ToLower(key)}},
		AdditionalProhibitions: []string{}, VolumeFp: count(201_443), LastUpdatedTs: "2026-09-01T00:00:00Z",
	}
	if m, ok := s.world.Recorded("series " + key); ok {
		out.Title, out.Category = m.Event.Title, m.Category
		reply.JSON(w, http.StatusOK, map[string]any{"series": out})
		return
	}
	for _, f := range families {
		if f.ticker == key {
			out.Title, out.Category, out.Tags = f.title, f.category, f.tags
			reply.JSON(w, http.StatusOK, map[string]any{"series": out})
			return
		}
	}
	notFound(w)
}
