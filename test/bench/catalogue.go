package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/signalcast/signalcast/test/system/stack"
)

// catalogueSQL creates the procedure bench.sweep. The procedure performs the minimum database work of a catalogue sweep: it
// writes the newest quote and a price snapshot of each market, with 100 markets per transaction.
const catalogueSQL = `
CREATE SCHEMA IF NOT EXISTS bench;
CREATE TABLE bench.quotes (LIKE api.market_quotes INCLUDING ALL);
CREATE TABLE bench.prices (LIKE api.market_prices INCLUDING ALL);
CREATE PROCEDURE bench.sweep(n int) LANGUAGE plpgsql AS $$
BEGIN
    FOR low IN 0 .. n - 1 BY 100 LOOP
        INSERT INTO bench.quotes AS q (market_id, yes_bps, at, volume)
        SELECT i::text, 5000, clock_timestamp(), 1 FROM generate_series(low, low + 99) i
        ON CONFLICT (market_id) DO UPDATE SET yes_bps = excluded.yes_bps, at = excluded.at, volume = excluded.volume;
        INSERT INTO bench.prices (market_id, at, yes_bps)
        SELECT i::text, clock_timestamp(), 5000 FROM generate_series(low, low + 99) i;
        COMMIT;
    END LOOP;
END $$;`

// anonymous is an HTTP client that sends no credential.
var anonymous = stack.NewClient()

// sweepResult contains the measurements of one sweep, which reads all markets of the primary venue.
type sweepResult struct {
	took          time.Duration
	markets       float64
	api, database time.Duration // CPU time
	memory        int64         // memory of the api at the end of the sweep
}

// catalogue measures catalogue sweeps of bookMarkets markets. The first sweep stores all markets. Each later sweep follows a
// restart of the api and updates their prices. The limits are the minimum work to fetch and decode the markets, and to write
// them.
func (b *bench) catalogue() {
	s := b.start(nil, stack.Env("VENUE_SIM_MARKETS", strconv.Itoa(bookMarkets)), stack.Env("MOVEMENT_EVERY", "10m"))
	s.sweep("first")
	s.exec(catalogueSQL)
	var api, apiLimit, database, databaseLimit, times []float64
	for range b.rounds {
		old := s.pid("api")
		s.Kill(b, "api")
		stack.Eventually(b, time.Minute, "a new api process", func() bool {
			pid, ok := s.FindPID("api")
			return ok && pid != old
		})
		w := s.sweep("refresh")
		api, database = append(api, micros(w.api, w.markets)), append(database, micros(w.database, w.markets))
		times = append(times, w.took.Seconds())
		b.awaitIdle()
		before := procTime(os.Getpid())
		n := b.fetchAll(s.Venues)
		apiLimit = append(apiLimit, micros(procTime(os.Getpid())-before, float64(n)))
		before = treeTime(s.pid("postgres"))
		s.exec(fmt.Sprintf("CALL bench.sweep(%d)", bookMarkets))
		databaseLimit = append(databaseLimit, micros(treeTime(s.pid("postgres"))-before, bookMarkets))
	}
	b.report.ratio("catalogue, api / fetch and decode, cpu a market", "us", lower, 0, api, apiLimit)
	b.report.ratio("catalogue, Postgres / least writes, cpu a market", "us", lower, 0, database, databaseLimit)
	b.report.ratio("catalogue, refresh of 50,000 / a minute", "s", lower, 0, times, []float64{60})
}

// sweep waits for the first complete sweep of an api process that has just started, and returns its measurements. The parameter
// what is the name of the sweep in the output.
func (s *system) sweep(what string) (w sweepResult) {
	pid, metrics := s.pid("api"), "http://"+s.Setting(s.b, "api", "METRICS_ADDR")+"/metrics"
	database := treeTime(s.pid("postgres"))
	stack.Eventually(s.b, 8*time.Minute, "the end of a sweep", func() bool {
		res, err := anonymous.Try(s.b, http.MethodGet, metrics)
		if err != nil {
			return false // the sweep has not started yet
		}
		seen := samples(res.Body)
		w = sweepResult{
			took:    time.Duration(seen["sc_catalogue_sweep_seconds_total"] * float64(time.Second)),
			markets: seen["sc_catalogue_answers_total"],
			api:     procTime(pid), database: treeTime(s.pid("postgres")) - database, memory: resident(pid),
		}
		return seen["sc_catalogue_sweeps_total"] > 0
	})
	s.b.report.note("catalogue %s: %.0f markets in %.1f s, api %.1f s CPU and %d MB, Postgres %.1f s CPU",
		what, w.markets, w.took.Seconds(), w.api.Seconds(), w.memory>>20, w.database.Seconds())
	return w
}

// samples parses Prometheus text and returns the values of the metrics that describe the primary venue, by name.
func samples(metrics []byte) map[string]float64 {
	out := map[string]float64{}
	for line := range strings.Lines(string(metrics)) {
		if name, rest, ok := strings.Cut(line, `{provider="polymarket"} `); ok {
			out[name], _ = strconv.ParseFloat(strings.TrimSpace(rest), 64)
		}
	}
	return out
}

// fetchAll reads all pages of the market list of the venue and decodes the fields of each market. It returns the number of
// markets. Its CPU time is the limit for the fetching part of a sweep.
func (b *bench) fetchAll(venues string) (n int) {
	q := url.Values{"closed": {"false"}, "limit": {"100"}}
	for {
		var page struct {
			Markets []struct {
				ID, ConditionID, Slug, Question, Description, Outcomes, OutcomePrices, ClobTokenIDs, Volume, Liquidity, EndDate string
				Closed, AcceptingOrders, EnableOrderBook                                                                        bool
				BestBid, BestAsk                                                                                                json.Number
			} `json:"markets"`
			Next string `json:"next_cursor"`
		}
		stack.Get(b, venues+"/gamma/markets/keyset?"+q.Encode()).Require(http.StatusOK).Decode(&page)
		n += len(page.Markets)
		if page.Next == "" {
			return n
		}
		q.Set("after_cursor", page.Next)
	}
}
