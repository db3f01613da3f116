package verbs

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/signalcast/signalcast/cmd/signalcast/internal/show"
	"github.com/signalcast/signalcast/sdk/go/feed"
)

// lineOf converts a message to a line of the output. It returns false for messages that are not shown, such as heartbeats of
// the server.
func lineOf(m feed.Message) (watched, bool) {
	var l watched
	switch m := m.(type) {
	case *feed.Event:
		l = watched{Kind: "event", Channel: m.Channel, Seq: m.Seq, Prev: m.Prev, Type: m.Type, At: &m.At, Data: m.Data}
	case *feed.Snapshot:
		l = watched{Kind: "snapshot", Channel: m.Channel, Seq: m.Seq, At: &m.At, Data: m.Data}
	case *feed.Gap:
		l = watched{Kind: "gap", Channel: m.Channel, From: m.From, Oldest: m.Oldest}
	case *feed.ServerError:
		l = watched{Kind: "error", Channel: m.Channel, Error: m.Code}
	}
	l.Op = l.Kind
	return l, l.Kind != ""
}

// write prints one line of the output, as JSON or as text: the time, the type, the operator, and what happened.
func (l *watched) write(s *Streams) error {
	if s.AsJSON() {
		raw, err := json.Marshal(l)
		return errors.Join(err, show.Line(s.Out, raw))
	}
	kind, who, what := l.Type, "", ""
	switch l.Kind {
	case "event":
		who, what = describe(l.Data)
	case "snapshot":
		kind, what = "(snapshot)", l.Channel+" "+string(l.Data)
	case "gap":
		kind = "(gap)"
		what = fmt.Sprintf("events of %s after %d and before %d are no longer stored: read the REST routes again",
			l.Channel, l.From, l.Oldest)
	case "error":
		kind, what = "(refused)", l.Channel+" "+l.Error
	}
	text := fmt.Sprintf("%-20s  %-16s  %-16s  %s", second(l.At), show.Clean(kind), show.Short(who, 40), show.Clean(what))
	if s.Width > 0 {
		text = show.Cut(text, s.Width)
	}
	_, err := fmt.Fprintln(s.Out, strings.TrimRight(text, " "))
	return err
}

// second returns a time in UTC with seconds as text, or "" for nil.
func second(t *time.Time) string {
	if t == nil {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04:05Z")
}

// eventData contains the members of the data of events that watch shows (docs/protocol/events.md).
type eventData struct {
	Handle      string
	MarketID    string
	MarketTitle string
	Title       string
	Direction   string
	Price       *int `json:"priceAtPrediction"`
	Status      string
	Score       *int
	Counted     *bool
	Outcome     *string
	From, To    string
	YesBps      *int
	Viewers     *int
	Tier        string
	Take        *string `json:"textTake"`
	Event       struct {
		Type    string
		Payload map[string]any
	}
}

// describe returns the operator of an event, with the prefix @, and what happened as text. For data of an unknown form it returns
// the data.
func describe(raw json.RawMessage) (who, what string) {
	var d eventData
	if json.Unmarshal(raw, &d) != nil {
		return "", string(raw)
	}
	if d.Handle != "" {
		who = "@" + d.Handle
	}
	var parts []string
	add := func(text string) {
		if text != "" {
			parts = append(parts, text)
		}
	}
	if d.Direction != "" && d.Price != nil {
		add(d.Direction + " at " + show.Cents(*d.Price))
	}
	if d.Status == "won" || d.Status == "lost" || d.Status == "void" {
		add(d.Status)
	}
	if d.Score != nil {
		add(pointsOf(*d.Score))
	}
	if d.Counted != nil && !*d.Counted {
		add("(does not count)")
	}
	add(text(d.Outcome))
	if d.To != "" {
		add(d.From + " to " + d.To)
	}
	if d.Event.Type != "" {
		add(strings.TrimSpace(d.Event.Type + " " + payloadText(d.Event.Payload)))
	}
	add(d.Tier)
	if d.YesBps != nil {
		add("YES " + show.Cents(*d.YesBps))
	}
	if d.Viewers != nil {
		add(fmt.Sprintf("%d viewers", *d.Viewers))
	}
	facts, title, take := strings.Join(parts, " "), cmp.Or(d.MarketTitle, d.Title, d.MarketID), text(d.Take)
	if facts == "" && title == "" {
		var members map[string]any
		_ = json.Unmarshal(raw, &members) // an object, as above
		return who, payloadText(members)
	}
	if take != "" {
		take = "“" + take + "”"
	}
	return who, strings.Join(slices.DeleteFunc([]string{facts, title, take}, func(s string) bool { return s == "" }), " · ")
}
