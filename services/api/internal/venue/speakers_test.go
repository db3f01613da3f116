package venue_test

import (
	"testing"
	"time"

	"github.com/signalcast/signalcast/services/api/internal/venue"
	"github.com/signalcast/signalcast/services/api/internal/venue/kalshi"
	"github.com/signalcast/signalcast/services/api/internal/venue/limitless"
	"github.com/signalcast/signalcast/services/api/internal/venue/manifold"
	"github.com/signalcast/signalcast/services/api/internal/venue/polymarket"
)

// rate is so high that no limit of ours is felt.
const rate = 1e5

var names = []string{"polymarket", "kalshi", "limitless", "manifold"}

// place is where each venue is read at a host that plays all of them.
type place struct{ gamma, clob, kalshi, limitless, manifold string }

// simulated is as the simulator has it, tabled as the tables of these tests.
var (
	simulated = place{"/gamma", "/clob", "/kalshi/trade-api/v2", "/limitless", "/manifold/v0"}
	tabled    = place{"/gamma", "/clob", "/kalshi", "/limitless", "/manifold"}
)

// adapters are the real ones, by provider.
func adapters(t *testing.T, host string, at place, meter *venue.Meter, now func() time.Time) map[string]venue.Venue {
	t.Helper()
	p, err1 := polymarket.New(polymarket.Config{GammaURL: host + at.gamma, ClobURL: host + at.clob, RequestsPerSecond: rate, PastEndIsProvisional: true}, meter, now)
	k, err2 := kalshi.New(kalshi.Config{URL: host + at.kalshi, RequestsPerSecond: rate}, meter, now)
	l, err3 := limitless.New(limitless.Config{URL: host + at.limitless, RequestsPerSecond: rate}, meter, now)
	m, err4 := manifold.New(manifold.Config{URL: host + at.manifold, RequestsPerSecond: rate}, meter, now)
	for _, err := range []error{err1, err2, err3, err4} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return map[string]venue.Venue{"polymarket": p, "kalshi": k, "limitless": l, "manifold": m}
}
