package feed

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/localdb"
	"github.com/signalcast/signalcast/test/system/feedclient"
	"github.com/signalcast/signalcast/test/system/stack"
)

// resumption is a system whose readers lose their connections and resume.
type resumption struct {
	s         *stack.Stack
	writers   *stack.FeedWriters
	replicas  *replicas
	readers   []*feedclient.Reader // reader i uses route i of replicas
	undecided []string             // markets that are resolved during the test
	cuts      atomic.Int64
}

// TestResumedReadersReceiveEveryEventOnce checks that readers that lose their connection, their server, Redis or Postgres
// receive every event of their channels once and in order. This must also hold if transactions commit in a different order than
// they wrote.
func TestResumedReadersReceiveEveryEventOnce(t *testing.T) {
	s := start(t)
	const writers = 20
	each := stack.Size(t, 10, 100, 2000)
	r := &resumption{s: s, writers: s.NewFeedWriters(t, writers*each+stack.Size(t, 2000, 30_000, 200_000))}
	start, large := r.prepare(t)
	requireOvertaken := delayCommits(t, s)
	r.replicas = newReplicas(t, s)
	r.openReaders(t, start, large)

	var background, load sync.WaitGroup
	stop := make(chan struct{})
	endBackground := sync.OnceFunc(func() { close(stop); background.Wait() })
	defer endBackground()
	background.Go(func() { r.writers.Write(t, 3, 1<<30, 60*time.Millisecond, stop) })
	half := len(r.undecided) / 2
	load.Go(func() { r.writers.Write(t, writers, each, 0, nil) })
	load.Go(func() { r.resolveSlowly(t, r.undecided[:half]) })
	r.cutAll(t)
	load.Wait()
	if !testing.Short() && !t.Failed() {
		r.loseReplicas(t)
		load.Go(func() { r.resolveSlowly(t, r.undecided[half:]) })
		r.killAtRandom(t, stack.Size(t, 0, 60, 300))
		load.Wait()
	}
	endBackground()

	s.RequireReady(t)
	requireNumbered(t, s)
	r.writers.RequirePublished(t, 10*time.Second)
	requireAll(t, r.readers, storedEvents(t, s, start), time.Duration(stack.Size(t, 5, 60, 120))*time.Second)
	requireOvertaken()
	t.Logf("%d connections cut", r.cuts.Load())
}

// prepare resolves a market with more results than a process stores in memory, so that readers that start before these results
// must read the database. It returns the number of the last event before the results, and the market.
func (r *resumption) prepare(t *testing.T) (start int64, large string) {
	t.Helper()
	size := stack.Size(t, 30, 5000, 12_000) // the full size exceeds the events that Redis stores
	operators := r.s.SeedOperators(t, size)
	market := func(calls int) string {
		id, stored := r.s.NewNativeMarket(t, 5000, nil), make([]stack.StoredCall, calls)
		for i := range stored {
			stored[i] = stack.StoredCall{Operator: operators[i].ID, Yes: i%2 == 0, Price: 4000, Basis: 4000}
		}
		r.s.InsertCalls(t, id, stored)
		return id
	}
	large = market(size)
	for range stack.Size(t, 2, 6, 12) {
		r.undecided = append(r.undecided, market(min(size, 40)))
	}
	r.s.RefreshBoards(t)
	requireNumbered(t, r.s)
	start = stack.Query[int64](t, r.s, "SELECT seq FROM api.feed_head")
	r.s.Finalize(t, large, "YES")
	requireNumbered(t, r.s)
	return start, large
}

// requireNumbered waits until every committed fact has a number and is in the feed.
func requireNumbered(t *testing.T, s *stack.Stack) {
	t.Helper()
	stack.Eventually(t, time.Minute, "all facts to be numbered", func() bool {
		return stack.Query[int](t, s, `
SELECT (SELECT count(*) FROM api.outbox) + (SELECT count(*) FROM api.feed_drains) + (SELECT count(*) FROM api.score_drains)`) == 0
	})
}

// delayCommits delays the commit of one in twenty transactions that publish a fact by 50 ms. The facts of these transactions
// then have a position in the outbox, but are not yet visible. The returned function fails the test unless some of these facts
// received their number after facts with a later position.
func delayCommits(t *testing.T, s *stack.Stack) (requireOvertaken func()) {
	t.Helper()
	const create = `
CREATE TABLE api.test_written (id bigint PRIMARY KEY, signal_id uuid, event_id uuid);
CREATE FUNCTION api.test_delay() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = api, pg_temp AS $$
BEGIN
    INSERT INTO test_written VALUES (NEW.id, NEW.signal_id, NEW.event_id);
    IF random() < 0.05 THEN PERFORM pg_sleep(0.05); END IF;
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER test_delay AFTER INSERT ON api.outbox DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION api.test_delay();`
	const drop = `DROP TRIGGER test_delay ON api.outbox; DROP FUNCTION api.test_delay(); DROP TABLE api.test_written`
	const overtaken = `
SELECT count(*) FILTER (WHERE id < earlier) FROM (
    SELECT w.id, max(w.id) OVER (ORDER BY e.seq ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS earlier
    FROM api.test_written w JOIN api.protocol_events e ON e.signal_id = w.signal_id
        AND (w.event_id IS NULL AND e.type = 'signal.created' OR w.event_id::text = e.data->'event'->>'id')) o`
	exec := func(sql string) {
		t.Helper()
		if _, err := s.DB(t).Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	exec(create)
	return func() {
		t.Helper()
		n := stack.Query[int](t, s, overtaken)
		if t.Logf("%d events were numbered after later ones", n); n == 0 && !t.Failed() { // an event that is missing is not counted as overtaken
			t.Error("no transaction committed after a later one, so the test did not check the order")
		}
		exec(drop)
	}
}

// openReaders starts readers of every kind. A quarter of them starts to read before the large resolution.
func (r *resumption) openReaders(t *testing.T, start int64, large string) {
	t.Helper()
	now := stack.Query[int64](t, r.s, "SELECT seq FROM api.feed_head")
	kinds := []feedclient.Kind{
		feedclient.Stream, feedclient.Reopened, feedclient.Library, feedclient.Poll, feedclient.Reopened,
		feedclient.Stream, feedclient.Library, feedclient.Library, feedclient.Stream, feedclient.Reopened,
	}
	markets, handles := r.writers.Markets(), r.writers.Handles()
	for i := range stack.Size(t, 20, 50, 50) {
		o := feedclient.Options{
			Kind: kinds[(i/2)%len(kinds)], URL: "http://" + r.replicas.newRoute(t).proxy.Addr, ClientIP: fmt.Sprintf("10.3.0.%d", i+1),
			Channels: map[string]int64{},
		}
		channels := [][]string{
			{"signals"},
			{"signals", "market:" + markets[i%len(markets)]},
			{"signals:lane:SCIENCE", "resolutions", "signals"},
			{"market:" + large, "market:" + r.undecided[i%len(r.undecided)], "resolutions"},
			{"signals", "operator:" + handles[i%len(handles)], "signals:lane:MUSIC"},
		}[i%5]
		if o.Kind == feedclient.Poll {
			channels = []string{feedclient.AllEvents}
		}
		for _, c := range channels {
			o.Channels[c] = now
			if i%4 == 3 {
				o.Channels[c] = start
			}
		}
		reader := feedclient.Open(t.Context(), o)
		t.Cleanup(reader.Close)
		r.readers = append(r.readers, reader)
	}
}

// resolveSlowly resolves markets one after another. It repeats requests, because the test kills processes at the same time.
func (r *resumption) resolveSlowly(t *testing.T, markets []string) {
	client := stack.NewClient()
	for _, id := range markets {
		stack.Wait(t, time.Duration(stack.Size(t, 100, 3000, 10_000))*time.Millisecond)
		stack.Eventually(t, 30*time.Second, "the resolution of "+id, func() bool {
			a, err := client.Try(t, http.MethodPost, r.s.Hub+"/api/resolution/finalize", r.s.Admin(),
				stack.Body(stack.JSON{"marketId": id, "verdict": "YES"}))
			return err == nil && (a.Status == http.StatusOK || a.Code() == "already_resolved")
		})
	}
}

// cutAll cuts the connection of each reader repeatedly, each time after the reader has subscribed. It cuts readers that use the
// Go library less often, because the library waits up to five seconds before it reconnects.
func (r *resumption) cutAll(t *testing.T) {
	t.Helper()
	stack.Each(len(r.readers), len(r.readers), func(i int) {
		times := stack.Size(t, 2, 12, 20)
		if r.readers[i].Kind == feedclient.Library {
			times = stack.Size(t, 1, 4, 20)
		}
		for range times {
			r.requireSession(t, i, 0)
			before := r.readers[i].Counts().Sessions
			stack.Wait(t, time.Duration(20+rand.IntN(700))*time.Millisecond)
			r.replicas.cut(t, r.replicas.routes[i])
			r.cuts.Add(1)
			if r.readers[i].Kind != feedclient.Poll { // a reader that polls has no connection between two requests
				r.requireSession(t, i, before)
			}
		}
	})
}

// requireSession waits until the reader with index i has started more sessions than before.
func (r *resumption) requireSession(t *testing.T, i, before int) {
	t.Helper()
	reader := r.readers[i]
	stack.Eventually(t, time.Minute, fmt.Sprintf("a new session of reader %d (%s)", i, reader.Kind), func() bool {
		return reader.Counts().Sessions > before
	})
}

// loseReplicas kills one replica and later stops the other one with SIGTERM. Each time, the readers must continue at the other
// replica.
func (r *resumption) loseReplicas(t *testing.T) {
	t.Helper()
	for lost, kill := range []bool{true, false} {
		before := map[int]int{}
		for i, route := range r.replicas.routes {
			if route.to == lost {
				before[i] = r.readers[i].Counts().Sessions
			}
		}
		restart, ok := r.replicas.crash(t, lost, kill)
		if !ok {
			t.Fatal("a replica does not run; want both")
		}
		moved := slices.Collect(maps.Keys(before))
		moved = slices.DeleteFunc(moved, func(i int) bool { return r.readers[i].Kind == feedclient.Poll })
		stack.Each(len(moved), len(moved)+1, func(k int) { r.requireSession(t, moved[k], before[moved[k]]) })
		restart()
	}
}

// victims lists the kinds of processes and connections that killAtRandom kills, with their number in 60 kills.
var victims = map[string]int{"reader": 14, "proxy": 12, "replica": 10, "leader": 6, "api": 4, "redis": 8, "postgres": 6}

// killAtRandom kills n processes or connections at random. It does not wait until killed processes run again.
func (r *resumption) killAtRandom(t *testing.T, n int) {
	t.Helper()
	var order []string
	for name, of60 := range victims {
		order = append(order, slices.Repeat([]string{name}, of60*n/60)...)
	}
	rand.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	var restarts sync.WaitGroup
	defer restarts.Wait()
	last := map[string]int{}
	for _, name := range order {
		stack.Wait(t, time.Duration(50+rand.IntN(800))*time.Millisecond)
		stack.Eventually(t, time.Minute, "a running "+name+" that can be killed", func() bool { return r.kill(t, name, last, &restarts) })
	}
}

// kill kills a process or connection of the given kind. It returns false if there is none to kill. last contains the process
// ids that were killed last, by kind.
func (r *resumption) kill(t *testing.T, name string, last map[string]int, restarts *sync.WaitGroup) bool {
	t.Helper()
	switch name {
	case "reader":
		r.readers[rand.IntN(len(r.readers))].Kill()
		return true
	case "proxy":
		route := r.replicas.routes[rand.IntN(len(r.replicas.routes))]
		restarts.Go(func() { r.replicas.refuse(t, route, time.Duration(rand.IntN(500))*time.Millisecond) })
		return true
	case "replica":
		return r.killReplica(t, rand.IntN(2), restarts)
	case "leader":
		return r.killLeader(t, last, restarts)
	}
	pid, ok := r.s.FindPID(name)
	if !ok || pid == last[name] {
		return false
	}
	last[name] = pid
	if err := localdb.KillFamily(pid); err != nil {
		t.Fatalf("kill %s: %v", name, err)
	}
	return true
}

func (r *resumption) killReplica(t *testing.T, i int, restarts *sync.WaitGroup) bool {
	t.Helper()
	restart, ok := r.replicas.crash(t, i, true)
	if ok {
		restarts.Go(func() {
			stack.Wait(t, time.Duration(100+rand.IntN(1500))*time.Millisecond)
			restart()
		})
	}
	return ok
}

// killLeader kills the process that assigns numbers to events, and requires that another process continues. It returns false if
// there is no leader.
func (r *resumption) killLeader(t *testing.T, last map[string]int, restarts *sync.WaitGroup) bool {
	t.Helper()
	name, session, err := r.replicas.leader(t)
	if err != nil || session == 0 {
		return false
	}
	if number, isReplica := strings.CutPrefix(name, "replica-"); isReplica {
		i, err := strconv.Atoi(number)
		if err != nil || !r.killReplica(t, i, restarts) {
			return false
		}
	} else if !r.kill(t, "api", last, restarts) {
		return false
	}
	began, available := time.Now(), true
	stack.Eventually(t, time.Minute, "another process to number events", func() bool {
		_, next, err := r.replicas.leader(t)
		available = available && err == nil
		return next != 0 && next != session
	})
	// Other processes try to take the lease every second. The limit is ten times that, for a loaded machine. The time
	// is not checked if the database was unavailable in between.
	if took := time.Since(began); took > 10*time.Second && available {
		t.Errorf("no process numbered events for %v after the leader was killed; want at most 10 s", took)
	}
	return true
}
