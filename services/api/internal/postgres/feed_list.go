package postgres

import (
	"context"
	"fmt"
	"math"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/services/api/internal/feed"
	"github.com/signalcast/signalcast/services/api/internal/postgres/db"
)

// listWindow is the largest range of sequence numbers that one page scans if the query selects a lane or providers, but no
// operator. It limits the cost of a request that finds few events.
const listWindow = 50_000

// ListFeedEvents returns the page of the feed that q selects. For an unknown handle the page is empty.
func (s *Store) ListFeedEvents(ctx context.Context, q feed.Query) (feed.Page, error) {
	head, err := s.FeedHead(ctx)
	if err != nil {
		return feed.Page{}, err
	}
	var user string
	if q.Handle != "" {
		user, err = s.rq.GetOperatorID(ctx, q.Handle)
		if err != nil {
			p := feed.Page{}
			if err = missing(err, nil, "find operator"); err == nil && q.Forward {
				err = s.setOldest(ctx, &p, q.From, head)
			}
			return p, err
		}
	}
	lo, hi := window(q, head, user != "")
	rows, err := listFeed(ctx, s.rq, q, user, lo, hi)
	if err != nil {
		return feed.Page{}, fmt.Errorf("list feed: %w", err)
	}
	events, err := s.eventsOf(rows)
	if err != nil {
		return feed.Page{}, fmt.Errorf("list feed: %w", err)
	}
	p := feed.Page{Events: events}
	if q.Forward {
		if err := s.setOldest(ctx, &p, q.From, head); err != nil {
			return feed.Page{}, err
		}
	}
	if len(events) > q.Limit {
		p.Events = events[:q.Limit]
		p.Next = p.Events[q.Limit-1].Seq
		p.More = true
		return p, nil
	}
	if q.Forward {
		p.Next, p.More = hi, hi < head
		return p, nil
	}
	if p.Next = lo + 1; lo > 0 {
		oldest, err := s.FeedOldest(ctx)
		if err != nil {
			return feed.Page{}, err
		}
		p.More = oldest <= lo
	}
	return p, nil
}

// ListFeedBrief implements feed.Store.
func (s *Store) ListFeedBrief(ctx context.Context, types []feed.Type, after int64, limit int) (feed.Page, error) {
	head, err := s.FeedHead(ctx)
	if err != nil || head <= after {
		return feed.Page{Head: head, Next: after}, err
	}
	p := feed.Page{Head: head, Next: min(head, after+int64(limit))}
	rows, err := s.rq.ListFeedBrief(ctx, db.ListFeedBriefParams{Low: after, High: p.Next, Types: neverNil(texts(types))})
	p.Events = pg.Collect(rows, func(r db.ListFeedBriefRow) feed.Event {
		return feed.Event{
			Seq: r.Seq, Type: feed.Type(r.Type), At: r.At, MarketID: pg.Value(r.MarketID), Operator: pg.Value(r.UserID),
			Data: []byte(r.Data),
		}
	})
	return p, pg.Fault(wrap("list feed", err))
}

// setOldest sets p.Head to head. p must be a page that starts after the sequence number in the parameter from. If the first
// events after that number are deleted, setOldest also sets p.Oldest.
func (s *Store) setOldest(ctx context.Context, p *feed.Page, from, head int64) error {
	p.Head = head
	if from >= head || len(p.Events) > 0 && p.Events[0].Seq == from+1 {
		return nil
	}
	oldest, err := s.FeedOldest(ctx)
	if err == nil && from+1 < oldest {
		p.Oldest = oldest
	}
	return err
}

// window returns the range of sequence numbers that a page scans: lo < seq <= hi. The range is at most listWindow wide,
// unless indexed is true or the query selects neither a lane nor providers.
func window(q feed.Query, head int64, indexed bool) (lo, hi int64) {
	width := int64(math.MaxInt64)
	if !indexed && (q.Lane != "" || len(q.Providers) > 0) {
		width = listWindow
	}
	if q.Forward {
		lo, hi = q.From, head
		if width < hi-lo {
			hi = lo + width
		}
		return lo, max(lo, hi)
	}
	if hi = head; q.From > 0 {
		hi = min(hi, q.From-1)
	}
	if width < hi {
		lo = hi - width
	}
	return lo, hi
}

// listFeed returns at most q.Limit + 1 events with sequence numbers in (lo, hi]. The additional event shows that another
// page follows. listFeed executes the statement for the first of these filters that q has: operators, operator, lane, type,
// or none.
func listFeed(ctx context.Context, on *db.Queries, q feed.Query, user string, lo, hi int64) ([]db.ListFeedRow, error) {
	types := neverNil(texts(q.Types))
	p := db.ListFeedParams{Low: lo, High: hi, Providers: neverNil(q.Providers), Topic: q.Topic, Limit: int32(q.Limit + 1)}
	switch {
	case len(q.Operators) > 0:
		rows, err := on.ListFeedOfOperatorsBackward(ctx, db.ListFeedOfOperatorsBackwardParams{
			UserIDs: q.Operators, Types: types, High: hi, Limit: p.Limit,
		})
		return pg.Collect(rows, func(r db.ListFeedOfOperatorsBackwardRow) db.ListFeedRow { return typedEvent(db.ListFeedOfTypesRow(r)) }), err
	case user != "":
		of := db.ListFeedOfOperatorParams{
			UserID: user, Types: types, Lane: q.Lane, Low: lo, High: hi, Providers: p.Providers, Topic: p.Topic, Limit: p.Limit,
		}
		if q.Forward {
			rows, err := on.ListFeedOfOperator(ctx, of)
			return pg.Collect(rows, func(r db.ListFeedOfOperatorRow) db.ListFeedRow { return db.ListFeedRow(r) }), err
		}
		rows, err := on.ListFeedOfOperatorBackward(ctx, db.ListFeedOfOperatorBackwardParams(of))
		return pg.Collect(rows, func(r db.ListFeedOfOperatorBackwardRow) db.ListFeedRow { return db.ListFeedRow(r) }), err
	case q.Lane != "":
		of := db.ListFeedOfLaneParams{
			Lane: q.Lane, Types: types, Low: lo, High: hi, Providers: p.Providers, Topic: p.Topic, Limit: p.Limit,
		}
		if q.Forward {
			rows, err := on.ListFeedOfLane(ctx, of)
			return pg.Collect(rows, func(r db.ListFeedOfLaneRow) db.ListFeedRow { return db.ListFeedRow(r) }), err
		}
		rows, err := on.ListFeedOfLaneBackward(ctx, db.ListFeedOfLaneBackwardParams(of))
		return pg.Collect(rows, func(r db.ListFeedOfLaneBackwardRow) db.ListFeedRow { return db.ListFeedRow(r) }), err
	case len(types) > 0:
		of := db.ListFeedOfTypesParams{Types: types, Low: lo, High: hi, Providers: p.Providers, Topic: p.Topic, Limit: p.Limit}
		if q.Forward {
			rows, err := on.ListFeedOfTypes(ctx, of)
			return pg.Collect(rows, typedEvent), err
		}
		rows, err := on.ListFeedOfTypesBackward(ctx, db.ListFeedOfTypesBackwardParams(of))
		return pg.Collect(rows, func(r db.ListFeedOfTypesBackwardRow) db.ListFeedRow { return typedEvent(db.ListFeedOfTypesRow(r)) }), err
	case q.Forward:
		return on.ListFeed(ctx, p)
	}
	rows, err := on.ListFeedBackward(ctx, db.ListFeedBackwardParams(p))
	return pg.Collect(rows, func(r db.ListFeedBackwardRow) db.ListFeedRow { return db.ListFeedRow(r) }), err
}

func typedEvent(r db.ListFeedOfTypesRow) db.ListFeedRow {
	return db.ListFeedRow{Handle: r.Handle, PublicID: r.PublicID, ShownEvent: db.ShownEvent{
		Seq: r.Seq, ID: r.ID, Type: r.Type, At: r.At, MarketID: r.MarketID, Provider: r.Provider, Lane: r.Lane, UserID: r.UserID,
		SignalID: r.SignalID, Topic: r.Topic, Data: r.Data,
	}}
}
