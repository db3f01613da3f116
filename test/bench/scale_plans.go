package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// reading is a page of the product by the statements that make it.
type reading struct {
	name       string
	statements []statement
	flat       bool // held to the targets; else read behind the back of readers
}

// statement is one of the ledger's own, with the arguments of sample k as SQL.
type statement struct {
	name string
	args func(l *archive, k int) []string
}

// plan is what one run of a statement took.
type plan struct {
	pages float64 // of 8 kB, touched
	ms    float64
}

// Ids that nobody has: before all others of their time, and behind them.
const (
	noone  = "'00000000-0000-0000-0000-000000000000'"
	lastID = "'ffffffff-ffff-ffff-ffff-ffffffffffff'"
)

func fixed(args ...string) func(*archive, int) []string {
	return func(*archive, int) []string { return args }
}

// pick spreads samples over a range, the same part of it at each size.
func pick(k, n int) int { return int(float64(k)*0.6180339887*float64(n)) % n }

func aMarket(l *archive, k int) string { return fmt.Sprintf("'kalshi-SIZE-%d'", pick(k, l.markets)) }

func aUser(l *archive, k int) string { return fmt.Sprintf("bench.operator(%d)", pick(k, l.operators)) }

// aPlace is a place in the feed, in its newer half: times follow from numbers, and an
// id that nobody has stands before all others of its time.
func aPlace(l *archive, k int) []string {
	back := pick(k, l.size/2)
	return []string{fmt.Sprintf("now() - interval '10 days' - %d * (interval '1000 days' / %d)", back, l.size), noone}
}

const month = "now() - interval '28 days'"

var people = "'{independent,house}'"

// scaleReads are the pages that must not grow with the ledger. Arguments have the order of the generated parameters.
var scaleReads = []reading{
	{"feed, first page", []statement{{"ListRecentSignals", fixed("50")}}, true},
	{"feed, open calls", []statement{{"ListOpenSignals", fixed("now()", "50")}}, true},
	{"feed, against the crowd", []statement{{"ListSignalsAgainstCrowd", fixed("50")}}, true},
	{"feed, deep page", []statement{
		{"ListSignals", func(l *archive, k int) []string {
			return append(aPlace(l, k), "'0001-01-01'", noone, "''", "''", "''", "50")
		}},
	}, true},
	{"market's ledger", []statement{
		{"GetMarketTotals", func(l *archive, k int) []string { return []string{aMarket(l, k)} }},
		{"ListSignalsOfMarket", func(l *archive, k int) []string { return []string{aMarket(l, k), "'9999-01-01'", lastID, "50"} }},
	}, true},
	{"crowd", []statement{
		{"GetMarketTotals", func(l *archive, k int) []string { return []string{aMarket(l, k)} }},
		{"CountTopCrowd", func(l *archive, k int) []string { return []string{"5.0", "40", noone, aMarket(l, k)} }},
	}, true},
	{"crowd, the cut of the best quarter", []statement{{"GetTopCut", fixed()}}, false},
	{"board by score", []statement{{"ListBoard", fixed("''", month, people, "'scores'", "200")}}, true},
	{"board by broadcast score", []statement{{"ListBoard", fixed("''", month, people, "'broadcast28'", "100")}}, true},
	{"board by edge", []statement{{"ListEdgeBoard", fixed("''", people, "200")}}, true},
	{"board by edge in a lane", []statement{{"ListEdgeBoard", fixed("'ECONOMY'", people, "200")}}, true},
	{"operator's record", []statement{
		{"GetRecord", func(l *archive, k int) []string { return []string{aUser(l, k)} }},
		{"GetRank", func(l *archive, k int) []string { return []string{month, aUser(l, k)} }},
		{"ListRecentSignalsOfOperator", func(l *archive, k int) []string { return []string{aUser(l, k), "20"} }},
		{"ListMoments", func(l *archive, k int) []string { return []string{aUser(l, k), "20"} }},
	}, true},
	{"first places of the field", []statement{{"ListRanked", fixed(month, "100")}}, true},
	{"operator's skill", []statement{{"ListTallies", func(l *archive, k int) []string { return []string{aUser(l, k)} }}}, true},
	{"operator's skill of 28 days", []statement{
		{"ListTalliesSince", func(l *archive, k int) []string { return []string{aUser(l, k), month} }},
	}, true},
	{"operator's calls to export, a page", []statement{
		{"ListExportedCalls", func(l *archive, k int) []string { return []string{aUser(l, k), "'0001-01-01'", noone, "now()", "200"} }},
	}, true},
}

const planSamples = 15

// plans runs a page's statements with many arguments and gives the medians.
func (l *archive) plans(ctx context.Context, on *pgx.Conn, r reading) (plan, error) {
	var pages, ms []float64
	for k := range planSamples + 2 {
		var one plan
		for _, s := range r.statements {
			p, err := l.explain(ctx, on, s, k)
			if err != nil {
				return one, fmt.Errorf("%s: %w", s.name, err)
			}
			one.pages, one.ms = one.pages+p.pages, one.ms+p.ms
		}
		if k >= 2 { // the first ones fill the caches of the connection
			pages, ms = append(pages, one.pages), append(ms, one.ms)
		}
	}
	return plan{median(pages), median(ms)}, nil
}

// explain runs one of the ledger's statements as it prepares them.
func (l *archive) explain(ctx context.Context, on *pgx.Conn, s statement, k int) (plan, error) {
	if err := prepare(ctx, on, s.name); err != nil {
		return plan{}, err
	}
	args := ""
	if list := s.args(l, k); len(list) > 0 {
		args = "(" + strings.Join(list, ", ") + ")"
	}
	return explained(ctx, on, "EXECUTE "+s.name+args)
}

// prepare prepares a statement under its name in lower case, which is how Postgres reads the name in EXECUTE.
func prepare(ctx context.Context, on *pgx.Conn, name string) error {
	var known bool
	err := on.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_prepared_statements WHERE name = lower($1))", name).Scan(&known)
	if err != nil || known {
		return err
	}
	text, err := statementText(name)
	if err != nil {
		return err
	}
	_, err = on.Exec(ctx, "PREPARE "+name+" AS "+text)
	return err
}

func explained(ctx context.Context, on *pgx.Conn, sql string) (plan, error) {
	var raw []byte
	if err := on.QueryRow(ctx, "EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) "+sql).Scan(&raw); err != nil {
		return plan{}, err
	}
	var said []struct {
		Plan struct {
			Hit  float64 `json:"Shared Hit Blocks"`
			Read float64 `json:"Shared Read Blocks"`
		}
		Time float64 `json:"Execution Time"`
	}
	if err := json.Unmarshal(raw, &said); err != nil || len(said) != 1 {
		return plan{}, fmt.Errorf("the plan %.200s: %w", raw, err)
	}
	return plan{said[0].Plan.Hit + said[0].Plan.Read, said[0].Time}, nil
}

// comparePlans sets the statements of both ledgers side by side: pages against the small
// ledger as it is planned, and as a large one is, which tells what grows with the rows
// from what a small ledger saves by remembering its few operators and markets.
func (b *bench) comparePlans(ctx context.Context, small, large *archive) error {
	for _, r := range scaleReads {
		var ours, base, byKey [2][]float64
		for range b.rounds {
			for _, side := range []struct {
				l  *archive
				on *pgx.Conn
				to *[2][]float64
			}{{small, small.prepared, &base}, {small, small.byKey, &byKey}, {large, large.prepared, &ours}} {
				p, err := side.l.plans(ctx, side.on, r)
				if err != nil {
					return err
				}
				side.to[0], side.to[1] = append(side.to[0], p.pages), append(side.to[1], p.ms)
			}
			pause(ctx, 100*time.Millisecond)
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
	return nil
}

// brief is 10000 as 10k.
func brief(n int) string {
	switch {
	case n >= 1_000_000:
		return fmt.Sprintf("%dM", n/1_000_000)
	case n >= 1000:
		return fmt.Sprintf("%dk", n/1000)
	}
	return fmt.Sprint(n)
}
