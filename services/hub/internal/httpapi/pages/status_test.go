package pages_test

import (
	"testing"
	"time"

	"github.com/signalcast/signalcast/services/api/apitest"
)

// TestStatusPage checks that the page names a part whose check fails, and a part that was missing in an answer of the last 5 minutes.
func TestStatusPage(t *testing.T) {
	t.Parallel()
	b := setup(t)
	w := b.get("/status")
	has(t, w, 200, "All parts of the service work.", "<dt>Calls, markets and records</dt><dd>Works</dd>", "!Degraded.", "!Unavailable.")
	b.ledger.Fail(apitest.ErrDB, "GetPulse")
	b.get("/pulse")
	b.ledger.Fail(nil, "GetPulse")
	b.failed = []string{"database"}
	has(t, b.get("/status"), 200, "Some parts of the service are degraded.", `<dt>Accounts</dt><dd><b class="unavailable">Unavailable.</b> Sign-in`,
		`<dt>Calls, markets and records</dt><dd><b class="unavailable">Degraded.</b> Calls may not be filed`, "<dt>Other parts</dt><dd>Works</dd>")
	b.failed = nil
	b.clock.Advance(5 * time.Minute)
	has(t, b.get("/status"), 200, "All parts of the service work.")
	b.missing.Mark("a_new_source", b.clock.Now())
	has(t, b.get("/status"), 200, `<dt>Other parts</dt><dd><b class="unavailable">Degraded.</b>`, "<dt>Programme</dt><dd>Works</dd>")
}
