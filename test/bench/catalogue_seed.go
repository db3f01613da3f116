package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	bookMarkets = 50_000 // of the primary venue, open and priced
	perEvent    = 4
	vocabulary  = 30_000
	firstMarket = 90_000_000
)

// agos are the moments of which each market of the book has a snapshot.
var agos = []time.Duration{25 * time.Hour, 7 * time.Hour, 2 * time.Hour, 20 * time.Minute, time.Second}

// book makes the titles of many markets, of words that are as often as words are.
type book struct {
	words []string
	pick  *rand.Zipf
	r     *rand.Rand
}

func newBook() *book {
	r := rand.New(rand.NewPCG(1, 2))
	k := &book{r: r, pick: rand.NewZipf(r, 1.1, 4, vocabulary-1), words: make([]string, vocabulary)}
	for i := range k.words {
		letters := make([]byte, 3+r.IntN(8))
		for j := range letters {
			letters[j] = "eeetaoinshrdlucmwfgypbvkjxqz"[r.IntN(28)]
		}
		k.words[i] = string(letters)
	}
	return k
}

// often is a word by how often it is used, any is one of all.
func (k *book) often() string { return k.words[k.pick.Uint64()] }
func (k *book) any() string   { return k.words[k.r.IntN(vocabulary)] }

func (k *book) title() string {
	words := make([]string, 9)
	for i := range words {
		words[i] = k.often()
	}
	return "Will the " + strings.Join(words, " ") + "?"
}

// query is what somebody types: a word, its beginning, two, a typo, a whole phrase.
func (k *book) query() string {
	a, b := k.often(), k.any()
	return []string{a, b[:3], a + " " + b, b[1:] + "x", "will the " + a + " " + k.often(), k.often() + " " + a}[k.r.IntN(6)]
}

// addBook stores the markets with their prices and, for the limit, their titles in
// a table with Postgres's own index of words.
func (d *seed) addBook(ctx context.Context) error {
	k, now := newBook(), time.Now().UTC().Truncate(time.Millisecond)
	lanes := []string{"POLITICS", "CRYPTO", "SPORT", "CULTURE", "MUSIC", "TECH", "ECONOMY", "SCIENCE", "WORLD", "ENTERTAINMENT"}
	var markets, quotes, prices, docs [][]any
	event := ""
	for i := range bookMarkets {
		id, title := strconv.Itoa(firstMarket+i), k.title()
		if i%perEvent == 0 {
			event = k.often() + "-" + strconv.Itoa(i/perEvent)
		}
		volume := k.r.ExpFloat64() * 20_000
		markets = append(markets, []any{
			id, "polymarket", title, strings.ReplaceAll(strings.ToLower(title[:len(title)-1]), " ", "-"), "open",
			now.Add(time.Duration(1+k.r.IntN(200)) * 24 * time.Hour), lanes[k.r.IntN(len(lanes))], "", event, "About " + event, now, now, now,
		})
		yes := 500 + k.r.IntN(9000)
		quotes = append(quotes, []any{id, yes, now, volume, volume, volume / 20, volume / 10})
		for n, ago := range agos {
			if n < len(agos)-1 {
				prices = append(prices, []any{id, now.Add(-ago), min(max(yes+k.r.IntN(800)-400, 1), 9999)})
			} else {
				prices = append(prices, []any{id, now.Add(-ago), yes})
			}
		}
		docs = append(docs, []any{id, title, volume})
	}
	if _, err := d.db.Exec(ctx, "CREATE TABLE bench.docs (id text PRIMARY KEY, title text, volume double precision)"); err != nil {
		return err
	}
	for _, t := range []struct {
		schema, name string
		columns      []string
		rows         [][]any
	}{
		{"api", "markets", []string{
			"market_id", "provider", "title", "slug", "status", "end_date", "lane", "category", "event_key", "event_title",
			"fetched_at", "created_at", "updated_at",
		}, markets},
		{"api", "market_quotes", []string{"market_id", "yes_bps", "at", "volume", "volume_usd", "volume24h", "liquidity"}, quotes},
		{"api", "market_prices", []string{"market_id", "at", "yes_bps"}, prices},
		{"bench", "docs", []string{"id", "title", "volume"}, docs},
	} {
		if _, err := d.db.CopyFrom(ctx, pgx.Identifier{t.schema, t.name}, t.columns, pgx.CopyFromRows(t.rows)); err != nil {
			return fmt.Errorf("fill %s: %w", t.name, err)
		}
	}
	_, err := d.db.Exec(ctx, "CREATE INDEX ON bench.docs USING gin (to_tsvector('simple', title))")
	if err != nil {
		return err
	}
	return d.settle(ctx, "api.markets", "api.market_quotes", "api.market_prices", "bench.docs")
}

// dropBook takes the book away, so that what follows it is measured without.
func (d *seed) dropBook(ctx context.Context) error {
	for _, t := range []string{"markets", "market_quotes", "market_prices"} {
		if _, err := d.db.Exec(ctx, "DELETE FROM api."+t+" WHERE market_id BETWEEN '90000000' AND '90049999'"); err != nil {
			return err
		}
	}
	return d.settle(ctx, "api.markets", "api.market_quotes", "api.market_prices")
}

// moved renews the prices of the book, as a sweep does, and waits until the wire
// shows what moved.
func (d *seed) moved(ctx context.Context, hub string) error {
	if _, err := d.db.Exec(ctx, "UPDATE api.market_quotes SET at = now() WHERE market_id BETWEEN '90000000' AND '90049999'"); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	for {
		status, res, err := get(ctx, hub+"/api/wire?limit=200", nil)
		if err == nil && status == http.StatusOK {
			if body, err := io.ReadAll(res.Body); err == nil && len(body) > 20_000 {
				return nil
			}
		}
		if ctx.Err() != nil {
			return fmt.Errorf("the wire stays empty: status %d, %w", status, err)
		}
		pause(ctx, 200*time.Millisecond)
	}
}
