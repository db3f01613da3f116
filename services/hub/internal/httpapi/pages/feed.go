package pages

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/protocol"
	feedv1 "github.com/signalcast/signalcast/proto/feed/v1"
	wirev1 "github.com/signalcast/signalcast/proto/wire/v1"
)

const (
	feedPath    = "/feed"
	eventsShown = 50
	movesShown  = 20
)

// feedPage is the feed as the server read it. The script of the page adds the events after Head.
type feedPage struct {
	frame
	Views   []tab
	Channel string
	Head    int64
	Rows    []feedRow
	Read    string
}

// feedRow is one event in words. The script makes the same of what comes later.
type feedRow struct {
	Seq         int64
	Key         string // of a move: a later one takes its place
	Word, Class string
	Who, WhoURL string
	Title, URL  string
	Fact, Text  string
	Receipt     string // leads to where the fact is proved; empty: the title does, or nothing
	At, AtISO   string
}

// feedView is what of the feed is looked at.
type feedView struct {
	channel, query, label string
	types                 []string
	lane                  protocol.Lane
}

var (
	callTypes    = []string{"signal.created", "signal.event", "signal.resolved"}
	outcomeTypes = []string{"market.resolved", "market.disputed", "market.dispute_cleared"}
)

// wireChannel is the view of moves, which have no numbers.
const wireChannel = "wire"

func feedViews() []feedView {
	views := []feedView{
		{channel: "signals", label: "All calls", types: callTypes},
		{channel: "resolutions", query: "?of=resolutions", label: "Resolutions", types: outcomeTypes},
		{channel: wireChannel, query: "?of=wire", label: "Wire"},
	}
	for _, lane := range protocol.Lanes {
		if lane.Filterable() {
			views = append(views, feedView{
				channel: "signals:lane:" + string(lane), query: "?lane=" + strings.ToLower(string(lane)), label: capital(lane), types: callTypes, lane: lane,
			})
		}
	}
	return views
}

// viewOf reads the query; what cannot be meant is the default.
func viewOf(c echo.Context, views []feedView) feedView {
	of, lane := c.QueryParam("of"), protocol.LaneFilter(c.QueryParam("lane"))
	for _, v := range views {
		if of != "" && v.channel == of || of == "" && lane != "" && v.lane == lane {
			return v
		}
	}
	return views[0]
}

// feed is GET /feed: the newest events as the server reads them, and a script that
// goes on behind them.
func (s *site) feed(c echo.Context) error {
	views := feedViews()
	here := viewOf(c, views)
	p := feedPage{
		frame:   s.frame(c, "Live feed", "Live activity on Signalcast.", feedPath+here.query),
		Channel: here.channel, Read: s.Now().UTC().Format("15:04:05 UTC"),
	}
	p.Wide, p.Here, p.Kind = true, "feed", "website"
	for _, v := range views {
		p.Views = append(p.Views, tab{Label: v.label, URL: feedPath + v.query, Here: v.channel == here.channel})
	}
	g := newGather(c.Request().Context(), partsWithin)
	if here.channel == wireChannel {
		moves := askFor(g, "feed", s.Ledger.Wire.ListMoves, &wirev1.ListMovesRequest{
			Window: string(protocol.Window24h), Limit: movesShown,
		})
		p.Away = g.done()
		for _, m := range moves.Value.GetMoves() {
			p.Rows = append(p.Rows, rowOfMove(m))
		}
	} else {
		events := askFor(g, "feed", s.Ledger.Feed.ListEvents, &feedv1.ListEventsRequest{
			Types: here.types, Lane: string(here.lane), Limit: eventsShown,
		})
		p.Away = g.done()
		p.Head = events.Value.GetHead()
		for _, e := range events.Value.GetEvents() {
			p.Rows = append(p.Rows, rowOfEvent(e))
		}
	}
	if s.socket != "" {
		c.Response().Header().Set("Content-Security-Policy", policy+"; script-src 'self'; connect-src"+s.socketSource())
	}
	return s.renderParts(c, g, http.StatusOK, "feed", p)
}

// eventData is what rows take from the data of an event.
type eventData struct {
	ID, SignalID, MarketID, MarketTitle, Handle string
	Direction, Status, Outcome, TextTake        string
	PriceAtPrediction                           int
	Score                                       *int
	Counted                                     *bool
	Event                                       struct {
		Type    string
		Payload struct {
			Text       string
			Confidence int
		}
	}
}

var feedWords = map[string]string{
	"signal.created": "Call", "signal.event": "Note", "signal.resolved": "Result",
	"market.resolved": "Resolved", "market.disputed": "Disputed", "market.dispute_cleared": "Dispute cleared",
}

// rowOfEvent puts an event into words. Data that cannot be read leaves the row bare.
func rowOfEvent(e *feedv1.Event) feedRow {
	var d eventData
	_ = json.Unmarshal([]byte(e.GetData()), &d)
	at := ledgerclient.Time(e.GetAt())
	r := feedRow{
		Seq: e.GetSeq(), Word: feedWords[e.GetType()], Class: strings.ReplaceAll(e.GetType(), ".", "-"), Title: d.MarketTitle,
		At: at.UTC().Format("15:04:05"), AtISO: protocol.Stamp(at),
	}
	if handle := e.GetHandle(); handle != "" {
		r.Who, r.WhoURL = "@"+handle, personPath+handle
	}
	if id := e.GetMarketId(); id != "" {
		r.URL = marketPath + id
	}
	switch e.GetType() {
	case "signal.created":
		r.Receipt, r.Fact, r.Text = receiptPath+d.ID, d.Direction+" at "+cents(d.PriceAtPrediction), d.TextTake
	case "signal.event":
		r.URL, r.Word, r.Text = receiptPath+d.SignalID, eventWord(d.Event.Type), d.Event.Payload.Text
		if d.Event.Payload.Confidence > 0 {
			r.Fact = strconv.Itoa(d.Event.Payload.Confidence) + "% sure"
		}
	case "signal.resolved":
		r.URL, r.Fact = receiptPath+d.SignalID, statusWord(d.Status)
		switch {
		case d.Score == nil || d.Status == string(protocol.Void):
		case d.Counted != nil && !*d.Counted:
			r.Fact += " not counted"
		default:
			r.Fact += " " + signed(*d.Score)
		}
	default:
		r.Fact = d.Outcome
	}
	if r.Title == "" {
		r.Title = "Market " + e.GetMarketId()
	}
	return r
}

func eventWord(kind string) string {
	switch kind {
	case "take", "reaffirm", "confidence", "share":
		return strings.ToUpper(kind[:1]) + kind[1:]
	}
	return "Note"
}

func rowOfMove(m *wirev1.Move) feedRow {
	at, id := ledgerclient.Time(m.GetDetectedAt()), m.GetMarketId()
	return feedRow{
		Key: m.GetProvider() + ":" + id, Word: "Move", Class: "wire-move", Title: m.GetTitle(), URL: marketPath + id,
		Fact: percent(m.GetFromBps()) + " to " + percent(m.GetToBps()), Text: venueWord(m.GetProvider()),
		At: at.UTC().Format("15:04:05"), AtISO: protocol.Stamp(at),
	}
}
