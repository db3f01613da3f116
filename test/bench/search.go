package main

import (
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/signalcast/signalcast/test/system/stack"
)

const (
	searches     = 2_000
	searchBudget = 50 // in ms, 99th percentile
)

// search measures searches in the titles of all markets through the public API, one at a time. The limit is a full text index of
// Postgres over the same titles. The index finds neither words with typing errors nor beginnings of words.
func (b *bench) search() {
	last := list[string](b.main, "SELECT title FROM bench.docs ORDER BY id DESC LIMIT 1")[0]
	stack.Eventually(b, 2*time.Minute, "the last market in the search results", func() bool { return b.find(last) > 0 })
	var ours, limit, middle, limitMiddle []float64
	for range b.rounds {
		b.awaitIdle()
		took, found := search(b.find)
		theirs, theirFound := search(b.findByPostgres)
		fmt.Printf("search p50=%s p99=%s found=%d; postgres p50=%s p99=%s found=%d\n",
			quantile(took, .5), quantile(took, .99), found, quantile(theirs, .5), quantile(theirs, .99), theirFound)
		ours, limit = append(ours, millis(quantile(took, .99))), append(limit, millis(quantile(theirs, .99)))
		middle, limitMiddle = append(middle, millis(quantile(took, .5))), append(limitMiddle, millis(quantile(theirs, .5)))
	}
	b.report.ratio("search / Postgres full text, p50", "ms", lower, 0, middle, limitMiddle)
	b.report.ratio("search / Postgres full text, p99", "ms", lower, 0, ours, limit)
	b.report.ratio("search p99 / 50 ms", "ms", lower, 1, ours, []float64{searchBudget})
	b.main.dropBook()
}

// search calls the function find once for each search text. Every call of search uses the same texts. It returns the
// latencies and the total number of hits.
func search(find func(text string) int) (took []time.Duration, found int) {
	k := newBook()
	for range searches {
		text, began := k.query(), time.Now()
		n := find(text)
		took, found = append(took, time.Since(began)), found+n
	}
	return took, found
}

func (b *bench) find(text string) int {
	q := url.Values{"q": {text}, "limit": {"20"}}
	return stack.Get(b, b.main.Hub+"/api/polymarket/markets?"+q.Encode()).Require(http.StatusOK).Int("count")
}

func (b *bench) findByPostgres(text string) int {
	return len(list[string](b.main, `SELECT id FROM bench.docs
		WHERE to_tsvector('simple', title) @@ plainto_tsquery('simple', $1) ORDER BY volume DESC LIMIT 20`, text))
}
