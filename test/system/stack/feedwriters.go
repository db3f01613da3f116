package stack

import (
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// FeedWriters writes facts that the feed publishes: calls, and notes on calls. It records which requests were acknowledged.
type FeedWriters struct {
	s         *Stack
	hubs      []string
	operators []*Operator
	markets   []string
	next      atomic.Int64

	mu           sync.Mutex
	acknowledged []string // ids of acknowledged calls and notes
	inDoubt      int
}

const (
	feedMarkets = 20
	// Each operator writes two facts on each market. The number of markets respects the limit of 60 requests per minute
	// and key.
	factsPerOperator = 2 * feedMarkets
)

// feedLanes lists the lanes of the markets. Market i has the lane with index i modulo the length of the list. The feed has no
// channel for the lane OTHER.
var feedLanes = []string{"SCIENCE", "OTHER", "MUSIC", "SCIENCE"}

// NewFeedWriters creates a FeedWriters with enough markets and operators for n facts.
func (s *Stack) NewFeedWriters(t testing.TB, n int) *FeedWriters {
	t.Helper()
	w := &FeedWriters{s: s, hubs: append([]string{s.Hub}, s.Hubs...), operators: s.SeedOperators(t, n/factsPerOperator+2)}
	for i := range feedMarkets {
		w.markets = append(w.markets, s.NewNativeMarket(t, 5000, JSON{"lane": feedLanes[i%len(feedLanes)]}))
	}
	return w
}

// Write starts goroutines that write n facts each, with a pause after each call and its note. It returns when all goroutines
// have ended. The goroutines end early when the channel stop is closed; stop may be nil.
func (w *FeedWriters) Write(t testing.TB, goroutines, n int, pause time.Duration, stop <-chan struct{}) {
	var done sync.WaitGroup
	for range goroutines {
		done.Go(func() {
			for written := 0; written < n; {
				written += w.fact(t, written+1 < n)
				select {
				case <-stop:
					return
				case <-time.After(pause):
				}
			}
		})
	}
	done.Wait()
}

// fact files a call and, if more is true and the call was accepted, adds a note to it. It returns the number of facts that it
// sent, 1 or 2.
func (w *FeedWriters) fact(t testing.TB, more bool) int {
	i := int(w.next.Add(1)) - 1
	o := w.operators[(i/feedMarkets)%len(w.operators)]
	call := SentCall{Operator: o, Market: w.markets[i%feedMarkets], Yes: i%3 > 0, Price: 5000}
	a, err := call.Send(t, w.hubs[i%len(w.hubs)])
	if !w.record(a, err, http.StatusOK, "id") || !more {
		return 1
	}
	a, err = o.Try(t, http.MethodPost, w.hubs[(i+1)%len(w.hubs)]+"/api/signals/"+a.Text("id")+"/events", Bearer(o.Key),
		Body(JSON{"type": "note", "payload": JSON{"text": fmt.Sprint("fact ", i)}}))
	w.record(a, err, http.StatusCreated, "event.id")
	return 2
}

// record stores the result of a request that wrote a fact, and reports whether the response had the expected status. id is the
// path of the fact's ID in the response.
func (w *FeedWriters) record(a Answer, err error, status int, id string) bool {
	ok := err == nil && a.Status == status
	w.mu.Lock()
	if ok {
		w.acknowledged = append(w.acknowledged, a.Text(id))
	} else {
		w.inDoubt++
	}
	w.mu.Unlock()
	if !ok {
		time.Sleep(50 * time.Millisecond) // the services are unavailable: wait before the next request
	}
	return ok
}

// Acknowledged returns the number of acknowledged facts.
func (w *FeedWriters) Acknowledged() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.acknowledged)
}

// Markets returns the ids of the markets on which facts are written.
func (w *FeedWriters) Markets() []string { return w.markets }

// Handles returns the handles of the operators that write facts.
func (w *FeedWriters) Handles() (out []string) {
	for _, o := range w.operators {
		out = append(out, o.Handle)
	}
	return out
}

const unpublishedFacts = `
WITH facts AS (
    SELECT id, 'signal.created' AS type FROM api.signals WHERE market_id = ANY ($1)
    UNION ALL
    SELECT e.id, 'signal.event' FROM api.signal_events e JOIN api.signals s ON s.id = e.signal_id WHERE s.market_id = ANY ($1)
), fed AS (
    SELECT CASE WHEN type = 'signal.created' THEN data->>'id' ELSE data->'event'->>'id' END AS id, type, count(*) AS times
    FROM api.protocol_events WHERE market_id = ANY ($1) AND type IN ('signal.created', 'signal.event') GROUP BY 1, 2
)
SELECT count(*) FROM facts f FULL JOIN fed d ON d.id = f.id::text AND d.type = f.type WHERE f.id IS NULL OR d.times IS DISTINCT FROM 1`

const lostFacts = `
SELECT count(*) FROM unnest($1::uuid[]) AS a (id)
WHERE NOT EXISTS (SELECT FROM api.signals s WHERE s.id = a.id) AND NOT EXISTS (SELECT FROM api.signal_events e WHERE e.id = a.id)`

// RequirePublished fails the test unless the feed contains each stored fact exactly once within d. It also reports an error if an
// acknowledged fact is not in the database.
func (w *FeedWriters) RequirePublished(t testing.TB, d time.Duration) {
	t.Helper()
	Eventually(t, d, "each stored fact once in the feed", func() bool {
		return Query[int](t, w.s, unpublishedFacts, w.markets) == 0
	})
	w.mu.Lock()
	defer w.mu.Unlock()
	if lost := Query[int](t, w.s, lostFacts, w.acknowledged); lost > 0 {
		t.Errorf("%d of %d acknowledged facts are not stored; want 0", lost, len(w.acknowledged))
	}
	t.Logf("%d facts acknowledged, %d in doubt", len(w.acknowledged), w.inDoubt)
}
