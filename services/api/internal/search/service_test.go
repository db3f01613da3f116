package search_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/api/internal/search"
)

// shelf is a store with fixed answers that records its places.
type shelf struct {
	search.Store
	err    error
	rows   []search.Resolved
	lean   search.Sentiment
	gaps   []search.Gap
	places []search.Place
}

func (s *shelf) GetSentiment(context.Context, syntax.MarketID, time.Time) (search.Sentiment, error) {
	return s.lean, nil
}

func (s *shelf) ListGaps(context.Context, syntax.MarketID, time.Time, int) ([]search.Gap, error) {
	return s.gaps, nil
}

func (s *shelf) ListResolved(_ context.Context, _ syntax.Provider, after search.Place, limit int) ([]search.Resolved, error) {
	s.places = append(s.places, after)
	return s.rows[:min(limit, len(s.rows))], s.err
}

func TestResolvedPages(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 10, 10, 12, 0, 0, 123456000, time.UTC)
	store := &shelf{rows: []search.Resolved{{ID: "1", ResolvedAt: at}, {ID: "2", ResolvedAt: at}, {ID: "3", ResolvedAt: at}}}
	s := search.NewService(store, time.Now)
	rows, next, err := s.Resolved(t.Context(), syntax.Polymarket, 2, "")
	if err != nil || len(rows) != 2 || next == "" {
		t.Fatal(rows, next, err)
	}
	for _, cursor := range []string{next, "nonsense", syntax.NewCursor("1", "volume", "1", "1").Encode(), syntax.NewCursor("1", "x", "5").Encode()} {
		if _, _, err := s.Resolved(t.Context(), syntax.Polymarket, 2, cursor); err != nil {
			t.Fatal(err)
		}
	}
	if want := []search.Place{{}, {At: at, ID: "2"}, {}, {}, {}}; !slices.Equal(store.places, want) {
		t.Errorf("places %v", store.places)
	}
	if rows, next, err := s.Resolved(t.Context(), syntax.Polymarket, -1, ""); err != nil || len(rows) != 3 || next != "" {
		t.Error(rows, next, err)
	}
}
