package kalshi

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/attention/categorise"
	"github.com/signalcast/signalcast/services/api/internal/venue"
	"github.com/signalcast/signalcast/services/api/internal/venue/loosejson"
)

// event contains the data of a market that is stored in the record of its event.
type event struct {
	series   string // empty if unknown
	title    string
	category string
	tags     []string // tags of the series; read only for the category in which they decide the lane
	unread   bool     // part of the data could not be read
}

// series contains the data of a market that is stored only in the record of its series.
type series struct {
	tags   []string
	source string // address of the first settlement source
}

// eventObject is the JSON record of an event.
type eventObject struct {
	Ticker   loosejson.Text    `json:"event_ticker"`
	Series   loosejson.Text    `json:"series_ticker"`
	Title    loosejson.Text    `json:"title"`
	Category loosejson.Text    `json:"category"`
	Markets  []json.RawMessage `json:"markets"`
}

func (o *eventObject) event() event {
	e := event{title: loosejson.Plain(string(o.Title), loosejson.MaxTitle), category: loosejson.Plain(string(o.Category), loosejson.MaxWord)}
	if isTicker(string(o.Series)) {
		e.series = string(o.Series)
	}
	return e
}

// categoryLane maps the known categories of the venue, in lower case, to content lanes.
var categoryLane = map[string]protocol.Lane{
	"politics": protocol.LanePolitics, "elections": protocol.LanePolitics, "world": protocol.LaneWorld, "crypto": protocol.LaneCrypto,
	"sports": protocol.LaneSport, "entertainment": protocol.LaneEntertainment, "social": protocol.LaneCulture, "mentions": protocol.LaneCulture,
	"science and technology": protocol.LaneTech, "climate and weather": protocol.LaneScience, "health": protocol.LaneScience,
	"economics": protocol.LaneEconomy, "financials": protocol.LaneEconomy, "companies": protocol.LaneEconomy, "commodities": protocol.LaneEconomy,
	"transportation": protocol.LaneOther, "exotics": protocol.LaneOther,
}

// broad is the only category in which the tags of the series decide the lane.
const broad = "entertainment"

// lane returns the content lane that follows from the category and the tags of an event. It returns OTHER if they are
// unknown.
func (a *Adapter) lane(e event) protocol.Lane {
	category := strings.ToLower(e.category)
	if category == "" {
		return protocol.LaneOther
	}
	if category == broad && e.unread {
		return protocol.LaneOther // without the tags the lane is unknown
	}
	lane, known := categoryLane[category]
	if !known {
		a.client.UnknownWord("category", category)
		return protocol.LaneOther
	}
	if category == broad && categorise.ByTags(e.tags) == protocol.LaneMusic {
		return protocol.LaneMusic
	}
	return lane
}

// words returns the topic words of an event: its category and its tags.
func (e event) words() []string {
	var out []string
	if e.category != "" {
		out = append(out, e.category)
	}
	return append(out, e.tags...)
}

// page returns the address of the public page of the event's series, or "" if the series is unknown.
func (e event) page() string {
	if e.series == "" {
		return ""
	}
	return "https://kalshi.com/markets/" + url.PathEscape(strings.ToLower(e.series))
}

// event returns the data of an event, which it requests once and then caches. For an invalid ticker the result is empty.
// After a failed request the result has unread set; this is not an error, because a market is usable without this data.
func (a *Adapter) event(ctx context.Context, ticker string) event {
	if !isTicker(ticker) {
		return event{}
	}
	e, known := a.events.Get(ticker)
	if !known {
		raw, err := a.client.Get(ctx, "event", "/events/"+ticker, nil)
		if err != nil && !venue.Missing(err) {
			return event{unread: true}
		}
		var box struct {
			Event eventObject `json:"event"`
		}
		if err == nil && (json.Unmarshal(raw, &box) != nil || string(box.Event.Ticker) != ticker) {
			return event{unread: true}
		}
		e = box.Event.event()
		a.events.Put(ticker, e)
	}
	return a.tagged(ctx, e)
}

// tagged returns e unchanged if its category is not broad. Otherwise the tags of the series decide the lane, so tagged adds
// them to e. It sets unread if the tags cannot be read.
func (a *Adapter) tagged(ctx context.Context, e event) event {
	if strings.EqualFold(e.category, broad) {
		s, err := a.readSeries(ctx, e.series)
		e.tags, e.unread = s.tags, err != nil
	}
	return e
}

// readSeries returns the data of a series, which it requests once and then caches. The data is empty if the series does not
// exist.
func (a *Adapter) readSeries(ctx context.Context, ticker string) (series, error) {
	if ticker == "" {
		return series{}, nil
	}
	if s, known := a.series.Get(ticker); known {
		return s, nil
	}
	raw, err := a.client.Get(ctx, "series", "/series/"+ticker, nil)
	if err != nil && !venue.Missing(err) {
		return series{}, err
	}
	var box struct {
		Series struct {
			Tags    []loosejson.Text `json:"tags"`
			Sources []struct {
				URL loosejson.Text `json:"url"`
			} `json:"settlement_sources"`
		} `json:"series"`
	}
	if err == nil {
		if err := json.Unmarshal(raw, &box); err != nil {
			return series{}, fmt.Errorf("decode series %s: %w", ticker, err)
		}
	}
	s := series{tags: loosejson.AppendWords(nil, box.Series.Tags...)}
	if len(box.Series.Sources) > 0 {
		s.source = box.Series.Sources[0].URL.Link()
	}
	a.series.Put(ticker, s)
	return s, nil
}
