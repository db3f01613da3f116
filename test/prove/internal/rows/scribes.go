package rows

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
)

// scribes are writers whose facts go into the feed: calls, and what is added to them,
// through the doors of both hubs.
type scribes struct {
	env     *frame.Env
	ops     []client.Operator
	markets []string

	next  atomic.Int64
	wrote atomic.Int64 // facts that were acknowledged
	doubt atomic.Int64 // those without an answer, or with a 5xx

	mu    sync.Mutex
	acked []string // ids of calls and events
}

// A key has sixty calls a minute: each operator calls on twenty markets, and adds
// something to each call.
const (
	onMarkets = 20
	perKey    = 2 * onMarkets
)

// feedLanes are the lanes of the markets in turn; OTHER has no channel.
var feedLanes = []string{"SCIENCE", "OTHER", "MUSIC", "SCIENCE"}

// newScribes prepares for n facts at most.
func newScribes(ctx context.Context, env *frame.Env, row string, n int) (*scribes, error) {
	s := &scribes{env: env, markets: make([]string, onMarkets)}
	var err error
	if s.ops, err = pool(ctx, env, row, n/perKey+2, 1); err != nil {
		return nil, err
	}
	errs := make([]error, onMarkets)
	frame.Each(onMarkets, 4, func(i int) { s.markets[i], errs[i] = laneMarket(ctx, env, row, i) })
	for _, err := range errs {
		if err != nil {
			return nil, fmt.Errorf("make a market: %w", err)
		}
	}
	return s, nil
}

// laneMarket makes a native market in a lane.
func laneMarket(ctx context.Context, env *frame.Env, row string, i int) (string, error) {
	a := env.Client.Do(ctx, client.Request{URL: env.Hub(i) + "/api/admin/markets", As: env.Admin(), Body: map[string]any{
		"question": fmt.Sprintf("Will market %d of row %s be followed?", i, row), "lane": feedLanes[i%len(feedLanes)], "initialYesBps": 5000,
		"cutoffAt": time.Now().AddDate(0, 1, 0).UTC().Format(time.RFC3339),
	}})
	return a.Text("marketId"), a.Into(http.StatusCreated, nil)
}

// write has so many writers write each n facts, or until ctx ends.
func (s *scribes) write(ctx context.Context, writers, n int) {
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for done := 0; done < n && ctx.Err() == nil; {
				done += s.fact(ctx, done+1 < n)
			}
		})
	}
	wg.Wait()
}

// fact files a call and, where there is room, adds an event to it. It gives the number
// of facts that were tried.
func (s *scribes) fact(ctx context.Context, more bool) int {
	i := int(s.next.Add(1)) - 1
	op := s.ops[(i/onMarkets)%len(s.ops)]
	ctx = context.WithoutCancel(ctx) // each write has an answer or a doubt
	a := s.env.Client.File(ctx, s.env.Hub(i), op.Keys[0], client.Call{Market: s.markets[i%onMarkets], Yes: i%3 > 0, Price: 5000})
	id := a.Text("id")
	if !s.note(ctx, a, http.StatusOK, id) || !more {
		return 1
	}
	a = s.env.Client.Do(ctx, client.Request{
		URL: s.env.Hub(i+1) + "/api/signals/" + id + "/events", As: op.Keys[0],
		Body: map[string]any{"type": "note", "payload": map[string]any{"text": fmt.Sprint("fact ", i)}},
	})
	var added struct{ Event struct{ ID string } }
	_ = a.Into(http.StatusCreated, &added) // no answer is noted below
	s.note(ctx, a, http.StatusCreated, added.Event.ID)
	return 2
}

// note keeps what a writer heard; well tells that it was acknowledged.
func (s *scribes) note(ctx context.Context, a client.Answer, status int, id string) (well bool) {
	if a.Err != nil || a.Status != status {
		s.doubt.Add(1)
		_ = wait(ctx, time.Now().Add(50*time.Millisecond)) // nobody is well at the moment
		return false
	}
	s.wrote.Add(1)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.acked = append(s.acked, id)
	return true
}

// unfed counts the facts on record that are in the feed twice or not at all, and the
// acknowledged ones that are not on record.
func (s *scribes) unfed(ctx context.Context) (off, lost int, err error) {
	off, err = s.env.Count(ctx, `WITH facts AS (
			SELECT id, id AS signal_id, 'signal.created' AS type FROM api.signals WHERE market_id = ANY ($1)
			UNION ALL
			SELECT e.id, e.signal_id, 'signal.event' FROM api.signal_events e JOIN api.signals s ON s.id = e.signal_id WHERE s.market_id = ANY ($1)
		), fed AS (
			SELECT CASE WHEN type = 'signal.created' THEN data->>'id' ELSE data->'event'->>'id' END AS id, type, count(*) AS times
			FROM api.protocol_events WHERE market_id = ANY ($1) AND type IN ('signal.created', 'signal.event') GROUP BY 1, 2
		)
		SELECT count(*) FROM facts f FULL JOIN fed d ON d.id = f.id::text AND d.type = f.type WHERE f.id IS NULL OR d.times IS DISTINCT FROM 1`, s.markets)
	if err != nil {
		return 0, 0, err
	}
	lost, err = s.env.Count(ctx, `SELECT count(*) FROM unnest($1::uuid[]) AS a (id)
		WHERE NOT EXISTS (SELECT FROM api.signals s WHERE s.id = a.id) AND NOT EXISTS (SELECT FROM api.signal_events e WHERE e.id = a.id)`, s.acked)
	return off, lost, err
}

// trickle has writers write until ctx ends, with a pause between any two facts.
func (s *scribes) trickle(ctx context.Context, writers int, pause time.Duration) {
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for wait(ctx, time.Now().Add(pause)) == nil {
				s.fact(ctx, true)
			}
		})
	}
	wg.Wait()
}
