package search

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/signalcast/signalcast/pkg/cache"
	"github.com/signalcast/signalcast/pkg/protocol"
)

// Store reads the search index and the statistics of markets. All methods can return db_unavailable.
type Store interface {
	// ListQueryWords returns at most limit words of a search text, with estimates of how many markets contain each word.
	ListQueryWords(ctx context.Context, text string, limit int) ([]Word, error)
	// ListWordsAround returns, for each given word, at most limit indexed words that contain it.
	ListWordsAround(ctx context.Context, words []string, limit int) ([][]string, error)
	// ListMisspelledWords returns, for each given word, the indexed words that are one typing error away from it.
	ListMisspelledWords(ctx context.Context, words []string) ([][]string, error)
	// FindMarkets returns at most limit markets that match m, in the order o.
	FindMarkets(ctx context.Context, m Match, o Order, limit int) ([]Found, error)
	// GetTitleWords returns the words of a title that describe its topic.
	GetTitleWords(ctx context.Context, title string) ([]string, error)
	// ListRelated returns at most limit markets related to d. words are the words of its title. near is a tsquery that
	// selects candidates for similar titles.
	ListRelated(ctx context.Context, d Doc, words []string, near string, limit int) ([]Related, error)
	// ListResolved returns at most limit markets of a provider that have an outcome, newest outcome first. The list
	// continues at the position in after; the zero position selects the first page.
	ListResolved(ctx context.Context, p protocol.Provider, after Place, limit int) ([]Resolved, error)
	// GetSentiment returns the counts of the crowd's calls on a market. All counts are zero for a market without such calls.
	GetSentiment(ctx context.Context, id protocol.MarketID, now time.Time) (Sentiment, error)
	// ListGaps returns at most limit open markets, the widest gap between crowd and price first. An empty id selects every
	// market.
	ListGaps(ctx context.Context, id protocol.MarketID, now time.Time, limit int) ([]Gap, error)
	// ListAddresses returns at most limit addresses after the first offset ones, and the number of all addresses.
	ListAddresses(ctx context.Context, offset int64, limit int) ([]Address, int64, error)
}

// Order is a sort order of the markets that are closed or not, and that a filter selects. After is the last market of the
// previous page.
type Order struct {
	Sort   Sort
	Closed bool
	Filter Filter
	After  Found
}

// Found is a market and its sort value. Lists are sorted by ascending value. An unknown value is +Inf.
type Found struct {
	ID    protocol.MarketID
	Value float64
}

// Resolved is a market with an outcome, as listed by Service.Resolved.
type Resolved struct {
	ID         protocol.MarketID
	Title      string
	Verdict    protocol.Verdict
	ResolvedAt time.Time
	ClosePrice *protocol.Bps
	Volume     *float64
	Signals    int64
}

// Place is a position in the list of markets with an outcome. The zero Place is before the first entry.
type Place struct {
	At time.Time
	ID protocol.MarketID
}

// Service searches markets and returns statistics of their calls.
type Service struct {
	store      Store
	now        func() time.Time
	sentiments *cache.Cache[protocol.MarketID, Sentiment]
}

// NewService returns a service that reads from the given store. The caller must call Close when it no longer uses the service.
func NewService(store Store, now func() time.Time) *Service {
	sentiments := cache.New(cache.Options[protocol.MarketID, Sentiment]{
		// The age of a sentiment is measured from the start of its read, but the cache measures from the end of the read.
		Life: func(s Sentiment) time.Duration { return sentimentAge - now().Sub(s.UpdatedAt) },
		Hold: -1, MaxKeys: maxSentiments, Values: true, Now: now,
	})
	return &Service{store: store, now: now, sentiments: sentiments}
}

// Close cancels the reads of sentiments in progress and waits for them.
func (s *Service) Close() { s.sentiments.Close() }

// Find returns the markets whose title or slug matches every word of the query. Markets that contain the words themselves come
// first. Then follow markets with words that begin with the words of the query, with words that contain them, and with words
// that are one typing error away. Within each of these classes, markets have the sort order of the query. next is the cursor
// of the next page; it is empty after the last page. Error: db_unavailable.
func (s *Service) Find(ctx context.Context, q Query) (ids []protocol.MarketID, next string, err error) {
	q.Sort = ParseSort(string(q.Sort))
	if q.Limit < 1 {
		q.Limit = Default
	}
	q.Limit = min(q.Limit, Most)
	var words []Word
	if strings.TrimSpace(q.Text) != "" {
		if words, err = s.store.ListQueryWords(ctx, q.text(), MaxWords); err != nil || len(words) == 0 {
			return nil, "", err // without words the text has only punctuation, which is not indexed
		}
	}
	ranks, err := s.find(ctx, &q, words)
	if err != nil {
		return nil, "", err
	}
	if len(ranks) > q.Limit {
		ranks = ranks[:q.Limit]
		next = q.cursor(ranks[q.Limit-1])
	}
	ids = make([]protocol.MarketID, len(ranks))
	for i := range ranks {
		ids[i] = ranks[i].ID
	}
	return ids, next, nil
}

// find returns the ranks of the markets on a page, in order, and one more rank if another page follows.
func (s *Service) find(ctx context.Context, q *Query, words []Word) (page []rank, err error) {
	after, states := q.after(), q.Status.closed()
	better := [2]Match{{Near: Nothing}, {Near: Nothing}}
	for c := whole; c <= misspelled && len(page) <= q.Limit; c++ {
		if err := s.expand(ctx, c, words); err != nil {
			return nil, err
		}
		var list []rank
		for i, closed := range states {
			m, ok := q.match(c, closed, words)
			if !ok {
				continue
			}
			m.Better, m.BetterParts = better[i].Near, append(m.BetterParts, better[i].Parts...)
			better[i] = m
			if c < after.class {
				continue
			}
			o := Order{Sort: q.Sort, Closed: closed, Filter: q.Filter, After: Found{Value: math.Inf(-1)}}
			if c == after.class {
				o.After = after.Found
			}
			found, err := s.store.FindMarkets(ctx, m, o, q.Limit+1-len(page))
			if err != nil {
				return nil, err
			}
			for _, f := range found {
				list = append(list, rank{c, f})
			}
		}
		if len(states) > 1 {
			list = merge(list)
		}
		page = append(page, list...)
	}
	return page[:min(len(page), q.Limit+1)], nil
}

// merge sorts markets of one class that two statements found. It removes a market that both have found because it closed
// between them.
func merge(list []rank) []rank {
	slices.SortFunc(list, func(a, b rank) int { return cmp.Or(cmp.Compare(a.Value, b.Value), cmp.Compare(a.ID, b.ID)) })
	seen := make(map[protocol.MarketID]bool, len(list))
	return slices.DeleteFunc(list, func(r rank) bool {
		again := seen[r.ID]
		seen[r.ID] = true
		return again
	})
}

// expand adds to each word of a query the indexed words to which class c compares it: the words that contain it, or the words
// that are one typing error away. For classes better than inside, it does nothing.
func (s *Service) expand(ctx context.Context, c class, words []Word) error {
	if c < inside || len(words) == 0 {
		return nil
	}
	list := make([]string, len(words))
	for i := range words {
		list[i] = words[i].Text
	}
	if c == misspelled {
		near, err := s.store.ListMisspelledWords(ctx, list)
		for i := range near {
			words[i].misspelled = near[i]
		}
		return err
	}
	around, err := s.store.ListWordsAround(ctx, list, mostAround+1)
	for i := range around {
		if len(around[i]) <= mostAround {
			words[i].around = around[i]
		}
	}
	return err
}

// MostResolved is the largest number of markets on a page of Resolved. DefaultResolved is the number if the client states
// none.
const (
	MostResolved    = 100
	DefaultResolved = 50
)

// Resolved returns the markets of a provider that have an outcome, newest outcome first, and the cursor of the next page.
// The cursor is empty after the last page. An invalid cursor selects the first page. Error: db_unavailable.
func (s *Service) Resolved(ctx context.Context, p protocol.Provider, limit int, cursor string) ([]Resolved, string, error) {
	if limit < 1 {
		limit = DefaultResolved
	}
	limit = min(limit, MostResolved)
	var after Place
	// The first key of the cursor names the list, so that a cursor of another list is ignored.
	if c, ok := protocol.DecodeCursor(cursor, 2); ok && c.Keys[0] == resolvedKey {
		if at, ok := c.Time(1); ok {
			after = Place{at, protocol.MarketID(c.ID)}
		}
	}
	rows, err := s.store.ListResolved(ctx, p, after, limit+1)
	if err != nil || len(rows) <= limit {
		return rows, "", err
	}
	rows = rows[:limit]
	last := rows[limit-1]
	return rows, protocol.NewCursor(string(last.ID), resolvedKey, protocol.TimeKey(last.ResolvedAt)).Encode(), nil
}

const resolvedKey = "resolved"

// MostAddresses is the largest number of addresses of one read. It is the limit of URLs in one sitemap (sitemaps.org protocol).
const MostAddresses = 50_000

// Address is a market that a venue has confirmed, or an operator with a call. Hidden ones have no address.
type Address struct {
	Market protocol.MarketID // empty: an operator
	Handle protocol.Handle
}

// Addresses returns addresses in a fixed order, from offset on, and the number of all addresses. Error: db_unavailable.
func (s *Service) Addresses(ctx context.Context, offset int64, limit int) ([]Address, int64, error) {
	return s.store.ListAddresses(ctx, max(offset, 0), min(max(limit, 0), MostAddresses))
}
