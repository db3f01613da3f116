package rpc_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"

	"github.com/signalcast/signalcast/pkg/fault"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/pkg/testkit"
	cataloguev1 "github.com/signalcast/signalcast/proto/catalogue/v1"
	"github.com/signalcast/signalcast/services/api/internal/history"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/oracle"
	"github.com/signalcast/signalcast/services/api/internal/rpc"
	"github.com/signalcast/signalcast/services/api/internal/search"
)

// shelf is the store of a search.
type shelf struct {
	search.Store
	found []search.Found
	near  []search.Related
	rows  []search.Resolved
	facts []oracle.Fact
	lean  search.Sentiment
	gaps  []search.Gap
	asked string // the last question about a history
}

func (s *shelf) ListQueryWords(_ context.Context, text string, _ int) ([]search.Word, error) {
	return []search.Word{{Text: text, Whole: true}}, nil
}

func (s *shelf) ListWordsAround(_ context.Context, words []string, _ int) ([][]string, error) {
	return [][]string{words}, nil
}

func (s *shelf) ListMisspelledWords(context.Context, []string) ([][]string, error) {
	return [][]string{nil}, nil
}

func (s *shelf) FindMarkets(_ context.Context, _ search.Match, o search.Order, limit int) ([]search.Found, error) {
	rest := slices.DeleteFunc(slices.Clone(s.found), func(f search.Found) bool { return f.Value <= o.After.Value })
	return rest[:min(limit, len(rest))], nil
}

func (s *shelf) GetTitleWords(_ context.Context, title string) ([]string, error) {
	return strings.Fields(title), nil
}

func (s *shelf) ListRelated(_ context.Context, d search.Doc, words []string, near string, limit int) ([]search.Related, error) {
	s.asked = fmt.Sprint(d, words, near, limit)
	return s.near, nil
}

func (s *shelf) GetSentiment(context.Context, syntax.MarketID, time.Time) (search.Sentiment, error) {
	return s.lean, nil
}

func (s *shelf) ListGaps(context.Context, syntax.MarketID, time.Time, int) ([]search.Gap, error) {
	return s.gaps, nil
}

func (s *shelf) ListResolved(_ context.Context, _ syntax.Provider, _ search.Place, limit int) ([]search.Resolved, error) {
	return s.rows[:min(limit, len(s.rows))], nil
}

func dialCatalogue(t *testing.T, s *shelf, m *markets) cataloguev1.CatalogueReadServiceClient {
	t.Helper()
	service := search.NewService(s, time.Now)
	around := readOracle(t, s.facts...)
	histories := history.NewService(s, s, time.Now)
	t.Cleanup(histories.Close)
	return cataloguev1.NewCatalogueReadServiceClient(testkit.Link(t, func(r grpc.ServiceRegistrar) {
		cataloguev1.RegisterCatalogueReadServiceServer(r, rpc.NewCatalogue(service, around, histories, m))
	}))
}

// What is found is shown in the order of the search, as the store has it now;
// what the store no longer has is left out.
func TestFindMarketsInOrder(t *testing.T) {
	t.Parallel()
	s := &shelf{}
	for i, id := range []syntax.MarketID{"10", "9", "8", "7"} {
		s.found = append(s.found, search.Found{ID: id, Value: float64(i)})
	}
	m := &markets{rows: []market.Market{{ID: "8", Title: "eight"}, {ID: "10", Title: "ten"}, {ID: "7", Title: "seven"}}}
	client := dialCatalogue(t, s, m)
	r, err := client.FindMarkets(t.Context(), &cataloguev1.FindMarketsRequest{Text: "gauge", Provider: "polymarket", Lane: "science", Limit: 3})
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, m := range r.GetMarkets() {
		got += m.GetTitle() + " "
	}
	if got != "ten eight " || fmt.Sprint(m.ids) != "[10 9 8]" || r.GetNextCursor() == "" {
		t.Errorf("%s of %v, then %q", got, m.ids, r.GetNextCursor())
	}
	m.rows = []market.Market{{ID: "7", Title: "seven"}}
	r, err = client.FindMarkets(t.Context(), &cataloguev1.FindMarketsRequest{Text: "gauge", Limit: 3, Cursor: r.GetNextCursor()})
	if err != nil || len(r.GetMarkets()) != 1 || r.GetNextCursor() != "" {
		t.Errorf("second page %v, %v", r, err)
	}
	m.err = fault.New(fault.Unavailable, "db_unavailable", "")
	if _, err := client.FindMarkets(t.Context(), &cataloguev1.FindMarketsRequest{}); fault.Of(err).Code != "db_unavailable" {
		t.Errorf("without a database: %v", err)
	}
}

func TestResolvedTravelsWhole(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 10, 10, 12, 0, 0, 0, time.UTC)
	s := &shelf{rows: []search.Resolved{{
		ID: "7", Title: "seven", Verdict: syntax.VerdictInvalid, ResolvedAt: at, ClosePrice: ptr(syntax.Bps(0)), Volume: ptr(5.5), Signals: 3,
	}, {ID: "8", ResolvedAt: at}}}
	r, err := dialCatalogue(t, s, &markets{}).ListResolved(t.Context(), &cataloguev1.ListResolvedRequest{Provider: "polymarket", Limit: 1})
	if err != nil || len(r.GetMarkets()) != 1 || r.GetNextCursor() == "" {
		t.Fatal(r, err)
	}
	m := r.GetMarkets()[0]
	if m.GetId() != "7" || m.GetTitle() != "seven" || m.GetOutcome() != "INVALID" || !m.GetResolvedAt().AsTime().Equal(at) ||
		m.ClosePriceBps == nil || m.GetClosePriceBps() != 0 || m.GetVolume() != 5.5 || m.GetSignals() != 3 {
		t.Errorf("%v", m)
	}
}

func TestTilesAndHistoriesTravelWhole(t *testing.T) {
	t.Parallel()
	at := time.Now().Add(12 * time.Hour).UTC().Truncate(time.Millisecond)
	s := &shelf{facts: []oracle.Fact{openFact("7", 9, func(f *oracle.Fact) {
		f.EventKey, f.EventTitle, f.Slug, f.ImageURL, f.EndDate, f.From[3] = "flood", "River levels", "gauge", "https://i.example", &at, ptr(syntax.Bps(5450))
	}), openFact("8", 3.5, func(f *oracle.Fact) { f.EventKey = "flood" }), openFact("9", 2)}}
	client := dialCatalogue(t, s, &markets{})
	r, err := client.ListTiles(t.Context(), &cataloguev1.ListTilesRequest{})
	if err != nil || len(r.GetTiles()) != 2 || r.GetUpdatedAt() == nil {
		t.Fatal(r, err)
	}
	tile := r.GetTiles()[0]
	if tile.GetId() != "flood" || tile.GetLabel() != "River levels" || tile.GetMarketId() != "7" || tile.GetTitle() != "Market 7" || tile.GetLane() != "SCIENCE" ||
		tile.GetMarketCount() != 2 || tile.GetVolume24H() != 12.5 || tile.GetYesBps() != 5000 || tile.GetMove24HBps() != -450 ||
		tile.GetImageUrl() != "https://i.example" || !tile.GetEndsAt().AsTime().Equal(at) || tile.GetAttention() == 0 {
		t.Errorf("%v", tile)
	}
	pins := append([]string{"9", "404"}, make([]string, 100)...)
	if r, err = client.ListTiles(t.Context(), &cataloguev1.ListTilesRequest{Pinned: pins}); err != nil || len(r.GetTiles()) != 2 || r.GetTiles()[0].GetMarketId() != "9" {
		t.Error(r, err)
	}
	r, err = client.ListTiles(t.Context(), &cataloguev1.ListTilesRequest{Mode: "resolving24h", Pinned: pins})
	if err != nil || len(r.GetTiles()) != 1 || r.GetTiles()[0].GetId() != "gauge" {
		t.Error(r, err)
	}
	for _, c := range []struct {
		r    *cataloguev1.ListHistoryRequest
		want string
	}{
		{&cataloguev1.ListHistoryRequest{MarketId: "7", TokenId: "99", Interval: "7D"}, "99 7D"},
		{&cataloguev1.ListHistoryRequest{MarketId: "7", Interval: "nonsense"}, "77 24H"},
		{&cataloguev1.ListHistoryRequest{MarketId: "polymarket:7"}, ""},
		{&cataloguev1.ListHistoryRequest{}, ""},
	} {
		s.asked = ""
		r, err := client.ListHistory(t.Context(), c.r)
		if err != nil || s.asked != c.want || (len(r.GetPoints()) == 1) != (c.want != "") {
			t.Errorf("%v asks for %q: %v %v", c.r, s.asked, r, err)
			continue
		}
		if c.want != "" && (r.GetPoints()[0].GetT() != 5 || r.GetPoints()[0].GetP() != 0.1234) {
			t.Errorf("%v", r)
		}
	}
}

// The shelf is what histories ask, too.

func (s *shelf) Book(context.Context, syntax.MarketID) (history.Book, error) {
	return history.Book{Provider: syntax.Polymarket, TokenID: "77"}, nil
}

func (s *shelf) Snapshots(context.Context, syntax.MarketID, time.Time) ([]history.Point, error) {
	return nil, nil
}

func (s *shelf) History(_ context.Context, b history.Book, i history.Interval) ([]history.Point, error) {
	s.asked = b.TokenID + " " + string(i)
	return []history.Point{{T: 5, P: 0.1234}}, nil
}

func TestAroundAMarketTravelsWhole(t *testing.T) {
	t.Parallel()
	s := &shelf{
		near: []search.Related{{ID: "9", Relation: search.SameEvent}, {ID: "8", Relation: search.SameEvent, Similarity: 0.5}},
		lean: search.Sentiment{
			Yes: 1, No: 2, WeightYes: 3.5, WeightNo: 4.5, ConfidenceYes: ptr(60.0), TakesYes: 5, TakesNo: 6, Signals24h: 7, Before: ptr(syntax.Bps(5450)),
		},
		gaps: []search.Gap{{ID: "9", Yes: 4, No: 3}, {ID: "8", Yes: 1, No: 2}},
	}
	m := &markets{rows: []market.Market{{ID: "7", Title: "gauge", EventKey: "flood", Yes: ptr(syntax.Bps(5000))}, {ID: "8", Title: "eight"}, {ID: "9", Title: "nine"}}}
	client := dialCatalogue(t, s, m)
	related, err := client.GetRelated(t.Context(), &cataloguev1.GetRelatedRequest{MarketId: "7"})
	if err != nil || related.GetActive().GetId() != "7" || len(related.GetRelated()) != 2 {
		t.Fatal(related, err)
	}
	if want := "{7  gauge  flood} [gauge]'gauge'12"; s.asked != want {
		t.Errorf("asked for %s, want %s", s.asked, want)
	}
	if one, two := related.GetRelated()[0], related.GetRelated()[1]; one.GetMarket().GetId() != "9" || two.GetMarket().GetTitle() != "eight" ||
		two.GetRelation() != "same_event" || two.GetSimilarity() != 0.5 {
		t.Errorf("%v then %v", one, two)
	}
	lean, err := client.GetSentiment(t.Context(), &cataloguev1.GetSentimentRequest{MarketId: "7"})
	if err != nil || lean.GetMarket().GetId() != "7" || lean.GetYes() != 1 || lean.GetNo() != 2 || lean.GetWeightYes() != 3.5 || lean.GetWeightNo() != 4.5 ||
		lean.GetConfidenceYes() != 60 || lean.ConfidenceNo != nil || lean.GetTakesYes() != 5 || lean.GetTakesNo() != 6 || lean.GetSignals24H() != 7 ||
		lean.GetMove24HBps() != -450 || lean.GetUpdatedAt() == nil {
		t.Errorf("%v %v", lean, err)
	}
	gaps, err := client.ListGaps(t.Context(), &cataloguev1.ListGapsRequest{})
	if err != nil || len(gaps.GetGaps()) != 2 || gaps.GetGaps()[0].GetMarket().GetId() != "9" || gaps.GetGaps()[0].GetCrowdYes() != 4 || gaps.GetGaps()[1].GetCrowdNo() != 2 {
		t.Errorf("%v %v", gaps, err)
	}
	m.err = market.ErrNotFound
	for _, id := range []string{"7", "polymarket:7", ""} {
		if _, err := client.GetRelated(t.Context(), &cataloguev1.GetRelatedRequest{MarketId: id}); fault.Of(err).Code != "market_not_found" {
			t.Errorf("%q: %v", id, err)
		}
		if _, err := client.GetSentiment(t.Context(), &cataloguev1.GetSentimentRequest{MarketId: id}); fault.Of(err).Code != "market_not_found" {
			t.Errorf("%q: %v", id, err)
		}
	}
}
