package venue

import (
	"context"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/api/internal/market"
)

// Port makes a venue fit the market subject's port.
func Port(v Venue) market.Venue { return port{v} }

type port struct{ venue Venue }

// Get implements market.Venue.
func (p port) Get(ctx context.Context, id syntax.MarketID) (market.Record, error) {
	m, err := p.venue.Get(ctx, string(id))
	if err != nil {
		return market.Record{}, err
	}
	return record(&m), nil
}

// ListOpen implements market.Venue.
func (p port) ListOpen(ctx context.Context, cursor string) ([]market.Record, string, error) {
	page, next, err := p.venue.List(ctx, cursor)
	return records(page), next, err
}

// Quote implements market.Venue.
func (p port) Quote(ctx context.Context, ids []syntax.MarketID) ([]market.Record, error) {
	plain := make([]string, len(ids))
	for i, id := range ids {
		plain[i] = string(id)
	}
	list, err := p.venue.Quote(ctx, plain)
	return records(list), err
}

func records(list []Market) []market.Record {
	out := make([]market.Record, len(list))
	for i := range list {
		out[i] = record(&list[i])
	}
	return out
}

// record says the same in the words of the market subject.
func record(m *Market) market.Record {
	r := market.Record{
		ID: syntax.MarketID(m.ID), Title: m.Question, Description: m.Description, EndDate: m.EndDate,
		Status: syntax.MarketStatus(m.Status), Provisional: m.Provisional, Payout: m.Payout,
		Lane: syntax.Lane(m.VenueLane), Tags: m.Tags, Slug: m.Slug, EventKey: m.EventKey, EventTitle: m.EventTitle,
		ConditionID: m.ConditionID, ClobTokenID: m.ClobTokenID, YesIndex: m.YesIndex, Outcomes: m.Outcomes[:],
		ImageURL: m.ImageURL, URL: m.ProofURL, VolumeUnit: m.VolumeUnit, Volume: m.Volume, Volume24h: m.Volume24h,
		Liquidity: m.Liquidity, FetchedAt: m.FetchedAt, Short: m.Short,
		Quote: m.Quote, Creator: m.Creator, ClosedAt: m.ClosedAt,
	}
	if m.Outcome != "" {
		verdict := syntax.Verdict(m.Outcome)
		r.Verdict = &verdict
	}
	if m.YesBps != nil {
		yes := syntax.Bps(*m.YesBps)
		r.Yes = &yes
	}
	r.VolumeUSD = volumeUSD(m)
	return r
}

// manaPerUSD is how much of Manifold's play money counts as a dollar.
const manaPerUSD = 100

// volumeUSD returns the volume for filters, sums and ordering: dollars as reported, one
// dollar per contract, and mana divided by 100.
func volumeUSD(m *Market) *float64 {
	if m.VolumeUnit != "mana" || m.Volume == nil {
		return m.Volume
	}
	usd := *m.Volume / manaPerUSD
	return &usd
}
