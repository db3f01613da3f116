package app

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/config"
	"github.com/signalcast/signalcast/pkg/telemetry"
	"github.com/signalcast/signalcast/pkg/version"
	"github.com/signalcast/signalcast/services/api/internal/venue"
)

// TestVenueWithoutURLIsOff checks that a venue without a URL has no adapter. Only the primary venue has a default URL.
func TestVenueWithoutURLIsOff(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		set  map[string]string
		want string
	}{
		{nil, "[polymarket]"},
		{map[string]string{"KALSHI_URL": "", "MANIFOLD_URL": ""}, "[polymarket]"},
		{map[string]string{"MANIFOLD_URL": "https://venue.example/v0"}, "[manifold polymarket]"},
		{map[string]string{
			"KALSHI_URL": "https://k.example/trade-api/v2", "LIMITLESS_URL": "https://l.example", "MANIFOLD_URL": "https://m.example/v0",
		}, "[kalshi limitless manifold polymarket]"},
	} {
		environ := validEnv()
		maps.Copy(environ, c.set)
		cfg, err := config.LoadFrom[Config](environ)
		if err != nil {
			t.Fatal(err)
		}
		a := &App{cfg: cfg, metrics: telemetry.NewMetrics(serviceName, version.Read()), now: time.Now}
		list, err := a.venues(venue.NewMeter(a.metrics.Registerer()))
		if got := fmt.Sprint(providers(list)); err != nil || got != c.want {
			t.Errorf("%v: %s, want %s (%v)", c.set, got, c.want, err)
		}
	}
}
