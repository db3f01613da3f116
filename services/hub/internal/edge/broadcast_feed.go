package edge

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/page"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/pkg/web"
	feedv1 "github.com/signalcast/signalcast/proto/feed/v1"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	"github.com/signalcast/signalcast/services/hub/internal/broadcast"
)

type airFeedJSON struct {
	Items      []airItemJSON `json:"items"`
	NextCursor *string       `json:"next_cursor"`
	UpdatedAt  string        `json:"updatedAt"`
}

// airItemJSON is what all kinds have, and the object of the websocket event.
type airItemJSON struct {
	ID       string  `json:"id"`
	Type     string  `json:"type"`
	At       string  `json:"at"`
	MarketID *string `json:"marketId"`
	Title    *string `json:"title"`
	Handle   *string `json:"handle"`
	Text     *string `json:"text"`
	YesBps   *int32  `json:"yesBps"`
	Href     string  `json:"href"`
	Data     any     `json:"data"`
}

// eventData is what the items need of the objects of their events.
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
	_ = json.Unmarshal([]byte(e.GetData()), &d) // what does not fit is left out
	return d
}

func isTake(e *feedv1.Event) bool { return dataOf(e).Event.Type == "take" }

func outcomeOf(e *feedv1.Event) string { return dataOf(e).Outcome }

var airFeedParams = params("limit", "cursor", "types")

func readAirFeed(rawQuery string) broadcast.Query {
	v := page.Query(rawQuery, airFeedParams)
	q := broadcast.Query{Limit: syntax.Limit(v[0], broadcast.DefaultItems, broadcast.MaxItems), Kinds: broadcast.ParseKinds(v[2])}
	if c, ok := syntax.DecodeCursor(v[1], 2); ok {
		event, okEvent := c.Int(0)
		move, okMove := c.Int(1)
		if okEvent && okMove && event > 0 && move >= 0 {
			q.From = broadcast.Place{Event: event, MoveAt: move, MoveID: syntax.MarketID(strings.TrimPrefix(c.ID, ":"))}
		}
	}
	return q
}

func airFeedKey(q broadcast.Query) string {
	kinds := make([]string, len(q.Kinds))
	for i, k := range q.Kinds {
		kinds[i] = string(k)
	}
	return joinKey("feed", keyOf(q.Limit), strings.Join(kinds, ","), fmt.Sprint(q.From.Event, " ", q.From.MoveAt), string(q.From.MoveID))
}

// broadcastFeed is GET /api/broadcast/feed.
func (s *server) broadcastFeed(c echo.Context) error {
	q := readAirFeed(c.Request().URL.RawQuery)
	build := func(ctx context.Context) ([]byte, error) {
		p, err := s.Broadcast.FeedPage(ctx, q, isTake)
		if err != nil {
			return nil, err
		}
		return s.orPassing(s.showAirFeed(p), p.Failed)
	}
	return s.covered(c, s.air, airFeedKey(q), build, func() any { return s.showAirFeed(broadcast.Page{}) })
}

func (s *server) showAirFeed(p broadcast.Page) airFeedJSON {
	out := airFeedJSON{Items: make([]airItemJSON, 0, len(p.Items)), UpdatedAt: syntax.Stamp(s.Now())}
	for i := range p.Items {
		out.Items = append(out.Items, s.showAirItem(&p.Items[i], p.Titles))
	}
	if n := p.Next; n != nil {
		// The id is never empty, and no market begins with a colon.
		out.NextCursor = syntax.NewCursor(":"+string(n.MoveID), syntax.IntKey(n.Event), syntax.IntKey(n.MoveAt)).EncodeOrNull()
	}
	return out
}

func (s *server) showAirItem(i *broadcast.Item, known map[string]*marketv1.Market) airItemJSON {
	if i.Kind == broadcast.KindMove {
		return s.showAirMove(i)
	}
	e := i.Event
	d := dataOf(e)
	out := airItemJSON{
		ID: e.GetId(), Type: string(i.Kind), At: syntax.Stamp(i.At), MarketID: orNull(e.GetMarketId()), Handle: orNull(e.GetHandle()),
		Data: json.RawMessage(e.GetData()),
	}
	if out.MarketID == nil && d.Signal != nil {
		out.MarketID = orNull(d.Signal.MarketID)
	}
	if out.MarketID != nil {
		out.Href = s.marketURL(syntax.MarketID(*out.MarketID))
		if m, ok := known[*out.MarketID]; ok {
			out.Title = &m.Title
		}
	}
	switch i.Kind {
	case broadcast.KindSignal:
		out.Title, out.Text, out.YesBps = d.MarketTitle, d.TextTake, yesOf(&d)
		out.Href = s.receiptURL(d.ID)
	case broadcast.KindTake:
		out.Text, out.Href = d.Event.Payload.Text, s.receiptURL(d.SignalID)
	case broadcast.KindResolved:
		out.Text = orNull("Resolved " + d.Outcome)
	case broadcast.KindLive:
		out.Href = s.HubURL + "/live/" + e.GetHandle()
	case broadcast.KindTape:
		if out.Href == "" {
			out.Href = s.HubURL + "/live/" + e.GetHandle()
		}
	case broadcast.KindSegment:
		out.Title = d.Title
		if d.YesPrice != nil {
			if yes, ok := syntax.BpsOfProbability(*d.YesPrice / 100); ok {
				bps := int32(yes)
				out.YesBps = &bps
			}
		}
	}
	return out
}

// yesOf is the price of YES at which a call was made.
func yesOf(d *eventData) *int32 {
	if d.Price == nil || !slices.Contains([]string{string(syntax.Yes), string(syntax.No)}, d.Direction) {
		return nil
	}
	yes := int32(syntax.Bps(*d.Price).Of(syntax.Side(d.Direction)))
	return &yes
}

func (s *server) showAirMove(i *broadcast.Item) airItemJSON {
	m := i.Move
	row := s.showMove(syntax.Window1h, m)
	id := m.GetMarketId()
	word := "rose"
	if delta(m) < 0 {
		word = "fell"
	}
	text := fmt.Sprintf("%s %g points in an hour", word, float64(max(delta(m), -delta(m)))/100)
	return airItemJSON{
		ID: row.ID + "@" + syntax.IntKey(i.At.Unix()), Type: string(i.Kind), At: row.DetectedAt, MarketID: &id, Title: &row.Title,
		Text: &text, YesBps: &m.ToBps, Href: row.URL, Data: row,
	}
}

// orPassing is the page of an answer; one of which a source is missing passes and is not
// kept.
func (s *server) orPassing(v any, failed error) ([]byte, error) {
	body, err := web.Marshal(v)
	if err != nil {
		return nil, err
	}
	if failed != nil {
		return nil, &passing{page: page.Make(body), source: web.Source(failed)}
	}
	return body, nil
}
