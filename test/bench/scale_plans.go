package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/test/system/stack"
)

// reading is a page of the product with the SQL statements that read the data of the page.
type reading struct {
	name       string
	statements []statement
	flat       bool // has targets; the other pages are not read by visitors
}

// statement is a named SQL statement of the api. The function args returns the arguments for sample k as SQL expressions.
type statement struct {
	name string
	args func(l *ledger, k int) []string
}

// plan contains the cost of one execution: of a statement, or of all statements of a page together.
type plan struct {
	pages float64 // buffer pages of 8 kB that were accessed
	ms    float64
}

// The lowest and the highest possible UUID. No call has these ids.
const (
	firstID = "'00000000-0000-0000-0000-000000000000'"
	lastID  = "'ffffffff-ffff-ffff-ffff-ffffffffffff'"
)

func fixed(args ...string) func(*ledger, int) []string {
	return func(*ledger, int) []string { return args }
}

// pick returns a number below n for sample k. The samples are spread over the range in the same way for each n.
func pick(k, n int) int { return int(float64(k)*0.6180339887*float64(n)) % n }

func (l *ledger) marketID(k int) string { return fmt.Sprintf("'kalshi-SIZE-%d'", pick(k, l.markets)) }

func (l *ledger) operatorID(k int) string {
	return fmt.Sprintf("bench.operator(%d)", pick(k, l.operators))
}

// feedPosition returns a time in the newer half of the feed for sample k, and the lowest call ID, as SQL expressions. The calls
// of the ledger are evenly distributed over 1000 days.
func (l *ledger) feedPosition(k int) []string {
	back := pick(k, l.size/2)
	return []string{fmt.Sprintf("now() - interval '10 days' - %d * (interval '1000 days' / %d)", back, l.size), firstID}
}

const (
	month  = "now() - interval '28 days'"
	people = "'{independent,house}'"
)

// scaleReads lists the pages whose costs in the small and in the large ledger are compared. The arguments of a statement are in
// the order of the parameters in the code that sqlc generated.
var scaleReads = []reading{
	{"feed, first page", []statement{{"ListRecentSignals", fixed("50")}}, true},
	{"feed, open calls", []statement{{"ListOpenSignals", fixed("now()", "50")}}, true},
	{"feed, against the crowd", []statement{{"ListSignalsAgainstCrowd", fixed("50")}}, true},
	{"feed, deep page", []statement{
		{"ListSignals", func(l *ledger, k int) []string {
			return append(l.feedPosition(k), "'0001-01-01'", firstID, "''", "''", "''", "50")
		}},
	}, true},
	{"market's ledger", []statement{
		{"GetMarketTotals", func(l *ledger, k int) []string { return []string{l.marketID(k)} }},
		{"ListSignalsOfMarket", func(l *ledger, k int) []string { return []string{l.marketID(k), "'9999-01-01'", lastID, "50"} }},
	}, true},
	{"crowd", []statement{
		{"GetMarketTotals", func(l *ledger, k int) []string { return []string{l.marketID(k)} }},
		{"CountTopCrowd", func(l *ledger, k int) []string { return []string{"5.0", "40", firstID, l.marketID(k)} }},
	}, true},
	{"crowd, the cut of the best quarter", []statement{{"GetTopCut", fixed()}}, false},
	{"board by score", []statement{{"ListBoard", fixed("''", month, people, "'scores'", "200")}}, true},
	{"board by broadcast score", []statement{{"ListBoard", fixed("''", month, people, "'broadcast28'", "100")}}, true},
	{"board by edge", []statement{{"ListEdgeBoard", fixed("''", people, "200")}}, true},
	{"board by edge in a lane", []statement{{"ListEdgeBoard", fixed("'ECONOMY'", people, "200")}}, true},
	{"operator's record", []statement{
		{"GetRecord", func(l *ledger, k int) []string { return []string{l.operatorID(k)} }},
		{"GetRank", func(l *ledger, k int) []string { return []string{month, l.operatorID(k)} }},
		{"ListRecentSignalsOfOperator", func(l *ledger, k int) []string { return []string{l.operatorID(k), "20"} }},
		{"ListMoments", func(l *ledger, k int) []string { return []string{l.operatorID(k), "20"} }},
	}, true},
	{"first places of the field", []statement{{"ListRanked", fixed(month, "100")}}, true},
	{"operator's skill", []statement{{"ListTallies", func(l *ledger, k int) []string { return []string{l.operatorID(k)} }}}, true},
	{"operator's skill of 28 days", []statement{
		{"ListTalliesSince", func(l *ledger, k int) []string { return []string{l.operatorID(k), month} }},
	}, true},
	{"operator's calls to export, a page", []statement{
		{"ListExportedCalls", func(l *ledger, k int) []string {
			return []string{l.operatorID(k), "'0001-01-01'", firstID, "now()", "200"}
		}},
	}, true},
}

const planSamples = 15

// plans executes the statements of a page with the arguments of each sample. The parameter on is the database connection. The
// result contains the median numbers of buffer pages and milliseconds. It excludes the first two samples, which fill the caches
// of the connection.
func (l *ledger) plans(on *pgx.Conn, r reading) plan {
	var pages, ms []float64
	for k := range planSamples + 2 {
		var sum plan
		for _, s := range r.statements {
			p := l.explain(on, s, k)
			sum.pages, sum.ms = sum.pages+p.pages, sum.ms+p.ms
		}
		if k >= 2 { // the first samples fill the caches of the connection
			pages, ms = append(pages, sum.pages), append(ms, sum.ms)
		}
	}
	return plan{quartile(pages, 2), quartile(ms, 2)}
}

// explain executes a statement of the api with EXPLAIN and the arguments of sample k. It prepares the statement first, as the
// api does. The parameter on is the database connection.
func (l *ledger) explain(on *pgx.Conn, s statement, k int) plan {
	l.prepare(on, s.name)
	return l.explained(on, execute(s.name, s.args(l, k)...))
}

func execute(name string, args ...string) string {
	if len(args) == 0 {
		return "EXECUTE " + name
	}
	return "EXECUTE " + name + "(" + strings.Join(args, ", ") + ")"
}

// prepare prepares a statement of the api on a connection unless it is prepared already. The check uses lower case, because
// Postgres converts the unquoted name in PREPARE to lower case.
func (l *ledger) prepare(on *pgx.Conn, name string) {
	var known bool
	check(on.QueryRow(l.b.ctx, "SELECT EXISTS (SELECT FROM pg_prepared_statements WHERE name = lower($1))", name).Scan(&known))
	if !known {
		must(on.Exec(l.b.ctx, "PREPARE "+name+" AS "+statementText(name)))
	}
}

// statementText returns the SQL text of a named statement from the code that sqlc generated for the api. It ends the run if the
// statement does not exist.
func statementText(name string) string {
	files := must(filepath.Glob(filepath.Join(must(stack.Root()), "services", "api", "internal", "postgres", "db", "*.sql.go")))
	for _, file := range files {
		if _, text, ok := strings.Cut(string(must(os.ReadFile(file))), "`-- name: "+name+" :"); ok {
			_, text, _ = strings.Cut(text, "\n")
			text, _, _ = strings.Cut(text, "`")
			return text
		}
	}
	check(fmt.Errorf("statement %s was not found in %d generated files", name, len(files)))
	return ""
}

func (l *ledger) explained(on *pgx.Conn, sql string) plan {
	var raw []byte
	check(on.QueryRow(l.b.ctx, "EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) "+sql).Scan(&raw))
	var found [1]struct {
		Plan struct {
			Hit  float64 `json:"Shared Hit Blocks"`
			Read float64 `json:"Shared Read Blocks"`
		}
		Time float64 `json:"Execution Time"`
	}
	check(json.Unmarshal(raw, &found))
	return plan{found[0].Plan.Hit + found[0].Plan.Read, found[0].Time}
}

// comparePlans compares the costs of each page in the small and in the large ledger. It measures the small ledger twice: with its
// normal plans, and with plans that use indexes as in a large ledger. The second measurement excludes savings that are possible
// only with few operators and markets.
func (b *bench) comparePlans(small, large *ledger) {
	for _, r := range scaleReads {
		var ours, base, byKey [2][]float64
		for range b.rounds {
			for _, side := range []struct {
				l  *ledger
				on *pgx.Conn
				to *[2][]float64
			}{{small, small.prepared, &base}, {small, small.byKey, &byKey}, {large, large.prepared, &ours}} {
				p := side.l.plans(side.on, r)
				side.to[0], side.to[1] = append(side.to[0], p.pages), append(side.to[1], p.ms)
			}
			stack.Wait(b, 100*time.Millisecond)
		}
		job := fmt.Sprintf("%s at %s / %s, ", r.name, brief(large.size), brief(small.size))
		pages, ms := 2.0, 1.6
		if !r.flat {
			pages, ms = 0, 0
		}
		b.report.ratio(job+"pages", "pages", lower, 0, ours[0], base[0])
		b.report.ratio(job+"pages, both by key", "pages", lower, pages, ours[0], byKey[0])
		b.report.ratio(job+"time", "ms", lower, 0, ours[1], base[1])
		b.report.ratio(job+"time, both by key", "ms", lower, ms, ours[1], byKey[1])
	}
}
