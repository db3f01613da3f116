package main

import (
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/signalcast/signalcast/test/system/stack"
)

const (
	bookMarkets = 50_000 // markets of the primary venue, open and with a price
	perEvent    = 4
	vocabulary  = 30_000
	firstMarket = 90_000_000
)

// ofBook is the SQL condition for the markets that addBook inserts.
const ofBook = " WHERE market_id BETWEEN '90000000' AND '90049999'"

// ages are the ages of the price snapshots of each market. The newest snapshot, the last one, has the current price.
var ages = []time.Duration{25 * time.Hour, 7 * time.Hour, 2 * time.Hour, 20 * time.Minute, time.Second}

// book generates market titles and search texts. The frequency of its words follows a Zipf distribution, as in natural language.
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

// often returns a random word. Words at the beginning of the list are more probable.
func (k *book) often() string { return k.words[k.pick.Uint64()] }
func (k *book) any() string   { return k.words[k.r.IntN(vocabulary)] }

func (k *book) title() string {
	words := make([]string, 9)
	for i := range words {
		words[i] = k.often()
	}
	return "Will the " + strings.Join(words, " ") + "?"
}

// query returns a search text: a word, the beginning of a word, two words, a word with a typing error, or a phrase.
func (k *book) query() string {
	a, b := k.often(), k.any()
	return []string{a, b[:3], a + " " + b, b[1:] + "x", "will the " + a + " " + k.often(), k.often() + " " + a}[k.r.IntN(6)]
}

// addBook inserts generated markets with their quotes and price snapshots into the database. It also inserts the titles into
// the table bench.docs. The section named search compares the product with the full text index of this table.
func (s *system) addBook() {
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
			now.Add(time.Duration(1+k.r.IntN(200)) * 24 * time.Hour), lanes[k.r.IntN(len(lanes))], "", event, "About " + event,
			now, now, now,
		})
		yes := 500 + k.r.IntN(9000)
		quotes = append(quotes, []any{id, yes, now, volume, volume, volume / 20, volume / 10})
		for n, age := range ages {
			price := yes
			if n < len(ages)-1 {
				price = min(max(yes+k.r.IntN(800)-400, 1), 9999)
			}
			prices = append(prices, []any{id, now.Add(-age), price})
		}
		docs = append(docs, []any{id, title, volume})
	}
	s.exec("CREATE TABLE bench.docs (id text PRIMARY KEY, title text, volume double precision)")
	for _, t := range []struct {
		name, columns string
		rows          [][]any
	}{
		{
			"api.markets",
			"market_id provider title slug status end_date lane category event_key event_title fetched_at created_at updated_at",
			markets,
		},
		{"api.market_quotes", "market_id yes_bps at volume volume_usd volume24h liquidity", quotes},
		{"api.market_prices", "market_id at yes_bps", prices},
		{"bench.docs", "id title volume", docs},
	} {
		s.copy(t.name, strings.Fields(t.columns), len(t.rows), func(i int) []any { return t.rows[i] })
	}
	s.exec("CREATE INDEX ON bench.docs USING gin (to_tsvector('simple', title))")
	s.settle("api.markets", "api.market_quotes", "api.market_prices", "bench.docs")
}

// dropBook deletes the markets that addBook inserted, because the sections other than reads and search are measured without them.
func (s *system) dropBook() {
	tables := []string{"api.markets", "api.market_quotes", "api.market_prices"}
	for _, t := range tables {
		s.exec("DELETE FROM " + t + ofBook)
	}
	s.settle(tables...)
}

// refreshBook sets the time of the quotes to the current time, as a sweep does. It then waits until /api/wire returns a full
// page of market movements.
func (s *system) refreshBook(hub string) {
	s.exec("UPDATE api.market_quotes SET at = now()" + ofBook)
	stack.Eventually(s.b, 3*time.Minute, "a full page of /api/wire", func() bool {
		a := stack.Get(s.b, hub+"/api/wire?limit=200")
		return a.Status == http.StatusOK && len(a.Body) > 20_000
	})
}
