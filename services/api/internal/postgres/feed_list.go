package postgres

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/services/api/internal/feed"
)

// listStretch is how many numbers one page of a query by lane or provider looks
// at: no index finds these alone, and nobody may make us read 90 days.
const listStretch = 50_000

// ListFeedEvents reads one page of the feed. An unknown handle is an empty page.
func (s *Store) ListFeedEvents(ctx context.Context, q feed.Query) (feed.Page, error) {
	db := pg.Bound(s.pool, pg.ReadBudget)
	head, err := s.FeedHead(ctx)
	if err != nil {
		return feed.Page{}, err
	}
	var user string
	if q.Handle != "" {
		err := db.QueryRow(ctx, query("feed_user"), q.Handle).Scan(&user)
		if errors.Is(err, pgx.ErrNoRows) {
			return feed.Page{}, nil
		}
		if err != nil {
			return feed.Page{}, fmt.Errorf("find operator: %w", err)
		}
	}
	lo, hi := stretch(q, head, user != "")
	text, args := feedList(q, user, lo, hi)
	rows, err := db.Query(ctx, text, args...)
	if err != nil {
		return feed.Page{}, fmt.Errorf("list feed: %w", err)
	}
	events, err := pgx.CollectRows(rows, s.scanFeedEvent)
	if err != nil {
		return feed.Page{}, fmt.Errorf("list feed: %w", err)
	}
	p := feed.Page{Events: events}
	if q.Forward {
		if err := s.whole(ctx, &p, q.From, head); err != nil {
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

// whole tells of a page behind a number whether what follows that number is kept.
func (s *Store) whole(ctx context.Context, p *feed.Page, from, head int64) error {
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

// stretch is the range of numbers that a page looks at: lo < seq <= hi.
func stretch(q feed.Query, head int64, indexed bool) (lo, hi int64) {
	width := int64(math.MaxInt64)
	if !indexed && (q.Lane != "" || len(q.Providers) > 0) {
		width = listStretch
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

// feedList writes the statement of a page. With types, each is read by its own
// index range and the ranges are merged.
func feedList(q feed.Query, user string, lo, hi int64) (string, []any) {
	args := []any{lo, hi, q.Limit + 1}
	arg := func(v any) string {
		args = append(args, v)
		return "$" + strconv.Itoa(len(args))
	}
	where := "@ AND e.seq > $1 AND e.seq <= $2"
	if user != "" {
		where += " AND e.user_id = " + arg(user)
	}
	if q.Lane != "" {
		where += " AND e.lane = " + quoted(q.Lane)
	}
	if len(q.Providers) > 0 {
		where += " AND e.provider = ANY (" + arg(q.Providers) + "::text[])"
	}
	topic := ""
	if q.Topic != "" && (len(q.Types) == 0 || slices.Contains(q.Types, feed.SegmentStarted) || slices.Contains(q.Types, feed.SegmentPreempted)) {
		topic = arg(q.Topic)
	}
	order := " ORDER BY seq DESC"
	if q.Forward {
		order = " ORDER BY seq"
	}
	const columns = "e.seq, e.id, e.type, e.at, e.market_id, e.provider, e.lane, e.user_id, e.signal_id, e.topic, e.data"
	branch := "SELECT " + columns + " FROM shown_events e WHERE " + where + order + " LIMIT $3"
	rows := strings.Replace(branch, "@", onTopic(topic), 1)
	if len(q.Types) > 0 {
		rows = ofTypesOn(topic, q.Types, branch)
	}
	return "SELECT e.seq, e.id, e.type, e.at, e.market_id, e.provider, e.lane, u.handle, u.public_id, e.topic, e.signal_id, e.data" +
		" FROM (SELECT " + columns + " FROM (" + rows + ") e" + order + " LIMIT $3) e LEFT JOIN users u ON u.id = e.user_id" + order, args
}

// onTopic is the condition on the channel of segment events: all others have none.
func onTopic(topic string) string {
	if topic == "" {
		return "true"
	}
	return "(e.topic IS NULL OR e.topic = " + topic + ")"
}
