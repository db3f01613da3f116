package recovery

import (
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/test/system/stack"
)

// lateAfter is the longest time from an event with at most 1,000 recipients to their notifications, for 99 of 100 notifications.
const lateAfter = 2 * time.Second

// notified returns a system that stores the time of each commit.
func notified(t *testing.T) *stack.Stack {
	t.Helper()
	return stack.Exclusive(t, stack.Hubs(2), stack.ScoredAtOnce(), stack.Postgres("track_commit_timestamp=on"))
}

// delays returns the times from the events to the commits of the notifications of a kind with a condition.
func delays(t *testing.T, s *stack.Stack, kind, where string, args ...any) *stack.Times {
	t.Helper()
	rows, err := s.DB(t).Query(t.Context(), `SELECT extract(epoch FROM pg_xact_commit_timestamp(xmin) - created_at)::float8
		FROM hub.notifications WHERE kind = $1 AND `+where, append([]any{kind}, args...)...)
	if err != nil {
		t.Fatal(err)
	}
	var out stack.Times
	var seconds float64
	if _, err := pgx.ForEachRow(rows, []any{&seconds}, func() error {
		out.Add(time.Duration(seconds * float64(time.Second)))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return &out
}

// requirePrompt logs delays and fails the test if the 99th percentile is longer than lateAfter. Smaller runs share their machine with
// other tests, so their limit is five times as long.
func requirePrompt(t *testing.T, what string, d *stack.Times) {
	t.Helper()
	limit := lateAfter * time.Duration(stack.Size(t, 5, 5, 1))
	t.Logf("%d notifications of %s: p50 %v, p99 %v, longest %v", d.Count(), what, d.Quantile(.5), d.Quantile(.99), d.Quantile(1))
	if got := d.Quantile(.99); d.Count() == 0 || got > limit {
		t.Errorf("99%% of the %d notifications of %s were stored within %v of the event, want %v", d.Count(), what, got, limit)
	}
}

// TestEachResultNotifiesOnce resolves ten markets a second, each with 100 calls, and kills the hub that runs the worker at random
// moments during the second half. Each caller must have exactly one notification of each result. Those of the first half must
// be prompt.
func TestEachResultNotifiesOnce(t *testing.T) {
	s := notified(t)
	markets, callers := make([]string, stack.Size(t, 40, 120, 1000)), s.SeedOperators(t, 1000)
	stack.Each(len(markets), 8, func(i int) { markets[i] = s.NewNativeMarket(t, 5000, nil) })
	for i, market := range markets {
		var calls []stack.StoredCall
		for j := range 100 {
			calls = append(calls, stack.StoredCall{Operator: callers[(100*i+j)%len(callers)].ID, Yes: j%2 == 0, Price: 5000, Basis: 5000})
		}
		s.InsertCalls(t, market, calls)
	}
	crowd, half := stack.NewCrowd(20), len(markets)/2
	resolve := func(markets []string) {
		stack.Steady(t, 10, time.Duration(len(markets))*time.Second/10, func(i int) {
			for attempt := range 60 {
				a, err := crowd.Try(t, http.MethodPost, s.HubAt(attempt)+"/api/resolution/finalize", s.Admin(),
					stack.Body(stack.JSON{"marketId": markets[i], "verdict": "YES"}))
				if err == nil && (a.Status == http.StatusOK || attempt > 0 && a.Status == http.StatusConflict && a.Code() == "already_resolved") {
					return // a hub that was killed may have resolved the market without an answer
				}
				stack.Wait(t, 250*time.Millisecond)
			}
			t.Errorf("market %s was not resolved", markets[i])
		})
	}
	stored := func() int {
		return stack.Query[int](t, s, "SELECT count(*) FROM hub.notifications WHERE kind = 'call_resolved' AND market_id = ANY ($1)", markets)
	}
	resolve(markets[:half])
	stack.Eventually(t, time.Minute, "the notifications of the first half", func() bool { return stored() >= 100*half })
	requirePrompt(t, "results", delays(t, s, "call_resolved", "market_id = ANY ($2)", markets))

	var resolving sync.WaitGroup
	resolving.Go(func() { resolve(markets[half:]) })
	hubs, kills, ended := []string{"hub", "hub-2"}, stack.Size(t, 2, 3, 20), 0
	leader := func() int {
		return stack.Query[int](t, s, "SELECT coalesce(min(pid), 0) FROM pg_locks WHERE locktype = 'advisory' AND objid = 7201029 AND granted")
	}
	for i := 0; ended < kills && i < 3*kills; i++ {
		stack.Wait(t, time.Duration(rand.IntN(2000))*time.Millisecond)
		before := leader()
		s.Crash(t, hubs[i%2])
		if leader() != before {
			ended++
		}
	}
	resolving.Wait()
	stack.Eventually(t, time.Minute, "the notifications of the second half", func() bool { return stored() >= 100*len(markets) })
	requireOnce := func(when string) {
		t.Helper()
		facts := stack.Query[int](t, s, `SELECT count(DISTINCT (user_id, signal_id)) FROM hub.notifications
			WHERE kind = 'call_resolved' AND count = 1 AND market_id = ANY ($1)`, markets)
		if n := stored(); n != 100*len(markets) || facts != n || ended < kills {
			t.Errorf("%s: %d notifications of %d results after %d kills of the worker, want one for each of %d after %d",
				when, n, facts, ended, 100*len(markets), kills)
		}
	}
	requireOnce("at the end")
	d := delays(t, s, "call_resolved", "market_id = ANY ($2)", markets[half:])
	t.Logf("%d results during %d kills of the worker: p50 %v, p99 %v, longest %v", d.Count(), ended, d.Quantile(.5), d.Quantile(.99), d.Quantile(1))
}

// TestManyFollowersDelayNoOther files a call of an operator with many followers, and calls of operators with few. All followers of
// the former must be notified within a minute, and those of the latter promptly.
func TestManyFollowersDelayNoOther(t *testing.T) {
	s := notified(t)
	many, others := stack.Size(t, 5_000, 20_000, 100_000), s.SeedOperators(t, stack.Size(t, 31, 61, 301))
	market := s.NewNativeMarket(t, 5000, nil)
	var ids []string
	for _, o := range others {
		ids = append(ids, o.ID)
	}
	follow := func(followers int, of []string) {
		t.Helper()
		if err := pgx.BeginFunc(t.Context(), s.DB(t), func(tx pgx.Tx) error {
			var b pgx.Batch
			b.Queue("SET LOCAL session_replication_role = replica") // the trigger counts one follow at a time
			b.Queue(`INSERT INTO hub.follows (follower, followed, created_at)
				SELECT gen_random_uuid(), f::uuid, now() FROM unnest($1::text[]) f, generate_series(1, $2::integer)`, of, followers)
			b.Queue("INSERT INTO hub.follow_totals (user_id, followers) SELECT f::uuid, $2 FROM unnest($1::text[]) f", of, followers)
			return tx.SendBatch(t.Context(), &b).Close()
		}); err != nil {
			t.Fatal(err)
		}
	}
	large, small := others[0], others[1:]
	follow(many, ids[:1])
	follow(100, ids[1:])
	large.NewCall(t, market, "YES", 5000, nil)
	stack.Steady(t, 10, time.Duration(len(small))*time.Second/10, func(i int) { small[i].NewCall(t, market, "NO", 5000, nil) })
	stored := func(where string) int {
		return stack.Query[int](t, s, "SELECT count(*) FROM hub.notifications WHERE kind = 'forecaster_called' AND "+where, ids[0], ids[1:])
	}
	stack.Eventually(t, 2*time.Minute, "all notifications", func() bool {
		return stored("actor = $1::uuid OR actor = ANY ($2::uuid[])") >= many+100*len(small)
	})
	requirePrompt(t, "calls with 100 followers", delays(t, s, "forecaster_called", "actor = ANY ($2::uuid[])", ids[1:]))
	d := delays(t, s, "forecaster_called", "actor = $2::uuid", ids[0])
	t.Logf("%d followers of one call: longest %v", d.Count(), d.Quantile(1))
	if got := d.Quantile(1); d.Count() != many || got > time.Minute {
		t.Errorf("%d of %d followers were notified, the last one %v after the call; want all within a minute", d.Count(), many, got)
	}
}

// TestEachNoticeNotifiesOnce lets the calls of operators show skill in waves, and a webhook fail for three days, and kills the hub that
// reads the notices of the ledger at random moments. Each operator must have exactly one notification, and the owner of the webhook one
// for each deactivation.
func TestEachNoticeNotifiesOnce(t *testing.T) {
	s := stack.Exclusive(t, stack.Hubs(2))
	people, waves := s.SeedOperators(t, stack.Size(t, 120, 300, 1000)), 6
	var ids []string
	for _, o := range people {
		ids = append(ids, o.ID)
	}
	exec := func(sql string, args ...any) {
		t.Helper()
		if _, err := s.DB(t).Exec(t.Context(), sql, args...); err != nil {
			t.Fatal(err)
		}
	}
	exec(`INSERT INTO api.board_rows (user_id, lane, tier, handle, score, won, lost, void, total, calls, takes, month_score, month_done, cast_all, cast_month, counted, viewer_minutes)
		SELECT id, '', tier, handle, 0, 20, 0, 0, 20, 0, 0, 0, 0, 0, 0, 0, 0 FROM api.users WHERE id = ANY ($1::uuid[]) ON CONFLICT DO NOTHING`, ids)
	exec(`INSERT INTO api.operator_tallies (user_id, lane, price_bps, confidence, calls, wins)
		SELECT unnest($1::uuid[]), 'SCIENCE', 5000, 0, 20, 20 ON CONFLICT DO NOTHING`, ids)

	owner := s.NewOperator(t)
	var calls atomic.Int64
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		calls.Add(1)
		w.WriteHeader(http.StatusInternalServerError)
	}))
	t.Cleanup(receiver.Close)
	key, webhooks := stack.Bearer(owner.Key), s.API+"/api/v1/webhooks"
	hook := stack.Post(t, webhooks, key, stack.Body(stack.JSON{"url": receiver.URL, "channels": []string{"me"}})).
		Require(http.StatusCreated).Text("id")
	fail := func() {
		t.Helper()
		stack.Eventually(t, time.Minute, "a failed delivery", func() bool {
			return stack.Query[bool](t, s, `SELECT coalesce(bool_or(failing_since IS NOT NULL), false) FROM api.webhooks WHERE id = $1 AND active`, hook)
		})
		exec(`UPDATE api.webhooks SET failing_since = now() - interval '3 days' WHERE id = $1`, hook)
		stack.Eventually(t, 2*time.Minute, "the deactivation of the webhook", func() bool {
			return !stack.Query[bool](t, s, `SELECT active FROM api.webhooks WHERE id = $1`, hook)
		})
	}
	stored := func(kind string) int {
		return stack.Query[int](t, s, "SELECT count(*) FROM hub.notifications WHERE kind = $1", kind)
	}
	leader := func() int {
		return stack.Query[int](t, s, "SELECT coalesce(min(pid), 0) FROM pg_locks WHERE locktype = 'advisory' AND objid = 7201034 AND granted")
	}
	owner.NewCall(t, s.NewNativeMarket(t, 5000, nil), "YES", 5000, nil)

	hubs, ended := []string{"hub", "hub-2"}, 0
	for i := range waves {
		exec(`INSERT INTO api.board_due (user_id, lane) SELECT unnest($1::uuid[]), '' ON CONFLICT DO NOTHING`,
			ids[i*len(ids)/waves:(i+1)*len(ids)/waves])
		if i == 1 {
			fail()
		}
		stack.Wait(t, time.Duration(2000+rand.IntN(4000))*time.Millisecond)
		before := leader()
		if s.Crash(t, hubs[i%2]); leader() != before {
			ended++
		}
	}
	stack.Eventually(t, 2*time.Minute, "the notifications of all operators", func() bool { return stored("skill_confirmed") >= len(ids) })
	stack.Eventually(t, time.Minute, "the notification of the owner", func() bool { return stored("webhook_deactivated") >= 1 })
	stack.Send(t, http.MethodPatch, webhooks+"/"+hook, key, stack.Body(stack.JSON{"active": true})).Require(http.StatusOK)
	fail()
	exec(`INSERT INTO api.board_due (user_id, lane) SELECT unnest($1::uuid[]), '' ON CONFLICT DO NOTHING`, ids) // shown before
	stack.Eventually(t, time.Minute, "the second notification of the owner", func() bool { return stored("webhook_deactivated") >= 2 })
	stack.Eventually(t, time.Minute, "the edges of all operators", func() bool {
		return stack.Query[int](t, s, "SELECT count(*) FROM api.board_due") == 0
	})
	stack.Eventually(t, time.Minute, "the read of all notices", func() bool {
		return stack.Query[bool](t, s, "SELECT (SELECT id FROM hub.notice_cursor) = (SELECT max(id) FROM api.notices)")
	})
	users := stack.Query[int](t, s, "SELECT count(DISTINCT user_id) FROM hub.notifications WHERE kind = 'skill_confirmed' AND count = 1")
	if n := stored("skill_confirmed"); n != len(ids) || users != n || ended == 0 {
		t.Errorf("%d notifications of %d operators after %d kills of the worker, want one for each of %d", n, users, ended, len(ids))
	}
	mine := stack.Query[int](t, s, "SELECT count(*) FROM hub.notifications WHERE kind = 'webhook_deactivated' AND user_id = $1 AND count = 1", owner.ID)
	if n := stored("webhook_deactivated"); n != 2 || mine != 2 {
		t.Errorf("%d notifications of two deactivations after %d failed deliveries, %d of them to the owner", n, calls.Load(), mine)
	}
}
