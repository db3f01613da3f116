package pages

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/protocol"
	feedv1 "github.com/signalcast/signalcast/proto/feed/v1"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	"github.com/signalcast/signalcast/proto/openapi"
	wirev1 "github.com/signalcast/signalcast/proto/wire/v1"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/format"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/site"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
	"github.com/signalcast/signalcast/services/hub/internal/signal"
)

const (
	feedPath    = "/feed"
	eventsShown = 50
	movesShown  = 20
)

// feedPage is the feed as the server renders it. The script of the page adds the events whose sequence numbers are above Head.
type feedPage struct {
	site.Layout
	Views     []tab
	Channel   string
	Head      int64
	Rows      []feedRow
	UpdatedAt string
}

// feedRow is one event or price move of the feed. The script of the page formats later ones in the same way.
type feedRow struct {
	Seq               int64
	Key               string // only for a price move: a later move with the same key replaces the row
	Label, Class      string
	Handle, HandleURL string
	Title, URL        string
	Fact, Text        string
	Receipt           string // link of the fact to the receipt; empty: none
	At                time.Time
}

// feedView is a selectable view of the feed: all calls, the calls of one lane, resolutions or price moves.
type feedView struct {
	channel, query, label string
	types                 []string
	lane                  protocol.Lane
}

var (
	callTypes    = []string{"signal.created", "signal.event", "signal.resolved"}
	outcomeTypes = []string{"market.resolved", "market.disputed", "market.dispute_cleared"}
)

// wireChannel is the channel of price moves, which have no sequence numbers.
const wireChannel = "wire"

func feedViews() []feedView {
	views := []feedView{
		{channel: "signals", label: "All calls", types: callTypes},
		{channel: "resolutions", query: "?of=resolutions", label: "Resolutions", types: outcomeTypes},
		{channel: wireChannel, query: "?of=wire", label: "Price moves"},
	}
	for _, lane := range protocol.Lanes {
		if lane.Filterable() {
			views = append(views, feedView{
				channel: "signals:lane:" + string(lane), query: "?lane=" + strings.ToLower(string(lane)),
				label: format.TitleCase(lane), types: callTypes, lane: lane,
			})
		}
	}
	return views
}

// viewOf returns the view that the query selects. Invalid values select the first view.
func viewOf(c echo.Context, views []feedView) feedView {
	of, lane := c.QueryParam("of"), protocol.LaneFilter(c.QueryParam("lane"))
	for _, v := range views {
		if of != "" && v.channel == of || of == "" && lane != "" && v.lane == lane {
			return v
		}
	}
	return views[0]
}

// feed handles GET /feed, the page with the latest events or price moves.
func (s *server) feed(c echo.Context) error {
	views := feedViews()
	here := viewOf(c, views)
	p := feedPage{
		Layout:  s.NewLayout(c, "Live feed", "Live activity on Signalcast.", feedPath+here.query),
		Channel: here.channel, UpdatedAt: s.Now().UTC().Format("15:04:05 UTC"),
	}
	p.Wide, p.Nav, p.OGType, p.Feed = true, "feed", "website", atomFile
	for _, v := range views {
		p.Views = append(p.Views, tab{Label: v.label, URL: feedPath + v.query, Here: v.channel == here.channel})
	}
	g := site.NewPartReader(c.Request().Context(), site.PartsTimeout)
	if here.channel == wireChannel {
		moves := site.CallPart(g, "feed", s.Ledger.Wire.ListMoves, &wirev1.ListMovesRequest{
			Window: string(protocol.Window24h), Limit: movesShown,
		})
		p.Unavailable = g.Wait()
		for _, m := range moves.Value.GetMoves() {
			p.Rows = append(p.Rows, moveRow(m))
		}
	} else {
		events := site.CallPart(g, "feed", s.Ledger.Feed.ListEvents, &feedv1.ListEventsRequest{
			Types: here.types, Lane: string(here.lane), Limit: eventsShown,
		})
		p.Unavailable = g.Wait()
		p.Head = events.Value.GetHead()
		p.Rows = feedRows(events.Value)
	}
	s.allowSocket(c)
	return s.RenderParts(c, g, http.StatusOK, "feed", p)
}

// allowSocket lets the scripts of a page open the websocket of the live feed, if there is one.
func (s *server) allowSocket(c echo.Context) {
	if s.socket != "" {
		c.Response().Header().Set("Content-Security-Policy", site.PagePolicy+s.socketSource())
	}
}

// eventData has the members of event data that feed rows show.
type eventData struct {
	ID, SignalID, MarketID, MarketTitle, Handle string
	Direction, Status, Outcome, TextTake        string
	Sides                                       *openapi.MarketSides // nil if they are Yes and No
	PriceAtPrediction, ScoreBasisBps            int
	Score                                       *int
	Counted                                     *bool
	Approved                                    bool   // of a live broadcast
	ShowID                                      string // session of a live broadcast
	Event                                       struct {
		Type    string
		Payload struct {
			Text       string
			Confidence int
		}
	}
}

// side returns the name that the venue gives to YES or NO of the market of the event. It returns other texts, such as Void,
// unchanged.
func (d *eventData) side(side string) string {
	if d.Sides == nil {
		return side
	}
	return view.SideName(&marketv1.Market{Outcomes: []string{d.Sides.Yes, d.Sides.No}}, side)
}

var feedLabels = map[string]string{
	"signal.created": "Call", "signal.event": "Note", "signal.resolved": "Result",
	"market.resolved": "Resolved", "market.disputed": "Disputed", "market.dispute_cleared": "Dispute cleared",
}

func feedRows(events *feedv1.ListEventsResponse) []feedRow {
	var rows []feedRow
	for _, e := range events.GetEvents() {
		rows = append(rows, feedRowOf(e))
	}
	return rows
}

// dataOf returns the data of an event. Members that are missing or invalid are empty.
func dataOf(e *feedv1.Event) eventData {
	var d eventData
	_ = json.Unmarshal([]byte(e.GetData()), &d)
	return d
}

// feedRowOf returns the row of an event. If the event data is invalid, the row has no details.
func feedRowOf(e *feedv1.Event) feedRow {
	d := dataOf(e)
	at := ledgerclient.Time(e.GetAt())
	r := feedRow{
		Seq: e.GetSeq(), Label: feedLabels[e.GetType()], Class: strings.ReplaceAll(e.GetType(), ".", "-"), Title: d.MarketTitle,
		At: at,
	}
	if handle := e.GetHandle(); handle != "" {
		r.Handle, r.HandleURL = "@"+handle, site.PersonPath+handle
	}
	if id := e.GetMarketId(); id != "" {
		r.URL = site.MarketPath + id
	}
	switch e.GetType() {
	case "signal.created":
		r.Receipt, r.Fact, r.Text = site.ReceiptPath+d.ID, d.side(d.Direction)+" at "+format.CallPrice(cmp.Or(d.ScoreBasisBps, d.PriceAtPrediction), d.PriceAtPrediction), d.TextTake
	case "signal.event":
		r.URL, r.Text = site.ReceiptPath+d.SignalID, d.Event.Payload.Text
		r.Label = cmp.Or(eventLabels[signal.EventType(d.Event.Type)], eventLabels[signal.Note])
		if d.Event.Payload.Confidence > 0 {
			r.Fact = strconv.Itoa(d.Event.Payload.Confidence) + "% confidence"
		}
	case "signal.resolved":
		r.URL, r.Fact = site.ReceiptPath+d.SignalID, format.StatusLabel(d.Status)
		switch {
		case d.Score == nil || d.Status == string(protocol.Void):
		case d.Counted != nil && !*d.Counted:
			r.Fact += ", not counted"
		default:
			r.Fact += ", " + view.PointsLabel(int64(*d.Score))
		}
	default:
		r.Fact = d.side(view.OutcomeLabel(d.Outcome))
	}
	if r.Title == "" {
		r.Title = "Market " + e.GetMarketId()
	}
	return r
}

func moveRow(m *wirev1.Move) feedRow {
	at, id := ledgerclient.Time(m.GetDetectedAt()), m.GetMarketId()
	// A move has the name of YES only, which is the only side that the row shows.
	named := &marketv1.Market{Outcomes: []string{cmp.Or(m.GetOutcome(), "Yes"), "No"}}
	yes := view.SideName(named, string(protocol.Yes))
	return feedRow{
		Key: m.GetProvider() + ":" + id, Label: "Price move", Class: "wire-move", Title: m.GetTitle(), URL: site.MarketPath + id,
		Fact: yes + " " + format.Cents(m.GetFromBps()) + " to " + format.Cents(m.GetToBps()), Text: format.VenueName(m.GetProvider()),
		At: at,
	}
}
