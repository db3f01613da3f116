package feedclient

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/signalcast/signalcast/sdk/go/feed"
)

// library reads the feed with the Go library of the SDK until ctx ends. With the kind Reopened, it also returns when the library
// loses the connection.
func (r *Reader) library(ctx context.Context, web *http.Client) {
	reading, stop := context.WithCancel(ctx)
	defer stop()
	c, err := feed.Open(ctx, feed.Options{
		URL: r.URL + "/ws", Channels: slices.Sorted(maps.Keys(r.Channels)), Since: r.positions(), HTTPClient: web,
		OnState: func(s feed.State) {
			switch {
			case s.Phase == feed.Live:
				r.countSession()
			case s.Phase == feed.Hole:
				r.countMissing()
			case s.Phase == feed.Reconnecting && r.Kind == Reopened:
				stop()
			}
		},
	})
	if err != nil {
		r.countError(err.Error())
		return
	}
	r.receive(reading, c)
	c.Close()
	if ctx.Err() == nil { // the session was not killed: messages that the library has already read are recorded
		r.receive(ctx, c)
		if at := r.positions(); !maps.Equal(c.Last(), at) {
			r.countError(fmt.Sprintf("the library reports the positions %v; the reader has recorded %v", c.Last(), at))
		}
	}
	r.count(func(counts *Counts) { counts.Repeats += int(c.Stats().Repeats) })
}

// receive records messages that the library returns. It returns when the library has no further message or ctx ends.
func (r *Reader) receive(ctx context.Context, c *feed.Client) {
	for {
		m, err := c.Next(ctx)
		if err != nil {
			return
		}
		switch m := m.(type) {
		case *feed.Event:
			if m.Numbered() {
				r.record(m.Channel, m.Seq, m.Type, m.Data)
			}
		case *feed.Gap:
			r.countGap()
		case *feed.ServerError:
			r.countError(m.Error())
		}
	}
}

// frame contains the members of a server message that a Reader uses.
type frame struct {
	Op      string
	Channel string
	Seq     int64
	Prev    int64 // number of the previous event; 0 if the message has null
	Type    string
	Data    json.RawMessage
	Error   string
}

// stream reads the feed over one connection of server-sent events (SSE), from the recorded positions until the connection ends.
func (r *Reader) stream(ctx context.Context, web *http.Client) {
	channels := slices.Sorted(maps.Keys(r.Channels))
	at := r.lastEventID(channels)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet,
		r.URL+"/api/v1/feed/stream?channels="+url.QueryEscape(strings.Join(channels, ",")), nil)
	if err != nil {
		r.countError(err.Error())
		return
	}
	req.Header.Set("Last-Event-ID", at)
	res, err := web.Do(req)
	if err != nil {
		return
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		if res.StatusCode < http.StatusInternalServerError {
			r.countError(res.Status)
		}
		return
	}
	in := bufio.NewReader(res.Body)
	for {
		id, f, ok := nextEvent(in, at)
		if !ok {
			break
		}
		at = id
		r.take(f)
	}
	if recorded := r.lastEventID(channels); at != recorded {
		r.countError(fmt.Sprintf("the stream reports the event id %s; the reader has recorded %s", at, recorded))
	}
}

// lastEventID returns the value of the header Last-Event-ID for the recorded positions: the event numbers of the channels, joined
// by "-" in the order of channels.
func (r *Reader) lastEventID(channels []string) string {
	at, numbers := r.positions(), make([]string, len(channels))
	for i, name := range channels {
		numbers[i] = strconv.FormatInt(at[name], 10)
	}
	return strings.Join(numbers, "-")
}

// nextEvent reads one server-sent event with data and returns its ID and message. last is the ID of the previous event, which
// applies if the event has none. At the end of the stream or on invalid JSON, ok is false.
func nextEvent(in *bufio.Reader, last string) (id string, f frame, ok bool) {
	id, data := last, ""
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return last, f, false
		}
		field, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch {
		case line == "\n" && data != "":
			return id, f, json.Unmarshal([]byte(data), &f) == nil
		case field == "data":
			data = value
		case field == "id":
			id = value
		}
	}
}

// take records a message of an SSE stream: the acknowledgement of the subscription, a gap, an error or an event. It ignores
// an event without a number.
func (r *Reader) take(f frame) {
	switch f.Op {
	case "ack":
		r.countSession()
	case "gap":
		r.countGap()
	case "error":
		r.countError(f.Error + ": " + f.Channel)
	case "event":
		if f.Seq == 0 {
			return
		}
		// The predecessor of the first event can be any number up to the start position.
		at := r.Position(f.Channel)
		if started := at != r.Channels[f.Channel]; started && f.Prev != at || f.Prev > at {
			r.countMissing()
		}
		r.record(f.Channel, f.Seq, f.Type, f.Data)
	}
}

// pollInterval is the pause between two requests of poll. It keeps the requests of one IP address well below the rate limit.
const pollInterval = 150 * time.Millisecond

// poll requests the events after the last recorded number, with a pause of pollInterval, until a request fails.
func (r *Reader) poll(ctx context.Context, web *http.Client) {
	for started := false; ; started = true {
		var page struct {
			Items []frame
			Gap   *struct{}
		}
		if !getJSON(ctx, web, fmt.Sprintf("%s/api/v1/feed?limit=200&after=%d", r.URL, r.Position(AllEvents)), &page) {
			return
		}
		if !started {
			r.countSession()
		}
		if page.Gap != nil {
			r.countGap()
		}
		for _, e := range page.Items {
			r.record(AllEvents, e.Seq, e.Type, e.Data)
		}
		pause(ctx, pollInterval)
	}
}

// getJSON sends a GET request and decodes the JSON response into the value that into points to. It reports whether the response
// was complete, had status 200, and was not degraded.
func getJSON(ctx context.Context, web *http.Client, url string, into any) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	res, err := web.Do(req)
	if err != nil {
		return false
	}
	defer func() { _ = res.Body.Close() }()
	return res.StatusCode == http.StatusOK && res.Header.Get("X-Degraded") == "" && json.NewDecoder(res.Body).Decode(into) == nil
}
