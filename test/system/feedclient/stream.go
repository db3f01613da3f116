package feedclient

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Frame is what a server says, on a websocket or in a stream.
type Frame struct {
	Op       string          `json:"op"`
	ID       string          `json:"id"`
	Channel  string          `json:"channel"`
	Channels []string        `json:"channels"`
	Seq      int64           `json:"seq"`
	Prev     int64           `json:"prev"` // 0: none
	Type     string          `json:"type"`
	Data     json.RawMessage `json:"data"`
	From     int64           `json:"from"`
	Oldest   int64           `json:"oldest"`
	Head     int64           `json:"head"`
	Error    string          `json:"error"`
}

// Events is an open stream of server-sent events.
type Events struct {
	body io.ReadCloser
	in   *bufio.Reader
	last string // id of the last event that came whole
}

// RefusedError is an answer that is no stream.
type RefusedError struct {
	Status int
	Code   string
}

func (e *RefusedError) Error() string { return fmt.Sprintf("%d %s", e.Status, e.Code) }

// Follow opens a stream of channels behind an event id; none begins with the newest.
func Follow(ctx context.Context, c *http.Client, base, last string, channels ...string) (*Events, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/api/v1/feed/stream?channels="+url.QueryEscape(strings.Join(channels, ",")), nil)
	if err != nil {
		return nil, err
	}
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	res, err := c.Do(r)
	if err != nil {
		return nil, err
	}
	if res.StatusCode != http.StatusOK {
		defer func() { _ = res.Body.Close() }()
		var body struct{ Error string }
		_ = json.NewDecoder(res.Body).Decode(&body) // a proxy may have answered
		return nil, &RefusedError{res.StatusCode, body.Error}
	}
	return &Events{body: res.Body, in: bufio.NewReader(res.Body), last: last}, nil
}

// Last is the id to come back with.
func (e *Events) Last() string { return e.last }

// Close ends the stream.
func (e *Events) Close() { _ = e.body.Close() }

// errEnd says that the server has ended the stream.
var errEnd = errors.New("the server ends the stream")

// Next is the next message, as browsers read it: an id counts with its message, and half a
// message is none.
func (e *Events) Next() (f Frame, err error) {
	id, name, data := e.last, "", ""
	for {
		line, err := e.in.ReadString('\n')
		if err != nil {
			return f, err
		}
		field, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch {
		case line == "\n" && data != "":
			e.last = id
			if name == "end" {
				return f, errEnd
			}
			return f, json.Unmarshal([]byte(data), &f)
		case field == "data":
			data = value
		case field == "id":
			id = value
		case field == "event":
			name = value
		}
	}
}

// stream is one life with server-sent events: one connection.
func (r *Reader) stream(ctx context.Context) {
	channels := slices.Sorted(maps.Keys(r.Channels))
	web, over := r.client()
	defer over()
	e, err := Follow(ctx, web, r.URL, r.mark(channels), channels...)
	if err != nil {
		var no *RefusedError
		if errors.As(err, &no) && no.Status < http.StatusInternalServerError {
			r.refused(no.Error())
		}
		return
	}
	defer e.Close()
	for {
		f, err := e.Next()
		if err != nil {
			if id := r.mark(channels); e.Last() != id {
				r.refused("the stream's id is " + e.Last() + " and its reader at " + id)
			}
			return
		}
		r.hearFrame(f)
	}
}

// mark is the event id that the reader's places make.
func (r *Reader) mark(channels []string) string {
	places := r.Places()
	marks := make([]string, len(channels))
	for i, name := range channels {
		marks[i] = strconv.FormatInt(places[name], 10)
	}
	return strings.Join(marks, "-")
}

// hearFrame writes down a message of a stream.
func (r *Reader) hearFrame(f Frame) {
	switch f.Op {
	case "ack":
		r.lived(live, "")
	case "event":
		if f.Seq == 0 {
			return
		}
		// Without an event so far the place is any number before the first.
		at, begun := r.Places()[f.Channel], len(r.Got(f.Channel)) > 0
		if begun && f.Prev != at || f.Prev > at {
			r.lived(hole, "")
		}
		r.took(f.Channel, Told{f.Seq, Sum(f.Type, f.Data)})
	case "gap":
		r.lived(gap, "")
	case "error":
		r.refused(f.Error + ": " + f.Channel)
	}
}

// String is the frame for people.
func (f Frame) String() string {
	return strings.TrimSpace(fmt.Sprintf("%s %s %d after %d %s, gap %d to %d, head %d, %s", f.Op, f.Channel, f.Seq, f.Prev, f.Type, f.From, f.Oldest, f.Head, f.Error))
}
