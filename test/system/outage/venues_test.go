package outage

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/signalcast/signalcast/test/system/stack"
)

// truePrice is the price at the venue, in basis points, of every market in TestFailingVenuesDoNotReachReaders.
const truePrice = 4100

// venueFailure is a way in which all venues fail: either their connections fail, or their answers are malformed.
type venueFailure struct {
	connection stack.Outage
	answer     stack.VenueAnswer
}

func (f venueFailure) String() string { return string(f.connection) + string(f.answer) }

func venueFailures() []venueFailure {
	out := []venueFailure{{answer: stack.Endless}}
	for _, how := range stack.Outages {
		out = append(out, venueFailure{connection: how})
	}
	for _, how := range []stack.VenueAnswer{
		stack.Truncated, stack.HTML, stack.WrongTypes, stack.NaNTexts, stack.NaNNumbers, stack.Redirects, stack.NegativePrices, stack.HugePrices,
	} {
		out = append(out, venueFailure{answer: how})
	}
	return out
}

// TestFailingVenuesDoNotReachReaders reads markets while all venues fail. Markets that were read before must be answered at
// once with their last price and its time. Other markets must be answered with 503. No wrong price may be stored, no redirect
// may be followed, and at most 16 MB of one answer may be read.
func TestFailingVenuesDoNotReachReaders(t *testing.T) {
	s := system(t)
	w := newFailingVenues(t, s)
	w.read(t, w.newMarkets(t), &w.before)
	for i, f := range venueFailures() {
		t.Run(f.String(), func(t *testing.T) { w.fail(t, i, f) })
	}
	if got, most := w.during.Quantile(.99), 300*time.Millisecond+machineFactor*w.before.Quantile(.99); got > most {
		t.Errorf("while the venues fail, 99%% of the reads are answered within %v; want at most %v", got, most)
	}
	const maxBody, buffers = 16 << 20, 8 << 20 // bytes that were sent but not read are in buffers of the kernel
	if mostRead := w.venues.MostRead.Load(); mostRead == 0 || mostRead > maxBody+buffers {
		t.Errorf("%d MB of one endless answer were read; want 1 to 16, plus buffers", mostRead>>20)
	}
	if n := w.redirected.Connections.Load(); n != 0 {
		t.Errorf("%d redirects were followed; want 0", n)
	}
	for _, id := range w.markets {
		if n := stack.Query[int](t, s, wrongRows, id, truePrice); n != 0 {
			t.Errorf("market %s has %d stored rows with a wrong price, amount, state or title; want 0", id, n)
		}
	}
}

const wrongRows = `SELECT (SELECT count(*) FROM api.market_prices WHERE market_id = $1 AND yes_bps <> $2)
	+ (SELECT count(*) FROM api.market_quotes WHERE market_id = $1 AND (yes_bps <> $2 OR
		NOT coalesce(volume, 0) BETWEEN 0 AND 1e12 OR NOT coalesce(volume_usd, 0) BETWEEN 0 AND 1e12 OR
		NOT coalesce(volume24h, 0) BETWEEN 0 AND 1e12 OR NOT coalesce(liquidity, 0) BETWEEN 0 AND 1e12))
	+ (SELECT count(*) FROM api.markets WHERE market_id = $1 AND (status <> 'open' OR title NOT LIKE 'Will the bridge at %'))`

// failingVenues contains a hub and an api whose venues can fail. The api of the system uses venues that work, so it is
// suspended while it holds the lease for reading all markets. Therefore no process reads prices periodically, and only reads of
// the hub cause requests to venues.
type failingVenues struct {
	s              *stack.Stack
	venues         *stack.VenueProxy
	connection     *stack.Proxy // forwards connections from the api to the venues
	redirected     *stack.Tripwire
	hub            string
	client         *stack.Client // reads single markets
	markets        []string
	before, during stack.Times
}

func newFailingVenues(t *testing.T, s *stack.Stack) *failingVenues {
	t.Helper()
	w := &failingVenues{s: s, redirected: stack.NewTripwire(t), client: stack.NewClient()}
	w.venues = s.NewVenueProxy(t, w.redirected.URL())
	w.connection = stack.NewProxy(t, w.venues.Addr)
	api := s.Side(t, "api", s.Rerouted(t, "api", map[string]string{strings.TrimPrefix(s.Venues, "http://"): w.connection.Addr}))
	w.hub = s.Side(t, "hub", map[string]string{"API_ADDR": api.GRPC}).URL
	s.Hang(t, "api")
	return w
}

// newMarkets creates a market at each venue.
func (w *failingVenues) newMarkets(t *testing.T) (ids []string) {
	t.Helper()
	for _, venue := range stack.Venues {
		ids = append(ids, w.s.NewVenueMarket(t, venue, truePrice/10_000., stack.JSON{"volume": 12345.5}).ID)
	}
	w.markets = append(w.markets, ids...)
	return ids
}

// price reads a market from the hub and returns its price and the time of the price. yes is nil if the market has no
// price.
func (w *failingVenues) price(t *testing.T, id string) (yes *int, at time.Time, err error) {
	t.Helper()
	a, err := w.get(t, w.client, "/api/m/"+url.PathEscape(id), &stack.Times{}, "db_unavailable")
	if err != nil {
		return nil, at, err
	}
	if a.Status != http.StatusOK {
		return nil, at, fmt.Errorf("the market was answered %d %s", a.Status, a.Code())
	}
	if a.Value("yesBps") != nil {
		n := a.Int("yesBps")
		yes = &n
	}
	at, _ = time.Parse(time.RFC3339, a.Member("updatedAt"))
	return yes, at, nil
}

// requireKnown waits until the hub answers a read of the market with the true price or without a price.
func (w *failingVenues) requireKnown(t *testing.T, id string) {
	t.Helper()
	stack.Eventually(t, recoverWithin, "the true price of "+id, func() bool {
		yes, _, err := w.price(t, id)
		return err == nil && (yes == nil || *yes == truePrice)
	})
}

// fail makes all venues fail, reads markets, and ends the failure. At half of the venues it reads a known market with an old
// price, and at the other half an unknown market. Each venue thus receives requests, but too few to open its circuit breaker.
func (w *failingVenues) fail(t *testing.T, i int, f venueFailure) {
	known, unknown := w.newMarkets(t), w.newMarkets(t)
	for _, id := range known {
		w.requireKnown(t, id)
	}
	for n := i % 2; n < len(known); n += 2 {
		stack.Query[int](t, w.s, `WITH aged AS (UPDATE api.market_quotes SET at = at - interval '2 minutes' WHERE market_id = $1 RETURNING 1)
			SELECT count(*) FROM aged`, known[n])
	}
	if f.answer != "" {
		w.venues.Answer(f.answer)
	} else {
		w.connection.Break(t, f.connection)
	}
	began := time.Now()
	var unknownReads sync.WaitGroup
	for n := 1 - i%2; n < len(unknown); n += 2 {
		unknownReads.Go(func() { w.readUnknown(t, unknown[n], f.answer.Readable()) })
	}
	w.read(t, known, &w.during)
	for _, id := range known {
		yes, at, err := w.price(t, id)
		switch {
		case err != nil:
			t.Errorf("market %s, which was read before: %v", id, err)
		case yes == nil && f.answer.Readable(): // an answer without a price is allowed
		case yes == nil || *yes != truePrice || at.IsZero() || at.After(began) && !f.answer.Readable():
			t.Errorf("market %s is shown with price %v of time %v; want %d of a time before %v", id, deref(yes), at, truePrice, began)
		}
	}
	unknownReads.Wait()
	w.venues.Answer(stack.Unchanged)
	if f.connection != "" {
		w.connection.Repair(t)
	}
	for _, id := range unknown {
		w.requireKnown(t, id)
	}
}

// read reads pages and lists of known markets at a constant rate. Each answer must have status 200 and be complete.
func (w *failingVenues) read(t *testing.T, known []string, times *stack.Times) {
	t.Helper()
	clients := []*stack.Client{stack.NewClient(), stack.NewClient()}
	d := time.Duration(stack.Size(t, 400, 800, 5000)) * time.Millisecond
	stack.Steady(t, 100, d, func(i int) {
		id := url.PathEscape(known[i%len(known)])
		path := []string{
			"/api/m/" + id, "/api/network/market/" + id, "/api/m/" + id + "/crowd", "/m/" + id, "/api/polymarket/markets?limit=20",
			"/api/m/" + id + "/signals", "/api/polymarket/featured", "/api/signals/feed",
		}[i/len(known)%8]
		a, err := w.get(t, clients[i%len(clients)], path, times, "db_unavailable", "db")
		// The page of a market contains more than the market. It is degraded if the price history is missing.
		if err != nil || a.Status != http.StatusOK || a.Header.Get("X-Degraded") != "" && !strings.HasPrefix(path, "/m/") {
			t.Errorf("%s was answered %v (error %v); want 200 without X-Degraded", path, a, err)
		}
	})
}

// get sends a GET request to the hub and adds its duration to times. On a loaded machine, reads may exceed the time limits of
// the database or the api. get therefore repeats the request up to three times if causes contains the error code or the
// X-Degraded header of the answer. It does not use Client.Retry, which would also repeat answers that show a failure of a
// venue.
func (w *failingVenues) get(
	t *testing.T, client *stack.Client, path string, times *stack.Times, causes ...string,
) (stack.Answer, error) {
	for n := 1; ; n++ {
		began := time.Now()
		a, err := client.Try(t, http.MethodGet, w.hub+path)
		times.Add(time.Since(began))
		late := slices.Contains(causes, a.Code()) || slices.Contains(causes, a.Header.Get("X-Degraded"))
		if err != nil || !late || n == 4 {
			return a, err
		}
		stack.Wait(t, time.Duration(n)*500*time.Millisecond)
	}
}

// readUnknown reads a market that was never read before. The answer must have status 503. If readable is true, the answers of
// the venues can be parsed, and status 200 without a price or with the true price is also allowed.
func (w *failingVenues) readUnknown(t *testing.T, id string, readable bool) {
	path := "/api/m/" + url.PathEscape(id)
	a, err := w.get(t, stack.NewClient(), path, &stack.Times{}, "db_unavailable", "signal_service_unavailable")
	switch {
	case err == nil && a.Status == http.StatusServiceUnavailable && a.Code() == "venue_unavailable":
	case err == nil && readable && a.Status == http.StatusOK && (a.Value("yesBps") == nil || a.Int("yesBps") == truePrice):
	default:
		t.Errorf("market %s, which was never read before: %v", id, errors.Join(err, errors.New(a.String())))
	}
}

func deref(n *int) any {
	if n == nil {
		return "no price"
	}
	return *n
}
