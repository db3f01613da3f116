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

// event is what a market's record does not say itself.
type event struct {
	series   string // empty when unknown
	title    string
	category string
	tags     []string // of the series, read where they decide the lane
	unread   bool     // there may be more that could not be read now
}

// series is what only the series knows.
type series struct {
	tags   []string
	source string // page of the first settlement source
}

// eventObject is an event record.
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

// categoryLane is the lane of each of the venue's categories.
var categoryLane = map[string]protocol.Lane{
	"politics": protocol.LanePolitics, "elections": protocol.LanePolitics, "world": protocol.LaneWorld, "crypto": protocol.LaneCrypto,
	"sports": protocol.LaneSport, "entertainment": protocol.LaneEntertainment, "social": protocol.LaneCulture, "mentions": protocol.LaneCulture,
	"science and technology": protocol.LaneTech, "climate and weather": protocol.LaneScience, "health": protocol.LaneScience,
	"economics": protocol.LaneEconomy, "financials": protocol.LaneEconomy, "companies": protocol.LaneEconomy, "commodities": protocol.LaneEconomy,
	"transportation": protocol.LaneOther, "exotics": protocol.LaneOther,
}

// broad is the category in which the tags of the series decide.
const broad = "entertainment"

// lane is the lane that the venue's own words give.
func (a *Adapter) lane(e event) protocol.Lane {
	category := strings.ToLower(e.category)
	if category == "" {
		return protocol.LaneOther
	}
	if category == broad && e.unread {
		return protocol.LaneOther // without the tags it is a guess
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

// words are the topic words of an event.
func (e event) words() []string {
	var out []string
	if e.category != "" {
		out = append(out, e.category)
	}
	return append(out, e.tags...)
}

// page is the public page of the event's series.
func (e event) page() string {
	if e.series == "" {
		return ""
	}
	return "https://kalshi.com/markets/" + url.PathEscape(strings.ToLower(e.series))
}

// event reads what is known of an event, once. It is best effort: a market is
// a market without it.
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

// tagged adds the tags of the series where they decide the lane.
func (a *Adapter) tagged(ctx context.Context, e event) event {
	if strings.EqualFold(e.category, broad) {
		s, err := a.readSeries(ctx, e.series)
		e.tags, e.unread = s.tags, err != nil
	}
	return e
}

// readSeries reads a series, once; one that does not exist is empty.
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
