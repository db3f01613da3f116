package postgres

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/postgres/db"
	"github.com/signalcast/signalcast/services/api/internal/search"
)

// endOfTime is later than the resolution time of every market. A list without a cursor starts here.
var endOfTime = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)

// mostRead is the largest number of markets that FindMarkets reads in their sort order before it uses the word index.
const mostRead = 4000

// ListQueryWords returns at most limit words of a search text, in the order of the text, with estimates of the share of
// markets that contain each word.
func (s *Store) ListQueryWords(ctx context.Context, text string, limit int) ([]search.Word, error) {
	rows, err := s.rq.ListQueryWords(ctx, db.ListQueryWordsParams{Query: text, Limit: int32(limit)})
	return pg.Collect(rows, func(r db.ListQueryWordsRow) search.Word {
		return search.Word{Text: r.Word, Whole: r.Whole, Beginning: r.Beginning, Share: r.Share, PartShare: r.PartShare}
	}), pg.Fault(wrap("list words of a query", err))
}

// ListWordsAround returns, for each given word, at most limit indexed words that contain it.
func (s *Store) ListWordsAround(ctx context.Context, words []string, limit int) ([][]string, error) {
	lists, err := s.rq.ListWordsAround(ctx, db.ListWordsAroundParams{Words: words, Most: int32(limit)})
	return lists, pg.Fault(wrap("list words around", err))
}

// ListMisspelledWords returns, for each given word, the indexed words that differ from it by one typing error. The list is
// empty for a word with fewer than four letters or with digits.
func (s *Store) ListMisspelledWords(ctx context.Context, words []string) ([][]string, error) {
	lists, err := s.rq.ListMisspelledWords(ctx, words)
	return lists, pg.Fault(wrap("list misspelled words", err))
}

// FindMarkets returns at most limit markets that match m, in the order o. The list starts after the position o.After.
func (s *Store) FindMarkets(ctx context.Context, m search.Match, o search.Order, limit int) ([]search.Found, error) {
	after, before := endRange(o.Filter)
	switch {
	case len(o.Filter.IDs) > 0:
		rows, err := s.rq.FindListedMarkets(ctx, db.FindListedMarketsParams{
			Limit: int64(limit), Value: o.After.Value, AfterID: string(o.After.ID), Sort: string(o.Sort), Closed: o.Closed,
			NearQuery: m.Near, Parts: m.Parts, Better: m.Better, BetterParts: m.BetterParts, EndAfter: after, EndBefore: before,
			MinVolume: o.Filter.MinVolume, IDs: texts(o.Filter.IDs),
		})
		return pg.Collect(rows, func(r db.FindListedMarketsRow) search.Found {
			return search.Found{ID: protocol.MarketID(r.MarketID), Value: r.Value}
		}), pg.Fault(wrap("find listed markets", err))
	case o.Sort == search.ByCalls || o.Sort == search.ByMove:
		rows, err := s.rq.FindRankedMarkets(ctx, db.FindRankedMarketsParams{
			Limit: int64(limit), Value: o.After.Value, AfterID: string(o.After.ID), Sort: string(o.Sort), Closed: o.Closed,
			NearQuery: m.Near, Parts: m.Parts, Better: m.Better, BetterParts: m.BetterParts, EndAfter: after, EndBefore: before,
			MinVolume: o.Filter.MinVolume,
		})
		return pg.Collect(rows, func(r db.FindRankedMarketsRow) search.Found {
			return search.Found{ID: protocol.MarketID(r.MarketID), Value: r.Value}
		}), pg.Fault(wrap("find ranked markets", err))
	}
	p := db.FindMarketsParams{
		Limit: int64(limit), Value: o.After.Value, AfterID: string(o.After.ID), Sort: string(o.Sort), Closed: o.Closed, MostRead: mostRead,
		NearQuery: m.Near, Query: m.All, Parts: m.Parts, Better: m.Better, BetterParts: m.BetterParts, Every: m.Every,
		EndAfter: after, EndBefore: before, MinVolume: o.Filter.MinVolume,
	}
	switch {
	case m.Unread:
		p.MostRead = 0
	case m.Every:
		p.MostRead = math.MaxInt32
	}
	rows, err := s.rq.FindMarkets(ctx, p)
	return pg.Collect(rows, func(r db.FindMarketsRow) search.Found {
		return search.Found{ID: protocol.MarketID(r.MarketID), Value: r.Value}
	}), pg.Fault(wrap("find markets", err))
}

// endRange returns the end dates that a filter selects, in microseconds: later than after and not later than before. A market
// without an end date has an infinite one.
func endRange(f search.Filter) (after, before float64) {
	after, before = math.Inf(-1), math.Inf(1)
	if !f.EndAfter.IsZero() {
		after, before = float64(f.EndAfter.UnixMicro()), math.MaxFloat64
	}
	if !f.EndBefore.IsZero() {
		before = float64(f.EndBefore.UnixMicro() - 1)
	}
	return after, before
}

// GetTitleWords returns the words of a title that describe its topic.
func (s *Store) GetTitleWords(ctx context.Context, title string) ([]string, error) {
	words, err := s.rq.GetTitleWords(ctx, title)
	return words, pg.Fault(wrap("read title words", err))
}

// ListRelated returns at most limit markets related to the market d: first those of its event, then those with a similar
// title, then those of its lane. words are the words of its title. near is a PostgreSQL tsquery that selects candidates for
// similar titles.
func (s *Store) ListRelated(ctx context.Context, d search.Doc, words []string, near string, limit int) ([]search.Related, error) {
	p := db.ListRelatedMarketsParams{
		Limit: int64(limit), TitleWords: words, EventKey: d.EventKey, Provider: string(d.Provider), MarketID: string(d.ID),
		NearOpen: "'=OPEN'&(" + near + ")", NearClosed: "'=CLOSED'&(" + near + ")", LaneQuery: search.Nothing,
	}
	if d.Lane != "" {
		p.LaneQuery = "'=" + string(d.Lane) + "'"
	}
	rows, err := s.rq.ListRelatedMarkets(ctx, p)
	return pg.Collect(rows, func(r db.ListRelatedMarketsRow) search.Related {
		return search.Related{
			ID: protocol.MarketID(r.MarketID), Relation: search.Relation(r.Relation), Similarity: search.Similarity(words, r.Title),
		}
	}), pg.Fault(wrap("list related markets", err))
}

// ListResolved returns at most limit markets of a provider that have an outcome, newest outcome first. The list starts after
// the position in after; the zero position selects the first page.
func (s *Store) ListResolved(ctx context.Context, p protocol.Provider, after search.Place, limit int) ([]search.Resolved, error) {
	if after.At.IsZero() {
		after = search.Place{At: endOfTime}
	}
	rows, err := s.rq.ListResolvedMarkets(ctx, db.ListResolvedMarketsParams{
		Provider: string(p), BeforeAt: after.At, BeforeID: string(after.ID), Limit: int32(limit),
	})
	return pg.Collect(rows, func(r db.ListResolvedMarketsRow) search.Resolved {
		return search.Resolved{
			ID: protocol.MarketID(r.MarketID), Title: r.Title, Verdict: protocol.Verdict(r.Outcome), ResolvedAt: r.ResolvedAt,
			ClosePrice: convertInt[protocol.Bps](r.ClosePrice), Volume: r.VolumeUsd, Signals: r.Signals,
		}
	}), pg.Fault(wrap("list resolved", err))
}

// GetSentiment returns statistics of the crowd calls on a market. These are, for each side, the number of calls, their
// weights and confidences, and the number of takes. The result also has the number of calls in the last 24 hours and the
// earlier price of YES. All counts are zero for a market without crowd calls.
func (s *Store) GetSentiment(ctx context.Context, id protocol.MarketID, now time.Time) (search.Sentiment, error) {
	r, err := s.rq.GetSentiment(ctx, db.GetSentimentParams{MarketID: string(id), Now: now})
	if err != nil {
		return search.Sentiment{}, pg.Fault(fmt.Errorf("read sentiment: %w", err))
	}
	return search.Sentiment{
		Yes: r.Yes, No: r.No, WeightYes: r.WeightYes, WeightNo: r.WeightNo, ConfidenceYes: r.ConfidenceYes,
		ConfidenceNo: r.ConfidenceNo, TakesYes: r.TakesYes, TakesNo: r.TakesNo, Signals24h: r.Signals24h,
		Before: convertInt[protocol.Bps](r.Before),
	}, nil
}

// ListGaps returns at most limit open markets with a price and at least three calls of the crowd. Markets with the widest
// gap between price and crowd come first. An empty id selects every market.
func (s *Store) ListGaps(ctx context.Context, id protocol.MarketID, now time.Time, limit int) ([]search.Gap, error) {
	rows, err := s.rq.ListGaps(ctx, db.ListGapsParams{MarketID: string(id), Now: now, Limit: int32(limit)})
	return pg.Collect(rows, func(r db.ListGapsRow) search.Gap {
		return search.Gap{ID: protocol.MarketID(r.MarketID), Yes: r.Yes, No: r.No}
	}), pg.Fault(wrap("list gaps", err))
}

// ListAddresses returns at most limit addresses after the first offset ones, and the number of all addresses. It reads every
// confirmed market, so that only the deadline of ctx applies.
func (s *Store) ListAddresses(ctx context.Context, offset int64, limit int) ([]search.Address, int64, error) {
	total, err := s.q.CountAddresses(ctx)
	if err != nil {
		return nil, 0, pg.Fault(wrap("count addresses", err))
	}
	rows, err := s.q.ListAddresses(ctx, db.ListAddressesParams{Offset: offset, Limit: int32(limit)})
	return pg.Collect(rows, func(r db.ListAddressesRow) search.Address {
		if r.Kind == "market" {
			return search.Address{Market: protocol.MarketID(r.ID)}
		}
		return search.Address{Handle: protocol.Handle(r.ID)}
	}), total, pg.Fault(wrap("list addresses", err))
}
