package e2e

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/localdb"
)

const (
	scanMarkets = 540 // a pass takes 500
	scanPass    = 500
	scanGrace   = 10 * time.Second
	scanLapse   = 25 * time.Second // in which some markets end by themselves
	opposed     = 60               // markets with a second call, on the other side
	scanWorkers = 8
)

// ending is how a market of one venue ends: what is told to the venue before the
// first scan, what once its final word was seen and not yet believed, and what
// must come of it.
type ending struct {
	venue, name   string
	create        obj
	first, second []obj
	verdict       string // empty: none
	skip          string // why there is none
	flag          bool   // it is disputed here
}

func tell(state, verdict string, more ...obj) obj {
	out := obj{"state": state}
	if verdict != "" {
		out["outcome"] = verdict
	}
	for _, m := range more {
		maps.Copy(out, m)
	}
	return out
}

// endings are the rows of the venues' table of states that the simulator can make.
func endings() (out []ending) {
	all := []string{"polymarket", "kalshi", "limitless", "manifold"}
	add := func(venues []string, e ending) {
		for _, v := range venues {
			e.venue = v
			out = append(out, e)
		}
	}
	yes, no, void, open := tell("resolved", "YES"), tell("resolved", "NO"), tell("resolved", "INVALID"), tell("open", "")
	add(all, ending{name: "yes", first: []obj{yes}, verdict: "YES"})
	add(all, ending{name: "no", first: []obj{no}, verdict: "NO"})
	add(all, ending{name: "split", first: []obj{void}, verdict: "INVALID"})
	add(all, ending{name: "proposed, then final", first: []obj{tell("proposed", "NO"), no}, verdict: "NO"})
	add(all, ending{name: "closed", first: []obj{tell("closed", "")}, skip: "provisional"})
	add(all, ending{name: "open", skip: "undecided"})
	add(all, ending{name: "opened again", first: []obj{yes}, second: []obj{open}, skip: "undecided"})
	add(all, ending{name: "opened again, then no", first: []obj{yes}, second: []obj{open, no}, verdict: "NO"})
	add(all, ending{name: "amended", first: []obj{yes}, second: []obj{no}, verdict: "NO"})
	add(all, ending{name: "amended to void", first: []obj{no}, second: []obj{void}, verdict: "INVALID"})
	add(all, ending{name: "flagged here", first: []obj{yes}, skip: "disputed", flag: true})
	three, ended := all[:3], obj{"endDate": "lapses"}
	add(three, ending{name: "proposed", first: []obj{tell("proposed", "YES")}, skip: "provisional"})
	add(all[3:], ending{name: "named just now", first: []obj{tell("proposed", "YES")}, verdict: "YES"})
	add(three, ending{name: "disputed", first: []obj{tell("disputed", "NO")}, skip: "provisional"})
	add(three, ending{name: "disputed, then yes", first: []obj{tell("disputed", "NO"), yes}, verdict: "YES"})
	add(all[:1], ending{name: "past its end", create: ended, skip: "undecided"}) // it goes on trading
	add(all[1:], ending{name: "past its end", create: ended, skip: "provisional"})
	k, l, m := []string{"kalshi"}, []string{"limitless"}, []string{"manifold"}
	blank := obj{"resolution": "blank"}
	add(k, ending{name: "blank yes", first: []obj{tell("resolved", "YES", blank)}, verdict: "YES"})
	add(k, ending{name: "blank no", first: []obj{tell("resolved", "NO", blank)}, verdict: "NO"})
	add(k, ending{name: "blank void", first: []obj{tell("resolved", "INVALID", blank)}, verdict: "INVALID"})
	add(k, ending{name: "void", first: []obj{tell("resolved", "INVALID", obj{"resolution": "void"})}, verdict: "INVALID"})
	add(k, ending{name: "a share", first: []obj{tell("resolved", "INVALID", obj{"payout": 0.24})}, verdict: "INVALID"})
	add(k, ending{name: "amended by the venue", first: []obj{yes}, second: []obj{{"venueState": "amended", "outcome": "NO"}}, skip: "provisional"})
	add(k, ending{name: "paused", first: []obj{{"venueState": "inactive"}}, skip: "provisional"})
	add(k, ending{name: "not begun", first: []obj{{"venueState": "initialized"}}, skip: "unknown"})
	add(l, ending{name: "pool, yes", create: obj{"kind": "amm"}, first: []obj{yes}, verdict: "YES"})
	add(l, ending{name: "unclear", first: []obj{tell("resolved", "YES", obj{"resolution": "none"})}, skip: "provisional"})
	add(l, ending{name: "unclear, then no", first: []obj{tell("resolved", "NO", obj{"resolution": "none"}), no}, verdict: "NO"})
	add(l, ending{name: "a draft", first: []obj{{"venueState": "DRAFT"}}, skip: "unknown"})
	add(l, ending{name: "created", first: []obj{{"venueState": "CREATED"}}, skip: "unknown"})
	add(l, ending{name: "flagged there", first: []obj{{"venueState": "FUNDED_FLAGGED"}}, skip: "undecided"})
	add(m, ending{name: "a share", first: []obj{tell("resolved", "INVALID", obj{"payout": 0.37})}, verdict: "INVALID"})
	add(m, ending{name: "called off", first: []obj{tell("resolved", "INVALID", obj{"resolution": "CANCEL"})}, verdict: "INVALID"})
	return out
}

// startOther runs a second stack with the programs of the shared one.
func startOther(t *testing.T, env ...string) *stack {
	t.Helper()
	up(t)
	dir, err := os.MkdirTemp("", "signalcast-e2e-")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o711); err != nil { // the database may run as another user
		t.Fatal(err)
	}
	r := &launch{dir: filepath.Join(dir, "stack")}
	cmd := exec.Command(filepath.Join(filepath.Dir(shared.run.dir), "local"), "up", "--dir", r.dir, "--fresh", "--ports", "auto", "--bin", filepath.Join(shared.run.dir, "bin"))
	cmd.Env = append(plainEnv(), env...)
	cmd.Stdout, cmd.Stderr = &r.out, &r.out
	if r.child, err = localdb.StartChild(cmd, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		r.stop()
		if err := r.child.Err(); err != nil {
			t.Errorf("the stack did not stop in order: %v\n%s", err, r.out.String())
		}
	})
	if err := r.waitReady(); err != nil {
		t.Fatal(err)
	}
	s, err := read(r.dir)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// together does something n times, a few at a time.
func together(n int, do func(i int)) {
	var wait sync.WaitGroup
	for w := range scanWorkers {
		wait.Go(func() {
			for i := w; i < n; i += scanWorkers {
				do(i)
			}
		})
	}
	wait.Wait()
}

// ended is a market of the test.
type ended struct {
	ending
	id string
}

// scanReport is what a scan answers.
type scanReport struct {
	Busy              bool
	Scanned, Resolved int
	Scored            int
	Skipped           map[string]int
	Errors            []any
	TookMs            int64
}

// told is the sum of what a report says of its markets.
func (r scanReport) told() (n int) {
	for _, k := range r.Skipped {
		n += k
	}
	return n + r.Resolved + len(r.Errors)
}

// TestScanOfHundreds: hundreds of markets of all venues that ended in every way
// are settled rightly and once, the others are reported with the reason.
func TestScanOfHundreds(t *testing.T) {
	s := startOther(t, "RATE_LIMIT_ANON=0", "RESOLUTION_GRACE="+scanGrace.String())
	began := time.Now()
	kinds := endings()
	markets := make([]ended, scanMarkets)
	lapse := time.Now().Add(scanLapse)
	together(len(markets), func(i int) {
		e := kinds[i%len(kinds)]
		body := obj{"question": fmt.Sprintf("Will %s number %d be (%s)?", e.venue, i, e.name), "yesPrice": 0.4}
		if e.venue != "manifold" { // which has no book
			body["spread"] = 0
		}
		maps.Copy(body, e.create)
		if body["endDate"] == "lapses" {
			body["endDate"] = stamp(lapse)
		}
		markets[i] = ended{e, post(t, s.Venues+"/sim/"+e.venue+"/markets", payload(body)).is(http.StatusCreated).str("id")}
	})
	callers, against := make([]*person, 12), make([]*person, 2)
	for _, list := range [][]*person{callers, against} {
		for i := range list {
			list[i] = s.person(t)
		}
	}
	together(len(markets), func(i int) { callers[i%len(callers)].call(t, markets[i].id, "YES", 4000) })
	together(opposed, func(i int) { against[i%len(against)].call(t, markets[i].id, "NO", 6000) })
	t.Logf("%d markets of %d kinds with %d calls after %v", len(markets), len(kinds), len(markets)+opposed, time.Since(began).Round(time.Millisecond))

	eventually(t, func() bool { return s.row(t, "SELECT count(*)::text FROM api.unconfirmed_signals") == "0" }, "each market confirmed by its venue")
	time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second))) // Kalshi gives closing times in whole seconds
	s.turnAll(t, markets, func(e ending) []obj { return e.first })
	for _, m := range markets {
		if m.flag {
			post(t, s.Hub+"/api/resolution/dispute", s.admin(), payload(obj{"marketId": m.id, "reason": "doubted"})).is(http.StatusOK)
		}
	}
	calls := s.venueCalls(t)
	turned := time.Now()
	resolved := s.firstSights(t, markets)
	s.turnAll(t, markets, func(e ending) []obj { return e.second[:min(len(e.second), 1)] })
	resolved += s.pass(t).Resolved // a sight of what lies between
	s.turnAll(t, markets, func(e ending) []obj { return e.second[min(len(e.second), 1):] })
	passes := 3
	eventually(t, func() bool { // at one venue a result is final only after a second
		resolved, passes = resolved+s.pass(t).Resolved, passes+1
		return s.sighted(t, markets)
	}, "the first sight of what they say last")
	due, elsewhere := time.Now().Add(scanGrace), 0
	if due.Before(lapse) {
		due = lapse
	}
	t.Logf("everything said and seen after %v", time.Since(turned).Round(time.Millisecond))
	eventually(t, func() bool { return time.Now().After(due) }, "the end of the wait")
	eventually(t, func() bool { // what has stood is read again and claimed
		r := s.pass(t)
		resolved, passes, elsewhere = resolved+r.Resolved, passes+1, elsewhere+r.Scanned-r.told()
		t.Logf("pass %d: %+v", passes, r)
		return r.Resolved == 0 && r.Skipped["grace"] == 0
	}, "the end of all grace")
	last := s.pass(t)
	t.Logf("%d passes claimed %d outcomes in %v; venue calls: %v", passes+1, resolved, time.Since(turned).Round(time.Millisecond), s.venueCalls(t).since(calls))
	claimed := s.holdAgainst(t, markets, last)
	if polled := claimed - resolved; polled < 0 || elsewhere > polled {
		t.Errorf("%d outcomes were claimed, %d by passes; %d markets of passes have no reason", claimed, resolved, elsewhere)
	}
	if took := time.Since(began); took > time.Minute {
		t.Logf("everything took %v", took)
	}
}

// sighted says whether every final word that there is to come has been read.
func (s *stack) sighted(t *testing.T, markets []ended) bool {
	t.Helper()
	var ids, verdicts []string
	for _, m := range markets {
		if m.verdict != "" {
			ids, verdicts = append(ids, m.id), append(verdicts, m.verdict)
		}
	}
	return s.row(t, `SELECT count(*)::text FROM unnest($1::text[], $2::text[]) AS w (id, verdict)
		JOIN api.markets m ON m.market_id = w.id WHERE m.final_verdict IS DISTINCT FROM w.verdict`, ids, verdicts) == "0"
}

// turnAll tells each venue how its markets stand.
func (s *stack) turnAll(t *testing.T, markets []ended, steps func(ending) []obj) {
	t.Helper()
	together(len(markets), func(i int) {
		for _, step := range steps(markets[i].ending) {
			post(t, s.Venues+"/sim/"+markets[i].venue+"/markets/"+markets[i].id, payload(step)).is(http.StatusOK)
		}
	})
}

// pass is a scan; it says of each market that it read what became of it, but for
// those that the poll, which goes on by itself, claimed at that moment.
func (s *stack) pass(t *testing.T) (r scanReport) {
	t.Helper()
	s.scan(t).into(&r)
	if r.told() > r.Scanned || len(r.Errors) != 0 || r.Scanned > scanPass {
		t.Errorf("a report of %d markets tells of %d: %+v", r.Scanned, r.told(), r)
	}
	return r
}

// firstSights scans until every market was read, which takes two passes. What is
// final waits, and nothing is claimed.
func (s *stack) firstSights(t *testing.T, markets []ended) (resolved int) {
	t.Helper()
	for n := range 2 {
		r := s.pass(t)
		t.Logf("pass %d: %+v", n+1, r)
		if r.Scanned != scanPass {
			t.Errorf("pass %d read %d markets, there were %d", n+1, r.Scanned, len(markets))
		}
		if n == 0 && (r.Resolved != 0 || r.Skipped["grace"] < scanPass/3) {
			t.Errorf("at first sight: %+v", r)
		}
		resolved += r.Resolved
	}
	var waiting []string
	for _, m := range markets {
		if len(m.second) > 0 {
			waiting = append(waiting, m.id)
		}
	}
	if n := s.row(t, "SELECT count(*)::text FROM api.market_resolutions WHERE market_id = ANY ($1)", waiting); n != "0" {
		t.Fatalf("%s outcomes were claimed at first sight: the machine was slower than the grace", n)
	}
	return resolved
}

// holdAgainst compares outcomes, results, events and reasons with what each
// market had to come to, and gives the number of outcomes.
func (s *stack) holdAgainst(t *testing.T, markets []ended, last scanReport) (all int) {
	t.Helper()
	outcomes := s.pairs(t, "SELECT market_id, string_agg(outcome || ' ' || resolver || ' ' || source, ',') FROM api.market_resolutions GROUP BY 1")
	results := s.pairs(t, `SELECT s.market_id, string_agg(CASE WHEN s.yes THEN 'YES' ELSE 'NO' END || ' ' || r.status || ' ' || r.score, ',' ORDER BY s.yes DESC)
		FROM api.signal_results r JOIN api.signals s ON s.id = r.signal_id GROUP BY 1`)
	skipped, claimed, scored := map[string]int{}, map[string]int{}, 0
	for i, m := range markets {
		want, score := "", ""
		if m.verdict != "" {
			claimed[m.verdict]++
			want = m.verdict + " oracle " + m.venue
			score = map[string]string{"YES": "YES won 60", "NO": "YES lost -40", "INVALID": "YES void 0"}[m.verdict]
			scored++
			if i < opposed {
				score += "," + map[string]string{"YES": "NO lost -60", "NO": "NO won 40", "INVALID": "NO void 0"}[m.verdict]
				scored++
			}
		} else {
			skipped[m.skip]++
		}
		if outcomes[m.id] != want || results[m.id] != score {
			t.Errorf("%s at %s (%s): outcome %q, results %q, want %q and %q", m.id, m.venue, m.name, outcomes[m.id], results[m.id], want, score)
		}
	}
	if last.Resolved != 0 || last.told() != last.Scanned || !maps.Equal(last.Skipped, skipped) {
		t.Errorf("the last pass says %+v, want %v", last, skipped)
	}
	all = claimed["YES"] + claimed["NO"] + claimed["INVALID"]
	if n := s.row(t, "SELECT count(*) || ' ' || count(DISTINCT market_id) FROM api.market_resolutions"); n != fmt.Sprint(all, " ", all) {
		t.Errorf("%s outcomes, want %d", n, all)
	}
	if n := s.row(t, "SELECT count(*) || ' ' || count(DISTINCT signal_id) FROM api.signal_results"); n != fmt.Sprint(scored, " ", scored) {
		t.Errorf("%s results, want %d", n, scored)
	}
	eventually(t, func() bool {
		return s.row(t, "SELECT count(*) || ' ' || count(DISTINCT market_id) FROM api.protocol_events WHERE type = 'market.resolved'") == fmt.Sprint(all, " ", all)
	}, "one event of each outcome")
	t.Logf("claimed once each: %v, %d results; left: %v", claimed, scored, skipped)
	return all
}

// pairs reads two columns of text.
func (s *stack) pairs(t *testing.T, sql string) map[string]string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, s.DatabaseURL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	rows, err := conn.Query(ctx, sql)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	var key, value string
	if _, err := pgx.ForEachRow(rows, []any{&key, &value}, func() error { out[key] = value; return nil }); err != nil {
		t.Fatal(err)
	}
	return out
}
