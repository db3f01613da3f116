package httpapi

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

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

// feedQuery is the parsed query of a feed request. If the field none is true, the query contains an invalid handle, so no
// event matches.
type feedQuery struct {
	feed.Query
	none bool
}

var feedParams = httpcache.Params("types", "lane", "providers", "handle", "limit", "cursor", "after")

// readFeed parses the query of a feed request. Unknown types, lanes and providers do not filter. An invalid handle sets the
// member none.
func readFeed(rawQuery string) feedQuery {
	v := httpcache.Query(rawQuery, feedParams)
	q := feedQuery{Query: feed.Query{Lane: protocol.LaneFilter(v[1]).String(), Limit: protocol.Limit(v[4], feedDefault, feedMax)}}
	for name := range strings.SplitSeq(v[0], ",") {
		if t, ok := feed.ParseType(strings.TrimSpace(name)); ok {
			q.Types = append(q.Types, t)
		}
	}
	for name := range strings.SplitSeq(v[2], ",") {
		if p, ok := protocol.ParseProvider(strings.TrimSpace(name)); ok {
			q.Providers = append(q.Providers, string(p))
		}
	}
	slices.Sort(q.Types)
	slices.Sort(q.Providers)
	q.Types, q.Providers = slices.Compact(q.Types), slices.Compact(q.Providers)
	if v[3] != "" {
		h, err := protocol.ParseHandle(v[3])
		q.Handle, q.none = h.String(), err != nil
	}
	if after, err := strconv.ParseInt(v[6], 10, 64); err == nil && after >= 0 {
		q.Forward, q.From = true, after
	} else if c, ok := protocol.DecodeCursor(v[5], 1); ok {
		if n, ok := c.Int(0); ok && n >= 0 {
			q.Forward, q.From = c.ID == forward, n
		}
	}
	return q
}

// Directions of a page of the feed, which a cursor contains as its id.
const (
	forward  = "after"
	backward = "before"
)

func (q feedQuery) key() string {
	return httpcache.JoinKey(strings.Join(openapi.Texts(q.Types), ","), q.Lane, strings.Join(q.Providers, ","), q.Handle, strconv.Itoa(q.Limit),
		strconv.FormatBool(q.Forward), strconv.FormatInt(q.From, 10), strconv.FormatBool(q.none))
}

// feed handles GET /api/v1/feed: a page of events. They are sorted newest first, or oldest first if the query has the
// parameter after or a cursor of a page that does.
func (s *Server) feed(c echo.Context) error {
	q := readFeed(c.Request().URL.RawQuery)
	return serve(c, s.feeds, q.key(), func(ctx context.Context) (any, error) {
		if q.none {
			return emptyFeed(), nil
		}
		p, err := s.Feed.ListFeedEvents(ctx, q.Query)
		return showFeed(q, p), err
	})
}

func emptyFeed() any { return feedJSON{Items: []feedItemJSON{}} }

func showFeed(q feedQuery, p feed.Page) feedJSON {
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
