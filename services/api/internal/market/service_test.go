package market_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/api/internal/market"
)

func TestUnknownMarketIsReadOnceAndStored(t *testing.T) {
	t.Parallel()
	l := setup(t)
	l.venue.list("7")
	l.venue.set(func() { l.venue.yes = 3100; l.venue.gate = make(chan struct{}) })
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			if m, err := l.Get(t.Context(), "7"); err != nil || *m.Yes != 3100 || m.Lane != protocol.LaneScience {
				t.Errorf("concurrent read: %+v, %v", m, err)
			}
		})
	}
	close(l.venue.gate)
	wg.Wait()
	if n := len(l.venue.takeAsked()); n == 0 || n > 3 {
		t.Errorf("50 concurrent readers caused %d requests; want 1", n)
	}
	if l.get("7"); len(l.venue.takeAsked()) != 0 {
		t.Error("a stored market was requested again")
	}
	if n := l.count(`SELECT count(*) FROM api.market_prices WHERE market_id = '7'`); n != 1 {
		t.Errorf("%d snapshots; want 1", n)
	}
}

func TestAbsentMarkets(t *testing.T) {
	t.Parallel()
	l := setup(t)
	for range 5 {
		if _, err := l.Get(t.Context(), "404"); !errors.Is(err, market.ErrNotFound) {
			t.Errorf("Get: %v", err)
		}
		if err := l.Ensure(t.Context(), "404", anOperator, time.Second); !errors.Is(err, market.ErrNotFound) {
			t.Errorf("Ensure: %v", err)
		}
	}
	if n := len(l.venue.takeAsked()); n != 1 {
		t.Errorf("%d requests for a market that the venue does not have", n)
	}
	l.venue.list("404")
	l.clock.Advance(time.Minute)
	l.get("404")
	for _, id := range []protocol.MarketID{"native-aaaaaaaaaaaa", "kalshi-X", "manifold-x"} {
		if _, err := l.Get(t.Context(), id); !errors.Is(err, market.ErrNotFound) {
			t.Errorf("get %s: %v", id, err)
		}
		if err := l.Ensure(t.Context(), id, anOperator, time.Second); !errors.Is(err, market.ErrNotFound) {
			t.Errorf("ensure %s: %v", id, err)
		}
	}
	if n := l.count(`SELECT count(*) FROM api.markets`); n != 1 {
		t.Errorf("%d markets are stored; want 1", n)
	}
}

func TestVenueDown(t *testing.T) {
	t.Parallel()
	l := setup(t)
	l.venue.list("7", "8")
	l.get("8")
	l.venue.set(func() { l.venue.down = true })
	if _, err := l.Get(t.Context(), "7"); !errors.Is(err, market.ErrUnavailable) {
		t.Errorf("market that is not stored: %v", err)
	}
	if n := l.count(`SELECT count(*) FROM api.markets WHERE market_id = '7'`); n != 0 {
		t.Error("a reader stored a stub")
	}
	if m := l.get("8"); m.Status != protocol.MarketOpen {
		t.Errorf("stored market has the status %s", m.Status)
	}
	for range 2 {
		if err := l.Ensure(t.Context(), "7", anOperator, time.Second); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Ensure(t.Context(), "9", anOperator, time.Second); err != nil {
		t.Fatal(err)
	}
	if m := l.get("7"); m.Status != protocol.MarketUnknown || m.Title != "7" || m.Yes != nil || m.FetchedAt != nil {
		t.Errorf("stub: %+v", m)
	}
	l.venue.set(func() { l.venue.down = false })
	if m := l.get("7"); m.Status != protocol.MarketOpen || m.Title != "Market 7" {
		t.Errorf("the stub was not filled: %+v", m)
	}
	if m, err := l.Get(t.Context(), "9"); !errors.Is(err, market.ErrNotFound) {
		t.Errorf("stub of a market that the venue does not have: %+v, %v", m, err)
	}
	if n := l.count(`SELECT count(*) FROM api.outbox WHERE market_id = '7' AND data = '{"from": "unknown", "to": "open"}'`); n != 1 {
		t.Errorf("%d events of the filled stub; want 1", n)
	}
}

func TestCanceledReaderDoesNotCancelTheRead(t *testing.T) {
	t.Parallel()
	l := setup(t)
	l.venue.list("7")
	gate := make(chan struct{})
	l.venue.set(func() { l.venue.gate = gate })
	ctx, leave := context.WithCancel(t.Context())
	left := make(chan error)
	go func() {
		_, err := l.Get(ctx, "7")
		left <- err
	}()
	stayed := make(chan error)
	go func() {
		_, err := l.Get(t.Context(), "7")
		stayed <- err
	}()
	leave()
	if err := <-left; err == nil {
		t.Error("a canceled reader got an answer")
	}
	close(gate)
	if err := <-stayed; err != nil {
		t.Errorf("the other reader: %v", err)
	}
}

func TestWatchedMarketsStayFresh(t *testing.T) {
	t.Parallel()
	l := setup(t)
	l.venue.list("7")
	l.venue.set(func() { l.venue.yes = 1000 })
	l.get("7")
	l.clock.Advance(59 * time.Second)
	l.venue.set(func() { l.venue.yes = 2000 })
	if m := l.get("7"); *m.Yes != 1000 {
		t.Errorf("price %d", *m.Yes)
	}
	l.clock.Advance(2 * time.Second)
	if m := l.get("7"); *m.Yes != 1000 {
		t.Error("a reader waited for a fresher price")
	}
	testkit.Eventually(t, 10*time.Second, func() bool { return *l.get("7").Yes == 2000 })
	l.Service.Settle() // the price is stored shortly before its read ends, and later readers would share that read
	l.venue.takeAsked()
	l.venue.set(func() { l.venue.down = true })
	l.clock.Advance(2 * time.Minute)
	for range 100 {
		l.get("7")
	}
	l.Service.Settle()
	if n := len(l.venue.takeAsked()); n != 1 {
		t.Errorf("100 readers caused %d requests to an unavailable venue", n)
	}
	l.clock.Advance(9 * time.Minute)
	if m := l.get("7"); m.Yes != nil {
		t.Error("a price that is 11 minutes old is shown")
	}
}

func TestCreateNative(t *testing.T) {
	t.Parallel()
	l := setup(t)
	by := noon.Add(48 * time.Hour)
	source := "https://records.example/gauge"
	m, err := l.CreateNative(t.Context(), market.Draft{
		Question: "Will the gauge read above 6 m?", Description: "At noon.", CutoffAt: noon.Add(24 * time.Hour), ResolvesBy: &by,
		Lane: protocol.LaneSport, ResolutionSource: &source, CreatedBy: "admin",
	})
	if err != nil {
		t.Fatal(err)
	}
	got := l.get(string(m.ID))
	if got.Title != m.Title || *got.Yes != market.DefaultYes || got.Status != protocol.MarketOpen || got.Category != "sport" || got.Lane != protocol.LaneSport ||
		*got.ResolutionSource != source || !got.ResolvesBy.Equal(by) || !got.EndDate.Equal(noon.Add(24*time.Hour)) || *got.Volume != 0 || *got.CreatedBy != "admin" {
		t.Errorf("created market: %+v", got)
	}
	if points, err := l.ListPrices(t.Context(), m.ID, time.Time{}); err != nil || len(points) != 1 || points[0].Yes != market.DefaultYes {
		t.Errorf("first snapshot %v, %v", points, err)
	}
	if list, err := l.ListNative(t.Context(), "nonsense", false, 10); err != nil || len(list) != 1 || list[0].Market.ID != m.ID {
		t.Errorf("native list %v, %v", list, err)
	}
	if list, err := l.Airable(t.Context(), 0, protocol.LaneSport); err != nil || len(list) != 1 || *list[0].Yes != market.DefaultYes {
		t.Errorf("airable %v, %v", list, err)
	}
	if _, err := l.CreateNative(t.Context(), market.Draft{Question: "short"}); err == nil {
		t.Error("a market was created from a draft out of bounds")
	}
	if list, err := l.ListMarkets(t.Context(), []string{string(m.ID), "1", "nonsense"}); err != nil || len(list) != 1 {
		t.Errorf("list %v, %v", list, err)
	}
}
