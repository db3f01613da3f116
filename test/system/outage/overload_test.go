package outage

import (
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalcast/signalcast/test/system/stack"
)

// slowWrites is SQL that delays the storage of each call by 3 ms, so that the database is the bottleneck instead of the CPU.
const slowWrites = `CREATE OR REPLACE FUNCTION public.slow_writes() RETURNS trigger LANGUAGE plpgsql AS
	'BEGIN PERFORM pg_sleep(0.003 * (SELECT count(*) FROM filed)); RETURN NULL; END';
	CREATE TRIGGER zz_slow_writes AFTER INSERT ON api.signals REFERENCING NEW TABLE AS filed
	FOR EACH STATEMENT EXECUTE FUNCTION public.slow_writes()`

// TestOverloadLosesNoCall sends three times as many calls as the ledger can store. Each call must be stored and acknowledged,
// or refused with 503 and Retry-After. The memory of the services must not grow with the number of calls. TestOverloadIsShed in
// pkg/ledgerclient measures the throughput and the latency of refusals.
func TestOverloadLosesNoCall(t *testing.T) {
	s := system(t)
	const rate, mayGrow = 1000, 64 << 20
	var markets []string
	for range 20 {
		markets = append(markets, s.NewNativeMarket(t, 5000, nil))
	}
	operators := s.SeedOperators(t, stack.Size(t, 300, 600, 2000))
	stack.Each(2*len(operators), 16, func(i int) { // makes the hubs verify the keys
		o := operators[i/2]
		_, _ = o.Try(t, http.MethodGet, s.HubAt(i)+stack.ProtocolPath+"/me", stack.Bearer(o.Key))
	})
	if _, err := s.DB(t).Exec(t.Context(), slowWrites); err != nil {
		t.Fatal(err)
	}
	fast := func() {
		if _, err := s.DB(t).Exec(t.Context(), "DROP FUNCTION IF EXISTS public.slow_writes() CASCADE"); err != nil {
			t.Error(err)
		}
	}
	defer fast()
	memory := func() (all []int64) {
		for _, name := range []string{"hub", "hub-2", "api"} {
			all = append(all, stack.RSS(t, s.PID(t, name)))
		}
		return all
	}
	before := memory()
	var mu sync.Mutex
	var acknowledged []stack.SentCall
	var refused, unanswered, others atomic.Int64
	stack.Steady(t, rate, time.Duration(stack.Size(t, 5, 8, 20))*time.Second, func(i int) {
		c := stack.SentCall{Operator: operators[i%len(operators)], Market: markets[i/len(operators)], Yes: i%2 == 0, Price: 5000}
		a, err := c.Send(t, s.HubAt(i))
		switch {
		case err != nil: // the hub was closing the connection
			unanswered.Add(1)
		case a.Status == http.StatusOK:
			c.ID = a.Text("id")
			mu.Lock()
			acknowledged = append(acknowledged, c)
			mu.Unlock()
		case a.Status == http.StatusServiceUnavailable && a.Header.Get("Retry-After") != "":
			refused.Add(1)
		case others.Add(1) < 5:
			t.Errorf("a call during overload was answered %v; want 200, or 503 with Retry-After", a)
		}
	})
	for i, after := range memory() {
		if after-before[i] > mayGrow {
			t.Errorf("the memory of process %d has grown by %d MB; want at most %d", i, (after-before[i])>>20, mayGrow>>20)
		}
	}
	fast()
	if refused.Load() == 0 || len(acknowledged) == 0 {
		t.Errorf("%d calls were acknowledged and %d were refused; want some of each", len(acknowledged), refused.Load())
	}
	if n, all := unanswered.Load(), refused.Load()+int64(len(acknowledged)); n*100 > all {
		t.Errorf("%d calls were not answered and %d were; want at most 1%% unanswered", n, all)
	}
	s.RequireStored(t, acknowledged)
	const active = "SELECT count(*) FROM pg_stat_activity WHERE usename = 'api_rw' AND state = 'active'"
	stack.Eventually(t, time.Minute, "the end of all statements in the database", func() bool { return stack.Query[int](t, s, active) == 0 })
	t.Logf("%d calls acknowledged, %d refused, %d unanswered", len(acknowledged), refused.Load(), unanswered.Load())
}
