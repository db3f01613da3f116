package e2e

import (
	"bufio"
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/testkit"
)

// sockets are the lines of a venue's live prices, as the simulator sees them.
type sockets struct {
	Open, Ever int
	Markets    []string
}

func (s *stack) sockets(t testing.TB) (out sockets) {
	t.Helper()
	get(t, s.Venues+"/sim/polymarket/sockets").is(http.StatusOK).into(&out)
	return out
}

// priced waits until the public read of a market shows a price and tells how long
// that took.
func (s *stack) priced(t testing.TB, market string, bps int, within time.Duration) time.Duration {
	t.Helper()
	began := time.Now()
	testkit.Eventually(t, within, func() bool { return same(get(t, s.Hub+"/api/m/"+market).is(http.StatusOK).at("yesBps"), bps) })
	return time.Since(began)
}

// TestLivePrices: a market with a call on it is followed, and what its price
// becomes at the venue is public within seconds. A line that is open and says
// nothing is given up and made anew, and prices go on by polling meanwhile. The
// stack is its own, where only one of the two ways works at a time.
func TestLivePrices(t *testing.T) {
	t.Parallel()
	s := startOther(t, "RATE_LIMIT_ANON=0")
	fault := func(on, mode string) {
		t.Helper()
		post(t, s.Venues+"/sim/polymarket/fault", payload(obj{"mode": mode, "seconds": 300, "on": on})).is(http.StatusOK)
	}
	market := s.venue(t, 0.4, obj{"question": "Will the tide gauge at Hanö be read live?"})
	s.person(t).call(t, market, "YES", 4000)
	eventually(t, func() bool { return slices.Contains(s.sockets(t).Markets, market) }, "the market among those that are followed")
	fault("reads", "refuse")
	s.turn(t, market, obj{"yesPrice": 0.61})
	t.Logf("a new price after %v", s.priced(t, market, 6100, 5*time.Second))
	s.turn(t, market, obj{"yesPrice": 0.585})
	t.Logf("and another after %v", s.priced(t, market, 5850, 5*time.Second))

	before := s.sockets(t)
	fault("sockets", "hang")
	fault("reads", "none")
	s.turn(t, market, obj{"yesPrice": 0.25})
	t.Logf("by polling after %v", s.priced(t, market, 2500, 90*time.Second))
	testkit.Eventually(t, 90*time.Second, func() bool { return s.sockets(t).Ever > before.Ever })
	fault("reads", "refuse")
	fault("sockets", "none")
	eventually(t, func() bool { return slices.Contains(s.sockets(t).Markets, market) }, "the market on the new line")
	s.turn(t, market, obj{"yesPrice": 0.8})
	t.Logf("live again after %v", s.priced(t, market, 8000, 10*time.Second))
}

// tally is how often each venue was asked.
type tally map[string]int

func (n tally) since(before tally) tally {
	out := tally{}
	for _, name := range slices.Sorted(maps.Keys(n)) {
		out[name] = n[name] - before[name]
	}
	return out
}

// venueCalls reads the ledger's own count of requests to the venues.
func (s *stack) venueCalls(t *testing.T) tally {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(s.dir, "ports.json"))
	if err != nil {
		t.Fatal(err)
	}
	var ports map[string]int
	if err := json.Unmarshal(raw, &ports); err != nil {
		t.Fatal(err)
	}
	out := tally{}
	page := get(t, "http://127.0.0.1:"+strconv.Itoa(ports["api.metrics"])+"/metrics").is(http.StatusOK)
	for lines := bufio.NewScanner(strings.NewReader(string(page.body))); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), "} ")
		if _, labels, ok := strings.Cut(name, `venue_requests_total{`); ok {
			_, rest, _ := strings.Cut(labels, `provider="`)
			provider, _, _ := strings.Cut(rest, `"`)
			n, err := strconv.ParseFloat(value, 64)
			if err != nil {
				t.Fatal(err)
			}
			out[provider] += int(n)
		}
	}
	return out
}
