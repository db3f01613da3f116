package main

import (
	"fmt"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/procfs"

	"github.com/signalcast/signalcast/test/system/stack"
)

const (
	scaleWriters = 5_000
	scaleClients = 64
	longRecord   = 10_000
)

// compareWrites files calls in both ledgers alternately and compares the CPU time of one call.
func (b *bench) compareWrites(small, large *ledger) {
	filers := map[*ledger]*filer{}
	costs := map[*ledger]*[2][]float64{small: {}, large: {}}
	for l := range costs {
		first := l.operators + 1000
		l.exec("SELECT bench.add_writers($1, $2)", first, scaleWriters)
		l.exec("SELECT bench.add_markets('kalshi-BENCH-', 'kalshi', $1)", writeMarkets)
		l.addKeys(first, scaleWriters)
		l.settle("api.users", "api.operator_keys", "api.markets", "api.operator_totals")
		filers[l] = newFiler(l.tokens, "kalshi-BENCH-")
		b.warm(l.Hub, filers[l])
	}
	for range b.rounds {
		for _, l := range []*ledger{small, large} {
			b.awaitQuiet(l.system)
			before, database := l.cpuTime(), treeTime(l.pid("postgres"))
			done := b.load(l.Hub, scaleClients, b.length, filers[l].one)
			l.awaitPublished() // publishing the event is part of the cost of a call
			to, n := costs[l], float64(done.n)
			to[0] = append(to[0], micros(l.cpuTime()-before, n))
			to[1] = append(to[1], micros(treeTime(l.pid("postgres"))-database, n))
		}
	}
	job := fmt.Sprintf("one call filed, %d clients, %s / %s, ", scaleClients, brief(large.size), brief(small.size))
	b.report.ratio(job+"cpu of all parts", "us", lower, 1.3, costs[large][0], costs[small][0])
	b.report.ratio(job+"postgres cpu", "us", lower, 0, costs[large][1], costs[small][1])
}

// compareChange measures, in each ledger, how long the boards take to update after one new call, and how long a board takes
// to read before this update. It files the call while the leader cannot update the boards.
func (b *bench) compareChange(small, large *ledger) {
	times := map[*ledger]*[2][]float64{small: {}, large: {}}
	for range max(b.rounds, 5) {
		for _, l := range []*ledger{small, large} {
			fold, read := l.change()
			to := times[l]
			to[0], to[1] = append(to[0], fold), append(to[1], read)
		}
	}
	for i, what := range []string{"boards folded", "board of 50 read"} {
		job := fmt.Sprintf("%s after one change, %s", what, brief(large.size))
		b.report.ratio(job+", / 1 ms", "ms", lower, 1, times[large][i], []float64{1})
		b.report.ratio(job+" / "+brief(small.size), "ms", lower, 1.6, times[large][i], times[small][i])
	}
}

// change takes the lock that the leader needs to update the boards, and files a call. It returns the duration of the update
// (fold) and the duration of reading a board (read), in milliseconds.
func (l *ledger) change() (fold, read float64) {
	stack.Eventually(l.b, 10*time.Minute, "boards that include the whole feed", func() bool {
		return list[int64](l.system, "SELECT h.seq - b.seq FROM api.feed_head h, api.board_state b")[0] == 0
	})
	must(l.prepared.Exec(l.b.ctx, "SELECT pg_advisory_lock(7201002)"))
	defer func() { _, _ = l.prepared.Exec(l.b.ctx, "SELECT pg_advisory_unlock(7201002)") }()
	c := dial(l.Hub)
	defer func() { _ = c.Close() }()
	l.changes++
	check((&filer{tokens: l.tokens}).file(c, l.changes, "kalshi-BENCH-"+strconv.Itoa(writeMarkets-1-l.changes)))
	l.awaitPublished()
	for range 3 { // the first runs fill the caches of the connection
		read = l.explain(l.prepared, statement{"ListBoard", fixed("''", month, people, "'scores'", "50")}, 0).ms
		fold = l.foldOnce()
	}
	return fold, read
}

// foldOnce executes one update of the boards in the same way as the api, rolls it back, and returns the duration in
// milliseconds.
func (l *ledger) foldOnce() (ms float64) {
	for _, name := range []string{"PlanBoards", "FoldBoardRows", "MarkEdgesDue", "AgeBoards"} {
		l.prepare(l.prepared, name)
	}
	tx := must(l.prepared.Begin(l.b.ctx))
	defer func() { _ = tx.Rollback(l.b.ctx) }()
	var seq, since string
	began := time.Now().UTC().Add(-28*24*time.Hour - 10*time.Second).Format("'2006-01-02T15:04:05.000000Z'")
	plan := execute("PlanBoards", began, "25000")
	check(tx.QueryRow(l.b.ctx, plan, pgx.QueryExecModeSimpleProtocol).Scan(&seq, &since, nil))
	since = "'" + since + "'"
	for _, step := range []string{
		plan, execute("FoldBoardRows", since, seq), execute("MarkEdgesDue", seq), execute("AgeBoards", seq, since),
	} {
		ms += l.explained(l.prepared, step).ms
	}
	return ms
}

// plainAggregate is an SQL query that computes one board from all calls and results, without the stored counters.
const plainAggregate = `SELECT s.user_id, sum(r.score) AS score, count(*), count(*) FILTER (WHERE r.status = 'won'),
		count(*) FILTER (WHERE r.status = 'lost')
	FROM api.signals s LEFT JOIN api.signal_results r ON r.signal_id = s.id GROUP BY s.user_id ORDER BY score DESC LIMIT 40`

// recount compares the CPU time that Postgres uses for the command `api recount` and for the query plainAggregate. The
// command computes every counter from calls and results and compares it with the stored value.
func (b *bench) recount(l *ledger) {
	var ours, plain []float64
	cpu := func(do func()) float64 {
		before := treeTime(l.pid("postgres"))
		do()
		return float64((treeTime(l.pid("postgres")) - before).Milliseconds())
	}
	for range b.rounds {
		b.awaitIdle()
		plain = append(plain, cpu(func() { l.exec(plainAggregate) }))
		ours = append(ours, cpu(func() { l.command("recount") }))
	}
	b.report.ratio("recount of "+brief(l.size)+" / the board as an aggregate, cpu", "ms", lower, 1.3, ours, plain)
}

// export reads the public record of an operator with 50 calls. It then inserts longRecord more calls of this operator and reads
// the record again. It notes the duration and the maximum memory of hub and api. It runs last, because it inserts calls without
// updating the counters.
func (b *bench) export(l *ledger) {
	peak := func(service string) float64 {
		status := must(must(procfs.NewProc(l.pid(service))).NewStatus())
		return float64(status.VmHWM) / (1 << 20)
	}
	for _, n := range []int{0, longRecord} {
		if n > 0 {
			l.exec("SELECT bench.add_record(bench.operator($1::int), $2)", 1, n)
		}
		for _, service := range []string{"hub", "api"} { // resets the recorded peak to the current memory
			check(os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", l.pid(service)), []byte("5"), 0))
		}
		began := time.Now()
		record := stack.Get(b, l.Hub+"/api/operator/operator000001/record").Require(http.StatusOK)
		b.report.note("record of %d calls: %.1f MB in %s, peak of the hub %.0f MB, of the api %.0f MB", n+50,
			float64(len(record.Body))/1e6, time.Since(began).Round(time.Millisecond), peak("hub"), peak("api"))
	}
}
