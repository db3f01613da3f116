package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

const (
	searches     = 2_000
	searchBudget = 50 * time.Millisecond // p99
)

// search asks the public door for words among all markets, one question at a time,
// and compares it with a plain index of words over the same titles, which finds neither
// typing errors nor beginnings of words.
func (b *bench) search(ctx context.Context) error {
	if err := b.indexed(ctx); err != nil {
		return err
	}
	var ours, limit, middle, limitMiddle []float64
	for range b.rounds {
		b.calm(ctx)
		k := newBook()
		took, found, err := timed(func() (int, error) { return b.find(ctx, k.query()) })
		if err != nil {
			return err
		}
		k = newBook()
		theirs, theirFound, err := timed(func() (int, error) { return b.findByPostgres(ctx, k.query()) })
		if err != nil {
			return err
		}
		fmt.Printf("search p50=%s p99=%s found=%d; postgres p50=%s p99=%s found=%d\n",
			quantile(took, .5), quantile(took, .99), found, quantile(theirs, .5), quantile(theirs, .99), theirFound)
		ours, limit = append(ours, millis(quantile(took, .99))), append(limit, millis(quantile(theirs, .99)))
		middle, limitMiddle = append(middle, millis(quantile(took, .5))), append(limitMiddle, millis(quantile(theirs, .5)))
	}
	b.report.ratio("search / Postgres full text, p50", "ms", lower, 0, middle, limitMiddle)
	b.report.ratio("search / Postgres full text, p99", "ms", lower, 0, ours, limit)
	b.report.ratio("search p99 / 50 ms", "ms", lower, 1, ours, []float64{millis(searchBudget)})
	return b.seed.dropBook(ctx)
}

// timed runs a question many times; found counts the rows of all answers.
func timed(ask func() (int, error)) (took []time.Duration, found int, err error) {
	for range searches {
		began := time.Now()
		n, err := ask()
		if err != nil {
			return nil, 0, err
		}
		took, found = append(took, time.Since(began)), found+n
	}
	return took, found, nil
}

func (b *bench) find(ctx context.Context, text string) (int, error) {
	q := url.Values{"q": {text}, "limit": {"20"}}
	status, res, err := get(ctx, b.stack.Hub+"/api/polymarket/markets?"+q.Encode(), nil)
	if err != nil || status != http.StatusOK {
		return 0, fmt.Errorf("search %q: status %d, %w", text, status, err)
	}
	var page struct {
		Count int `json:"count"`
	}
	err = json.NewDecoder(res.Body).Decode(&page)
	return page.Count, err
}

func (b *bench) findByPostgres(ctx context.Context, text string) (int, error) {
	ids, err := query[string](ctx, b.seed.db, `SELECT id FROM bench.docs
		WHERE to_tsvector('simple', title) @@ plainto_tsquery('simple', $1) ORDER BY volume DESC LIMIT 20`, text)
	return len(ids), err
}

// indexed waits until the ledger searches all of the book.
func (b *bench) indexed(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	last, err := query[string](ctx, b.seed.db, "SELECT title FROM bench.docs ORDER BY id DESC LIMIT 1")
	if err != nil {
		return err
	}
	for {
		n, err := b.find(ctx, last[0])
		if err == nil && n > 0 {
			return nil
		}
		if ctx.Err() != nil {
			return fmt.Errorf("the book is not found: %w", err)
		}
		pause(ctx, 100*time.Millisecond)
	}
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
