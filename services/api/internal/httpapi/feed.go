package httpapi

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/httpcache"
	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/api/internal/feed"
)

// feedJSON is like openapi.Feed, but the value of "data" in each item is JSON that was stored in this form.
type feedJSON struct {
	Items []feedItemJSON `json:"items"`
	openapi.Feed
}

type feedItemJSON struct {
	openapi.FeedItem
	Data json.RawMessage `json:"data"`
}

// Default and maximum number of items in one page of the feed.
const (
	feedDefault = 50
	feedMax     = 200
)

// Errors of the parameters of a feed request. The route is strict, because an ignored parameter would give a reader other
// events than it requested.
var (
	errTypes     = apperr.New(apperr.Invalid, "invalid_types", "types must be names of event types, separated by commas; docs/protocol/events.md lists them").With("field", "types")
	errProviders = apperr.New(apperr.Invalid, "invalid_providers", "providers must be names of providers, separated by commas").With("field", "providers")
	errHandle    = apperr.New(apperr.Invalid, "invalid_handle", "handle must be 2 to 32 of a-z, 0-9 and _").With("field", "handle")
	errLimit     = apperr.New(apperr.Invalid, "invalid_limit", "limit must be an integer of at least 1").With("field", "limit")
	errCursor    = apperr.New(apperr.Invalid, "invalid_cursor", "cursor must be the next_cursor of an earlier page; omit it for the first page").With("field", "cursor")
	errAfter     = apperr.New(apperr.Invalid, "invalid_after", "after must be the number (seq) of an event, an integer of at least 0").With("field", "after")
)

var feedParams = httpcache.Params("types", "lane", "providers", "handle", "limit", "cursor", "after")

// readFeed parses the query of a feed request. An unknown lane does not filter. Errors: invalid_types, invalid_providers,
// invalid_handle, invalid_limit, invalid_cursor, invalid_after.
func readFeed(rawQuery string) (feed.Query, error) {
	v := httpcache.Query(rawQuery, feedParams)
	given := func(i int) bool { return v[i] != "" || httpcache.Has(rawQuery, feedParams[i].Name) }
	q := feed.Query{Lane: protocol.LaneFilter(v[1]).String(), Limit: protocol.Limit(v[4], feedDefault, feedMax)}
	if given(0) {
		for name := range strings.SplitSeq(v[0], ",") {
			t, ok := feed.ParseType(strings.TrimSpace(name))
			if !ok {
				return q, errTypes
			}
			q.Types = append(q.Types, t)
		}
	}
	if given(2) {
		for name := range strings.SplitSeq(v[2], ",") {
			p, ok := protocol.ParseProvider(strings.TrimSpace(name))
			if !ok {
				return q, errProviders
			}
			q.Providers = append(q.Providers, string(p))
		}
	}
	slices.Sort(q.Types)
	slices.Sort(q.Providers)
	q.Types, q.Providers = slices.Compact(q.Types), slices.Compact(q.Providers)
	if given(3) {
		h, err := protocol.ParseHandle(v[3])
		if err != nil {
			return q, errHandle
		}
		q.Handle = h.String()
	}
	if given(4) && strings.Trim(v[4], "0") == "" || strings.Trim(v[4], "0123456789") != "" {
		return q, errLimit
	}
	if given(6) {
		after, err := strconv.ParseInt(v[6], 10, 64)
		if err != nil || after < 0 {
			return q, errAfter
		}
		q.Forward, q.From = true, after
		return q, nil
	}
	if v[5] != "" {
		c, ok := protocol.DecodeCursor(v[5], 1)
		n, isNumber := c.Int(0)
		if !ok || !isNumber || n < 0 {
			return q, errCursor
		}
		q.Forward, q.From = c.ID == forward, n
	}
	return q, nil
}

// Directions of a page of the feed, which a cursor contains as its id.
const (
	forward  = "after"
	backward = "before"
)

// feedKey returns the cache key of a query. It returns false for an invalid query.
func feedKey(rawQuery string) (string, bool) {
	q, err := readFeed(rawQuery)
	return httpcache.JoinKey(strings.Join(openapi.Texts(q.Types), ","), q.Lane, strings.Join(q.Providers, ","), q.Handle, strconv.Itoa(q.Limit),
		strconv.FormatBool(q.Forward), strconv.FormatInt(q.From, 10)), err == nil
}

// feed handles GET /api/v1/feed: a page of events. They are sorted newest first, or oldest first if the query has the
// parameter after or a cursor of a page that does. Errors: those of readFeed, future_cursor.
func (s *Server) feed(c echo.Context) error {
	q, err := readFeed(c.Request().URL.RawQuery)
	if err != nil {
		return err
	}
	key, _ := feedKey(c.Request().URL.RawQuery)
	return serve(c, s.feeds, key, func(ctx context.Context) (any, error) {
		p, err := s.Feed.ListFeedEvents(ctx, q)
		if err == nil && q.Forward && q.From > p.Head {
			err = future("after", p.Head)
		}
		return showFeed(q, p), err
	})
}

// future returns the error future_cursor for a parameter that is above head, the number of the newest event.
func future(field string, head int64) error {
	return errFuture.WithText("%s is above %d, the number of the newest event", field, head).With("field", field).With("head", head)
}

func emptyFeed() any { return feedJSON{Items: []feedItemJSON{}} }

func showFeed(q feed.Query, p feed.Page) feedJSON {
	out := feedJSON{Items: make([]feedItemJSON, 0, len(p.Events))}
	for _, e := range p.Events {
		out.Items = append(out.Items, feedItemJSON{Data: e.Data, FeedItem: openapi.FeedItem{
			Seq: e.Seq, ID: e.ID, Type: string(e.Type), At: protocol.Stamp(e.At),
			Handle: httpx.OrNull(e.Handle), OperatorPublicID: httpx.OrNull(e.PublicID), MarketID: httpx.OrNull(e.MarketID),
			Provider: httpx.OrNull(e.Provider), Lane: httpx.OrNull(e.Lane),
		}})
	}
	if q.Forward {
		out.Head = &p.Head
	}
	if p.Oldest > 0 {
		out.Gap = &openapi.Feed_Gap{From: q.From, Oldest: p.Oldest}
	}
	if p.More {
		direction := backward
		if q.Forward {
			direction = forward
		}
		out.NextCursor = protocol.NewCursor(direction, protocol.IntKey(p.Next)).EncodeOrNull()
	}
	return out
}
