package edge

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/page"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/pkg/web"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/api/internal/feed"
)

type feedJSON struct {
	Items []feedItemJSON    `json:"items"`
	Next  *string           `json:"next_cursor"`
	Head  *int64            `json:"head,omitempty"` // these two with after
	Gap   *openapi.Feed_Gap `json:"gap,omitempty"`
}

type feedItemJSON struct {
	Seq      int64           `json:"seq"`
	ID       string          `json:"id"`
	Type     string          `json:"type"`
	At       string          `json:"at"`
	Handle   *string         `json:"handle"`
	PublicID *string         `json:"operatorPublicId"`
	MarketID *string         `json:"marketId"`
	Provider *string         `json:"provider"`
	Lane     *string         `json:"lane"`
	Data     json.RawMessage `json:"data"`
}

// Page sizes of the feed.
const (
	feedDefault = 50
	feedMax     = 200
)

// feedQuery is the normal form of a feed request. None tells that no
// event can fit.
type feedQuery struct {
	feed.Query
	none bool
}

var feedParams = params("types", "lane", "providers", "handle", "limit", "cursor", "after")

// readFeed never fails: what is not known does not filter. A handle that cannot
// exist has no events.
func readFeed(rawQuery string) feedQuery {
	v := page.Query(rawQuery, feedParams)
	q := feedQuery{Query: feed.Query{Lane: syntax.LaneFilter(v[1]).String(), Limit: syntax.Limit(v[4], feedDefault, feedMax)}}
	for name := range strings.SplitSeq(v[0], ",") {
		if t, ok := feed.ParseType(strings.TrimSpace(name)); ok {
			q.Types = append(q.Types, t)
		}
	}
	for name := range strings.SplitSeq(v[2], ",") {
		if p, ok := syntax.ParseProvider(strings.TrimSpace(name)); ok {
			q.Providers = append(q.Providers, string(p))
		}
	}
	slices.Sort(q.Types)
	slices.Sort(q.Providers)
	q.Types, q.Providers = slices.Compact(q.Types), slices.Compact(q.Providers)
	if v[3] != "" {
		h, err := syntax.ParseHandle(v[3])
		q.Handle, q.none = h.String(), err != nil
	}
	if after, err := strconv.ParseInt(v[6], 10, 64); err == nil && after >= 0 {
		q.Forward, q.From = true, after
	} else if c, ok := syntax.DecodeCursor(v[5], 1); ok {
		if n, ok := c.Int(0); ok && n >= 0 {
			q.Forward, q.From = c.ID == forward, n
		}
	}
	return q
}

// A cursor of the feed carries the direction as its id.
const (
	forward  = "after"
	backward = "before"
)

func (q feedQuery) key() string {
	return joinKey(joinTypes(q.Types), q.Lane, strings.Join(q.Providers, ","), q.Handle, strconv.Itoa(q.Limit),
		strconv.FormatBool(q.Forward), strconv.FormatInt(q.From, 10), strconv.FormatBool(q.none))
}

func joinTypes(types []feed.Type) string {
	names := make([]string, len(types))
	for i, t := range types {
		names[i] = string(t)
	}
	return strings.Join(names, ",")
}

// feed is GET /api/v1/feed.
func (s *server) feed(c echo.Context) error {
	q := readFeed(c.Request().URL.RawQuery)
	return s.feeds.Serve(c.Response(), c.Request(), q.key(), func(ctx context.Context) ([]byte, error) {
		if q.none {
			return web.Marshal(emptyFeed())
		}
		p, err := s.Feed.ListFeedEvents(ctx, q.Query)
		if err != nil {
			return nil, err
		}
		return web.Marshal(showFeed(q, p))
	})
}

func emptyFeed() any { return feedJSON{Items: []feedItemJSON{}} }

func showFeed(q feedQuery, p feed.Page) feedJSON {
	out := feedJSON{Items: make([]feedItemJSON, 0, len(p.Events))}
	for _, e := range p.Events {
		out.Items = append(out.Items, feedItemJSON{
			Seq: e.Seq, ID: e.ID, Type: string(e.Type), At: syntax.Stamp(e.At),
			Handle: orNull(e.Handle), PublicID: orNull(e.PublicID), MarketID: orNull(e.MarketID),
			Provider: orNull(e.Provider), Lane: orNull(e.Lane), Data: e.Data,
		})
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
		out.Next = syntax.NewCursor(direction, syntax.IntKey(p.Next)).EncodeOrNull()
	}
	return out
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// params makes page parameters that are taken as they come; the reader of the
// query cleans them.
func params(names ...string) []page.Param {
	out := make([]page.Param, len(names))
	for i, name := range names {
		out[i] = page.Param{Name: name, Clean: func(v string) string { return v }}
	}
	return out
}

func joinKey(parts ...string) string { return strings.Join(parts, "\x00") }
