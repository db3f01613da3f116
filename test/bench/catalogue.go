package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// catalogueSQL is the least that a sweep has to write: the newest quote and a
// snapshot of each market, a page at a time.
const catalogueSQL = `
CREATE TABLE bench.quotes (LIKE api.market_quotes INCLUDING ALL);
CREATE TABLE bench.prices (LIKE api.market_prices INCLUDING ALL);
CREATE PROCEDURE bench.sweep(n int) LANGUAGE plpgsql AS $$
BEGIN
    FOR low IN 0 .. n - 1 BY 100 LOOP
        INSERT INTO bench.quotes AS q (market_id, yes_bps, at, volume)
        SELECT i::text, 5000, clock_timestamp(), 1 FROM generate_series(low, low + 99) i
        ON CONFLICT (market_id) DO UPDATE SET yes_bps = excluded.yes_bps, at = excluded.at, volume = excluded.volume;
        INSERT INTO bench.prices (market_id, at, yes_bps) SELECT i::text, clock_timestamp(), 5000 FROM generate_series(low, low + 99) i;
        COMMIT;
    END LOOP;
END $$;`

// swept is one full sweep of the primary venue.
type swept struct {
	took          time.Duration
	markets       float64
	api, database time.Duration // CPU
	memory        int64         // resident, of the api when it was done
}

// catalogue measures full sweeps over bookMarkets markets: the first, which stores
// them all, and those of an api that comes back, which find other prices; beside
// the least that fetching, reading and writing so many takes.
func (b *bench) catalogue(ctx context.Context) error {
	b.endStack() // it would follow its own markets beside this
	s, err := startStack(ctx, b.dir, "catalogue", "VENUE_SIM_MARKETS="+strconv.Itoa(bookMarkets), "MOVEMENT_EVERY=10m")
	if err != nil {
		return err
	}
	defer s.stop(b.logs)
	first, err := s.sweep(ctx)
	if err != nil {
		return err
	}
	b.tell("first", first)
	db, err := connect(ctx, s)
	if err != nil {
		return err
	}
	defer db.Close()
	d := &seed{db: db}
	if err := d.run(ctx, "CREATE SCHEMA IF NOT EXISTS bench;"+catalogueSQL); err != nil {
		return err
	}
	var api, apiLimit, database, databaseLimit, times []float64
	for range b.rounds {
		if err := s.restart(ctx, "api"); err != nil {
			return err
		}
		w, err := s.sweep(ctx)
		if err != nil {
			return err
		}
		b.tell("refresh", w)
		api, database = append(api, micros(w.api, w.markets)), append(database, micros(w.database, w.markets))
		times = append(times, w.took.Seconds())
		b.calm(ctx)
		n, spent, err := fetchAll(ctx, s.Venues)
		if err != nil {
			return err
		}
		apiLimit = append(apiLimit, micros(spent, float64(n)))
		before := treeTime(s.pid("postgres"))
		if err := d.run(ctx, fmt.Sprintf("CALL bench.sweep(%d)", bookMarkets)); err != nil {
			return err
		}
		databaseLimit = append(databaseLimit, micros(treeTime(s.pid("postgres"))-before, bookMarkets))
	}
	b.report.ratio("catalogue, api / fetch and decode, cpu a market", "us", lower, 0, api, apiLimit)
	b.report.ratio("catalogue, Postgres / least writes, cpu a market", "us", lower, 0, database, databaseLimit)
	b.report.ratio("catalogue, refresh of 50,000 / a minute", "s", lower, 0, times, []float64{60})
	return nil
}

func (b *bench) tell(what string, w swept) {
	b.report.note("catalogue %s: %.0f markets in %.1f s, api %.1f s CPU and %d MB, Postgres %.1f s CPU",
		what, w.markets, w.took.Seconds(), w.api.Seconds(), w.memory>>20, w.database.Seconds())
}

// sweep waits for the first full sweep of an api that has just started.
func (s *stack) sweep(ctx context.Context) (swept, error) {
	ctx, cancel := context.WithTimeout(ctx, 8*time.Minute)
	defer cancel()
	pid := s.pid("api")
	metrics, err := setting(pid, "METRICS_ADDR")
	if err != nil {
		return swept{}, err
	}
	database := treeTime(s.pid("postgres"))
	for ctx.Err() == nil {
		_, res, err := get(ctx, "http://"+metrics+"/metrics", nil)
		if err == nil {
			seen := samples(res.Body)
			if seen["sc_catalogue_sweeps_total"] > 0 {
				return swept{
					took:    time.Duration(seen["sc_catalogue_sweep_seconds_total"] * float64(time.Second)),
					markets: seen["sc_catalogue_answers_total"],
					api:     procTime(pid), database: treeTime(s.pid("postgres")) - database, memory: resident(pid),
				}, nil
			}
		}
		pause(ctx, 20*time.Millisecond)
	}
	return swept{}, fmt.Errorf("no sweep came to its end: %w", ctx.Err())
}

// samples reads the values of the primary venue.
func samples(body io.Reader) map[string]float64 {
	out := map[string]float64{}
	raw, _ := io.ReadAll(body)
	for line := range strings.Lines(string(raw)) {
		name, rest, ok := strings.Cut(line, `{provider="polymarket"} `)
		if !ok {
			continue
		}
		if v, err := strconv.ParseFloat(strings.TrimSpace(rest), 64); err == nil {
			out[name] = v
		}
	}
	return out
}

// setting is one of the environment of a process.
func setting(pid int, name string) (string, error) {
	env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil {
		return "", err
	}
	for pair := range strings.SplitSeq(string(env), "\x00") {
		if value, ok := strings.CutPrefix(pair, name+"="); ok {
			return value, nil
		}
	}
	return "", fmt.Errorf("process %d has no %s", pid, name)
}

// resident is the memory of a process.
func resident(pid int) int64 {
	raw, _ := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if f := strings.Fields(string(raw)); len(f) > 1 {
		pages, _ := strconv.ParseInt(f[1], 10, 64)
		return pages * int64(os.Getpagesize())
	}
	return 0
}

// restart ends a service, which the launcher starts again.
func (s *stack) restart(ctx context.Context, name string) error {
	old := s.pid(name)
	if err := syscall.Kill(old, syscall.SIGTERM); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		if err := s.load(); err == nil && s.pid(name) != old {
			return nil
		}
		if ctx.Err() != nil {
			return fmt.Errorf("%s did not come back: %w", name, ctx.Err())
		}
		pause(ctx, 5*time.Millisecond)
	}
}

// fetchAll reads every page of the venue's list in this process and decodes it into
// the strings that a market has.
func fetchAll(ctx context.Context, venues string) (n int, spent time.Duration, err error) {
	before := procTime(os.Getpid())
	cursor := ""
	for {
		q := url.Values{"closed": {"false"}, "limit": {"100"}}
		if cursor != "" {
			q.Set("after_cursor", cursor)
		}
		status, res, err := get(ctx, venues+"/gamma/markets/keyset?"+q.Encode(), nil)
		if err != nil || status != http.StatusOK {
			return 0, 0, fmt.Errorf("read the venue's list: status %d, %w", status, err)
		}
		var page struct {
			Markets []struct {
				ID, ConditionID, Slug, Question, Description, Outcomes, OutcomePrices, ClobTokenIds, Volume, Liquidity, EndDate string
				Closed, AcceptingOrders, EnableOrderBook                                                                        bool
				BestBid, BestAsk                                                                                                json.Number
			} `json:"markets"`
			Next string `json:"next_cursor"`
		}
		if err := json.NewDecoder(res.Body).Decode(&page); err != nil {
			return 0, 0, err
		}
		n += len(page.Markets)
		if cursor = page.Next; cursor == "" {
			return n, procTime(os.Getpid()) - before, nil
		}
	}
}
