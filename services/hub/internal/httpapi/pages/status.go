package pages

import (
	"net/http"
	"slices"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/site"
)

const (
	statusPath = "/status"
	// degradedFor is the time for which a part of the service is shown as degraded after it was last missing.
	degradedFor = 5 * time.Minute
)

type statusPage struct {
	site.Layout
	Working bool
	Parts   []statusPart
}

// statusPart is a part of the service.
type statusPart struct {
	Name, Effect string    // Effect: what does not work while the part is degraded
	Down         bool      // a check of the part has just failed
	MissedAt     time.Time // last time at which the part was missing, within degradedFor; zero: it was not missing
}

// serviceParts are the parts of the service. A part is degraded if a check or a source with one of the names fails. The last part
// has the other sources.
var serviceParts = [...]struct {
	name, effect string
	sources      []string
}{
	{"Accounts", "Sign-in, follows, notifications and settings can fail.", []string{"database"}},
	{
		"Calls, markets and records", "Calls may not be filed, and pages can lack prices and records.",
		[]string{"ledger", "signal_service", "db"},
	},
	{
		"Prices of the venues", "Prices can be old. A call without a checked price counts in the record but not in points.",
		[]string{"venue"},
	},
	{"Programme", "The programme and its screen can be missing.", []string{"program", "clock"}},
	{
		"Broadcasts and clips", "Streams, overlays and clips can be missing.",
		[]string{"ingest", "streams", "overlay", "live", "clips", "hls"},
	},
	{"Other parts", "Some parts of pages can be missing.", nil},
}

// status handles GET /status, which names the degraded parts of the service.
func (s *server) status(c echo.Context) error {
	p := statusPage{Layout: s.NewLayout(c, "Status", "Which parts of the service work.", statusPath), Working: true}
	p.OGType = "website"
	failed, missed := s.FailedChecks(c.Request().Context()), s.Missing.List()
	named := map[string]bool{}
	for _, part := range serviceParts {
		one := statusPart{Name: part.name, Effect: part.effect}
		for source, at := range missed {
			if s.Now().Sub(at) < degradedFor && at.After(one.MissedAt) &&
				(slices.Contains(part.sources, source) || part.sources == nil && !named[source]) {
				one.MissedAt = at
			}
		}
		for _, source := range part.sources {
			named[source] = true
			one.Down = one.Down || slices.Contains(failed, source)
		}
		p.Working = p.Working && !one.Down && one.MissedAt.IsZero()
		p.Parts = append(p.Parts, one)
	}
	return s.Render(c, http.StatusOK, "status", p)
}
