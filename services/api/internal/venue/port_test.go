package venue_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/venue"
)

type shelf struct{ m venue.Market }

func (s shelf) Provider() string { return "polymarket" }

func (s shelf) Get(_ context.Context, id string) (venue.Market, error) {
	if id != s.m.ID {
		return venue.Market{}, venue.ErrNotFound
	}
	return s.m, nil
}

func (s shelf) List(context.Context, string) ([]venue.Market, string, error) {
	return []venue.Market{s.m}, "next", nil
}

func (s shelf) Quote(_ context.Context, ids []string) ([]venue.Market, error) {
	if len(ids) == 0 {
		return nil, venue.ErrUnavailable
	}
	return []venue.Market{s.m}, nil
}

func (s shelf) History(context.Context, venue.Market, venue.Interval) ([]venue.Point, error) {
	return nil, nil
}

func TestPortSaysTheSame(t *testing.T) {
	t.Parallel()
	bps, volume, payout := 9990, 12.5, "1"
	m := venue.Market{
		ID: "71", Question: "q", Status: venue.Resolved, Settled: true, Outcome: "YES", Payout: &payout, YesBps: &bps, Volume: &volume,
		VolumeUnit: "usd", Lane: "SPORT", VenueLane: "OTHER", Outcomes: [2]string{"Yes", "No"}, FetchedAt: time.Unix(5, 0), Short: true,
	}
	p := venue.Port(shelf{m})
	r, err := p.Get(t.Context(), "71")
	if err != nil || r.ID != "71" || r.Status != syntax.MarketResolved || r.Verdict == nil || *r.Verdict != syntax.Verdict("YES") ||
		*r.Yes != 9990 || *r.VolumeUSD != 12.5 || r.Lane != syntax.LaneOther || len(r.Outcomes) != 2 || *r.Payout != "1" || !r.Short {
		t.Errorf("%+v %v", r, err)
	}
	if _, err := p.Get(t.Context(), "72"); !errors.Is(err, market.ErrNotFound) {
		t.Errorf("unknown: %v", err)
	}
	if list, next, err := p.ListOpen(t.Context(), ""); err != nil || next != "next" || len(list) != 1 {
		t.Errorf("%v %q %v", list, next, err)
	}
	if _, err := p.Quote(t.Context(), nil); !errors.Is(err, market.ErrUnavailable) {
		t.Errorf("%v", err)
	}
	m.Outcome, m.YesBps, m.VolumeUnit = "", nil, "mana"
	if r, _ = venue.Port(shelf{m}).Get(t.Context(), "71"); r.Verdict != nil || r.Yes != nil {
		t.Errorf("%+v", r)
	}
}

func TestVolumeInDollars(t *testing.T) {
	t.Parallel()
	volume := 1250.0
	for unit, want := range map[string]float64{"usd": 1250, "contracts": 1250, "mana": 12.5} {
		r, err := venue.Port(shelf{venue.Market{ID: "71", Volume: &volume, VolumeUnit: unit}}).Get(t.Context(), "71")
		if err != nil || r.VolumeUSD == nil || *r.VolumeUSD != want || *r.Volume != 1250 {
			t.Errorf("%s: %+v %v", unit, r.VolumeUSD, err)
		}
	}
	if r, _ := venue.Port(shelf{venue.Market{ID: "71", VolumeUnit: "mana"}}).Get(t.Context(), "71"); r.VolumeUSD != nil {
		t.Errorf("an unknown volume is %v", *r.VolumeUSD)
	}
}
