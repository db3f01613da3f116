package market_test

import (
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/api/internal/market"
)

func TestMarketTimeBounds(t *testing.T) {
	at := time.Date(2026, 10, 25, 0, 59, 50, 0, time.UTC)
	testkit.ClockChanges(t, "cutoff", at, func(t *testing.T, m *testkit.Machine) {
		ends := at.Add(time.Hour)
		native := market.Market{Provider: protocol.Manual, Status: protocol.MarketOpen, EndDate: &ends}
		m.Advance(time.Hour - time.Second)
		m.ChangeClock()
		if native.Read(m.Now(), true).Status != protocol.MarketOpen {
			t.Error("a market closes early")
		}
		m.Advance(time.Second)
		if native.Read(m.Now(), true).Status != protocol.MarketClosed {
			t.Error("a market does not close")
		}
	})
	testkit.ClockChanges(t, "price", at, func(t *testing.T, m *testkit.Machine) {
		yes, priced := protocol.Bps(4100), at
		venue := market.Market{Provider: protocol.Polymarket, Status: protocol.MarketOpen, Yes: &yes, PricedAt: &priced}
		m.Advance(market.LiveFor - time.Second)
		m.ChangeClock()
		if venue.Read(m.Now(), true).Yes == nil {
			t.Error("a price is dropped early")
		}
		m.Advance(2 * time.Second)
		if venue.Read(m.Now(), true).Yes != nil {
			t.Error("an old price is shown")
		}
	})
}
