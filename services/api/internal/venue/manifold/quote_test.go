package manifold_test

import (
	"bytes"
	"crypto/sha256"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/api/internal/venue/venuetest"
)

func TestQuotesOfTheSamples(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][2]syntax.Bps{ // none: no quote
		"market_open_binary.json": {4035, 5966}, "market_open_no_close_time.json": {4035, 5966}, "market_open_far_close_time.json": {4035, 5966},
		"market_closed_not_resolved.json": {}, "market_provisional_just_resolved.json": {}, "market_resolved_yes.json": {}, "market_resolved_invalid_mkt.json": {},
	} {
		raw := venuetest.Sample(t, name)
		got, err := one(t, raw)
		q := got.Quote
		if err != nil || (q == nil) != (want[0] == 0) || q != nil && (q.Yes != want[0] || q.No != want[1]) {
			t.Errorf("%s: quote %+v, want %v, %v", name, q, want, err)
			continue
		}
		if sum := sha256.Sum256([]byte(raw)); q != nil && (q.Rule != "manifold.probability" || !q.At.Equal(venuetest.Noon) || !bytes.Equal(q.SHA256, sum[:])) {
			t.Errorf("%s: quote %+v", name, q)
		}
		if got.Creator != "u1Invented0000000000" {
			t.Errorf("%s: creator %q", name, got.Creator)
		}
	}
}

func TestQuoteOfARecord(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		probability any
		yes, no     syntax.Bps // 0: no quote
	}{
		"whole bps":   {0.31, 3100, 6900},
		"rounds up":   {0.31001, 3101, 6900},
		"nothing":     {0, 0, 0},
		"certainty":   {1, 0, 0},
		"nearly one":  {0.99995, 0, 0},
		"missing":     {nil, 0, 0},
		"not one":     {"NaN", 0, 0},
		"above one":   {1.5, 0, 0},
		"below zero":  {-0.5, 0, 0},
		"in exponent": {1e-4, 1, 9999},
	} {
		got, err := one(t, edit(t, m{"probability": c.probability}))
		if q := got.Quote; err != nil || (q == nil) != (c.yes == 0) || q != nil && (q.Yes != c.yes || q.No != c.no) {
			t.Errorf("%s: %+v, want %d and %d, %v", name, q, c.yes, c.no, err)
		}
	}
}

func TestClosingTime(t *testing.T) {
	t.Parallel()
	at := func(ago time.Duration) int64 { return venuetest.Noon.Add(-ago).UnixMilli() }
	for name, c := range map[string]struct {
		changes m
		want    time.Duration // before Noon; 0: not closed
	}{
		"open":                      {m{"closeTime": at(-time.Hour)}, 0},
		"closed":                    {m{"closeTime": at(time.Hour)}, time.Hour},
		"resolved after the close":  {m{"closeTime": at(3 * time.Hour), "isResolved": true, "resolution": "YES", "resolutionTime": at(2 * time.Hour)}, 3 * time.Hour},
		"resolved before the close": {m{"closeTime": at(-time.Hour), "isResolved": true, "resolution": "YES", "resolutionTime": at(2 * time.Hour)}, 2 * time.Hour},
		"resolved a moment ago":     {m{"closeTime": at(-time.Hour), "isResolved": true, "resolution": "YES", "resolutionTime": at(time.Second)}, time.Second},
		"without times":             {m{"closeTime": nil, "isResolved": true, "resolution": "YES", "resolutionTime": nil}, 0},
	} {
		got, err := one(t, edit(t, c.changes))
		if err != nil || (got.ClosedAt == nil) != (c.want == 0) || got.ClosedAt != nil && !got.ClosedAt.Equal(venuetest.Noon.Add(-c.want)) {
			t.Errorf("%s: closed at %v, want %v before noon, %v", name, got.ClosedAt, c.want, err)
		}
	}
}
