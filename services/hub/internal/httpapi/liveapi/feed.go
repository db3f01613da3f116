package liveapi

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/signalcast/signalcast/pkg/httpcache"
	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/protocol"
	feedv1 "github.com/signalcast/signalcast/proto/feed/v1"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/hub/internal/broadcast"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
)

type airFeedJSON struct {
	Items      []airItemJSON `json:"items"`
	NextCursor *string       `json:"next_cursor"`
	UpdatedAt  string        `json:"updatedAt"`
}

// airItemJSON is an item of the broadcast feed. Data is the data of the published event, unchanged, or the price move of the
// item.
type airItemJSON struct {
	openapi.BroadcastItem
	Data any `json:"data"`
}

// eventData has the members of event data that feed items show.
type eventData struct {
	ID          string   `json:"id"`
	MarketTitle *string  `json:"marketTitle"`
	Title       *string  `json:"title"`
	Direction   string   `json:"direction"`
	Price       *int32   `json:"priceAtPrediction"`
	TextTake    *string  `json:"textTake"`
	YesPrice    *float64 `json:"yesPrice"`
	Outcome     string   `json:"outcome"`
	SignalID    string   `json:"signalId"`
	MarketID    string   `json:"marketId"`
	Event       struct {
		Type    string `json:"type"`
		Payload struct {
			Text *string `json:"text"`
		} `json:"payload"`
	} `json:"event"`
	Signal *struct {
		MarketID string `json:"marketId"`
	} `json:"signal"`
}

func dataOf(e *feedv1.Event) (d eventData) {
	_ = json.Unmarshal([]byte(e.GetData()), &d) // members with an unexpected type stay empty
	return d
}

func isTake(e *feedv1.Event) bool { return dataOf(e).Event.Type == "take" }

func outcomeOf(e *feedv1.Event) string { return dataOf(e).Outcome }

var airFeedParams = httpcache.Params("limit", "cursor", "types")

// airFeedQuery is a normalized query for the broadcast feed.
type airFeedQuery struct{ broadcast.Query }

func readAirFeed(rawQuery string) airFeedQuery {
	v := httpcache.Query(rawQuery, airFeedParams)
	q := broadcast.Query{
		Limit: protocol.Limit(v[0], broadcast.DefaultItems, broadcast.MaxItems),
		Kinds: broadcast.ParseKinds(v[2]),
	}
	if c, ok := protocol.DecodeCursor(v[1], 2); ok {
		event, okEvent := c.Int(0)
		move, okMove := c.Int(1)
		if okEvent && okMove && event > 0 && move >= 0 {
			q.From = broadcast.Place{Event: event, MoveAt: move, MoveID: protocol.MarketID(strings.TrimPrefix(c.ID, ":"))}
		}
	}
	return airFeedQuery{q}
}

// Key implements view.Query.
func (q airFeedQuery) Key() string {
	return httpcache.JoinKey(
		"feed", strconv.Itoa(q.Limit), strings.Join(openapi.Texts(q.Kinds), ","), fmt.Sprint(q.From.Event, " ", q.From.MoveAt),
		string(q.From.MoveID),
	)
}

// BroadcastFeed handles GET /api/broadcast/feed, one page of events and price moves.
func (s *Server) BroadcastFeed() view.Read[airFeedQuery] {
	return view.Read[airFeedQuery]{
		Pages: s.airPages, Parse: readAirFeed, NoCopies: true,
		Build: func(ctx context.Context, q airFeedQuery) (view.Answer, error) {
			p, err := s.Broadcast.FeedPage(ctx, q.Query, isTake)
			return view.Answer{Value: s.showAirFeed(p), Missing: httpx.Source(p.Failed)}, err
		},
		Empty: func(airFeedQuery) any { return s.showAirFeed(broadcast.Page{}) },
	}
}

func (s *Server) showAirFeed(p broadcast.Page) airFeedJSON {
	out := airFeedJSON{Items: make([]airItemJSON, 0, len(p.Items)), UpdatedAt: protocol.Stamp(s.Now())}
	for i := range p.Items {
		out.Items = append(out.Items, s.showAirItem(&p.Items[i], p.Titles))
	}
	if n := p.Next; n != nil {
		// The colon keeps the id from being empty. Market ids do not start with a colon.
		out.NextCursor = protocol.NewCursor(":"+string(n.MoveID), protocol.IntKey(n.Event),
			protocol.IntKey(n.MoveAt)).EncodeOrNull()
	}
	return out
}

func (s *Server) showAirItem(i *broadcast.Item, known map[string]*marketv1.Market) airItemJSON {
	if i.Kind == broadcast.KindMove {
		return s.showAirMove(i)
	}
	e := i.Event
	d := dataOf(e)
	out := airItemJSON{Data: json.RawMessage(e.GetData())}
	out.ID, out.Type, out.At = e.GetId(), string(i.Kind), protocol.Stamp(i.At)
	out.MarketID, out.Handle = httpx.OrNull(e.GetMarketId()), httpx.OrNull(e.GetHandle())
	if out.MarketID == nil && d.Signal != nil {
		out.MarketID = httpx.OrNull(d.Signal.MarketID)
	}
	if out.MarketID != nil {
		out.Href = view.MarketURL(s.HubURL, protocol.MarketID(*out.MarketID))
		if m, ok := known[*out.MarketID]; ok {
			out.Title = &m.Title
		}
	}
	switch i.Kind {
	case broadcast.KindSignal:
		out.Title, out.Text, out.YesBps = d.MarketTitle, d.TextTake, yesOf(&d)
		out.Href = view.ReceiptURL(s.HubURL, d.ID)
	case broadcast.KindTake:
		out.Text, out.Href = d.Event.Payload.Text, view.ReceiptURL(s.HubURL, d.SignalID)
	case broadcast.KindResolved:
		out.Text = httpx.OrNull("Resolved " + d.Outcome)
	case broadcast.KindLive:
		out.Href = s.HubURL + "/live/" + e.GetHandle()
	case broadcast.KindTape:
		if out.Href == "" {
			out.Href = s.HubURL + "/live/" + e.GetHandle()
		}
	case broadcast.KindSegment:
		out.Title = d.Title
		if d.YesPrice != nil {
			if yes, ok := protocol.BpsOfProbability(*d.YesPrice / 100); ok {
				out.YesBps = new(int64(yes))
			}
		}
	}
	return out
}

// yesOf returns the price of YES at which a call was filed, in bps; nil without a price or side.
func yesOf(d *eventData) *int64 {
	if d.Price == nil || !slices.Contains([]string{string(protocol.Yes), string(protocol.No)}, d.Direction) {
		return nil
	}
	return new(int64(protocol.Bps(*d.Price).Of(protocol.Side(d.Direction))))
}

func (s *Server) showAirMove(i *broadcast.Item) airItemJSON {
	m := i.Move
	row := view.ShowMove(s.HubURL, protocol.Window1h, m)
	verb := "rose"
	if view.Delta(m) < 0 {
		verb = "fell"
	}
	text := fmt.Sprintf("%s %g points in an hour", verb, float64(max(view.Delta(m), -view.Delta(m)))/100)
	return airItemJSON{openapi.BroadcastItem{
		ID: row.ID + "@" + protocol.IntKey(i.At.Unix()), Type: string(i.Kind), At: row.DetectedAt, MarketID: &m.MarketId,
		Title: &row.Title, Text: &text, YesBps: openapi.Int(&m.ToBps), Href: row.URL,
	}, row}
}
