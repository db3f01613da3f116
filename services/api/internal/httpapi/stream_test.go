package httpapi_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/api/internal/httpapi"
)

// stream is a client of server-sent events (WHATWG HTML, section 9.2).
type stream struct {
	t    *testing.T
	body io.ReadCloser
	in   *bufio.Reader
	last string // id of the last event
	name string // name of the last event
}

// events opens a stream. If the status is not 200, the stream is nil, and the text contains the status and the error code.
func (b *bundle) events(query, last string) (*stream, string) {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), http.MethodGet, "http://"+b.addr+"/api/v1/feed/stream"+query, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	res := testkit.Must(http.DefaultTransport.RoundTrip(r))(b.t)
	if res.StatusCode != http.StatusOK {
		defer func() { _ = res.Body.Close() }()
		var e struct{ Error string }
		_ = json.NewDecoder(res.Body).Decode(&e)
		return nil, fmt.Sprint(res.StatusCode, " ", e.Error)
	}
	if got := res.Header.Get("Content-Type"); got != "text/event-stream" || res.Header.Get("Access-Control-Allow-Origin") != "*" {
		b.t.Errorf("content type %s, headers %v", got, res.Header)
	}
	s := &stream{t: b.t, body: res.Body, in: bufio.NewReader(res.Body), last: last}
	b.t.Cleanup(func() { _ = res.Body.Close() })
	return s, ""
}

// next reads one event and returns its data. At the end of the stream, it returns nil.
func (s *stream) next() frame {
	s.t.Helper()
	var data string
	id := s.last // the id applies when the event is complete
	s.name = ""
	for {
		line, err := s.in.ReadString('\n')
		if err != nil {
			return nil
		}
		field, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch {
		case line == "\n" && data != "":
			var f frame
			if err := json.Unmarshal([]byte(data), &f); err != nil {
				s.t.Fatal(data, err)
			}
			s.last = id
			return f
		case field == "data":
			data = value
		case field == "id":
			id = value
		case field == "event":
			s.name = value
		}
	}
}

// want reads the next events, without heartbeats, and compares their data with the expected frames. It ignores the times in
// frames.
func (s *stream) want(frames ...frame) {
	s.t.Helper()
	for _, w := range frames {
		got := s.next()
		for got["op"] == "beat" {
			got = s.next()
		}
		if diff := cmp.Diff(w, got, anyTime); diff != "" {
			s.t.Fatalf("frame (-want +got):\n%s", diff)
		}
	}
}

func TestStream(t *testing.T) {
	t.Parallel()
	b := setup(t, options{memory: 8, sockets: httpapi.SocketLimits{Beat: 200 * time.Millisecond, Subscriptions: 3}})
	b.traded("1", "SCIENCE")
	b.fact("market.status", "1", 3)
	b.head(3)
	s, _ := b.events("?channels=market:1,%20resolutions,market:1", "")
	if f := s.next(); f["op"] != "hello" || s.last != "3-3" {
		t.Errorf("got frame %v with id %s, want hello with id 3-3", f, s.last)
	}
	s.want(frame{"op": "ack", "channels": []any{"market:1", "resolutions"}}, frame{"op": "snapshot", "channel": "market:1", "seq": 3.0, "data": marketState()})
	b.fact("market.disputed", "1", 1)
	seen := map[any]bool{}
	for len(seen) < 2 {
		f := s.next()
		switch f["op"] {
		case "beat":
			continue
		case "event":
			seen[f["channel"]] = true
		default:
			t.Fatal(f)
		}
	}
	if s.last != "4-4" {
		t.Errorf("id %s, want 4-4", s.last)
	}
	for f := s.next(); f["op"] != "beat"; f = s.next() {
		t.Errorf("got frame %v, want a heartbeat", f)
	}
	_ = s.body.Close()
	testkit.Eventually(t, 10*time.Second, func() bool { return b.server.Sockets() == 0 && b.broker.Count() == 0 })

	// The last event id contains either a position for each channel, or one position for all channels.
	for _, last := range []string{"2-3", "2"} {
		s, _ = b.events("?channels=market:1,resolutions", last)
		got := map[string][]int64{}
		for len(got["market:1"]) < 2 || len(got["resolutions"]) < 1 {
			f := s.next()
			if f == nil {
				t.Fatal("the stream ended")
			}
			if f["op"] == "event" {
				got[f["channel"].(string)] = append(got[f["channel"].(string)], f.seq())
			}
		}
		if diff := cmp.Diff(map[string][]int64{"market:1": {3, 4}, "resolutions": {4}}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", last, diff)
		}
		_ = s.body.Close()
	}
	for query, code := range map[string]string{
		"":                                   "400 missing_channels",
		"?channels=,":                        "400 missing_channels",
		"?channels=signals,market:":          "400 unknown_channel",
		"?channels=me":                       "401 unauthenticated",
		"?channels=a&key=x":                  "401 unauthenticated",
		"?channels=signals&since=x":          "400 invalid_since",
		"?channels=signals&since=-1":         "400 invalid_since",
		"?channels=signals,live&since=1-2-3": "400 invalid_since",
		"?channels=signals,live,wire,pulse":  "409 limit_reached",
	} {
		if _, got := b.events(query, ""); got != code {
			t.Errorf("%s: %s, want %s", query, got, code)
		}
	}
	for _, last := range []string{
		"x", "-1", "1-2-3", "1-", "1.5-2", "1-x", "1,2", "\uff11", "9223372036854775808", "0199f0c0-0000-7000-8000-000000000001",
	} {
		if _, got := b.events("?channels=market:1,resolutions", last); got != "400 invalid_since" {
			t.Errorf("Last-Event-ID %s: %s", last, got)
		}
	}
}

// TestStreamPositions opens streams that resume after an event that is deleted. The stream must send a gap frame with an id. A
// second stream that resumes at this id must receive all later events. A position after an event that does not exist yet must
// be an error.
func TestStreamPositions(t *testing.T) {
	t.Parallel()
	b := setup(t, options{memory: 1})
	b.market("1", "OTHER")
	b.dropDay("1", 5)
	b.fact("market.status", "1", 3)
	b.head(8)
	head := int64(8)
	for last, reported := range map[string]frame{
		"0-7": {"op": "gap", "channel": "market:1", "from": 0.0, "oldest": 6.0},
		"3-7": {"op": "gap", "channel": "market:1", "from": 3.0, "oldest": 6.0},
		"4-7": {"op": "gap", "channel": "market:1", "from": 4.0, "oldest": 6.0},
	} {
		position := int64(5) // all stored events follow
		s, _ := b.events("?channels=market:1,resolutions", last)
		s.next()
		s.next()
		s.next() // the snapshot
		s.want(reported)
		if want := fmt.Sprintf("%d-7", position); s.last != want {
			t.Errorf("after %s: id %s, want %s", last, s.last, want)
		}
		_ = s.body.Close()
		b.fact("market.status", "1", 1)
		head++
		b.head(head)
		s, _ = b.events("?channels=market:1,resolutions", s.last)
		for want := position + 1; want <= head; {
			f := s.next()
			if f == nil || f["op"] == "gap" || f["op"] == "error" {
				t.Fatalf("after %s: %v", last, f)
			}
			if f["op"] == "event" {
				if f.seq() != want {
					t.Fatalf("after %s: %v, want %d", last, f, want)
				}
				want++
			}
		}
		_ = s.body.Close()
	}
	for _, last := range []string{fmt.Sprint(head + 1), "4000000-7", "7-9223372036854775807"} {
		if _, got := b.events("?channels=market:1,resolutions", last); got != "400 future_cursor" {
			t.Errorf("Last-Event-ID %s: %s, want 400 future_cursor", last, got)
		}
	}
}

// TestStreamEnds checks that a shutdown ends a stream with an event named end, which contains the code and the reason.
func TestStreamEnds(t *testing.T) {
	t.Parallel()
	b := setup(t, options{memory: 8})
	s, _ := b.events("?channels=signals", "")
	s.next()
	s.next()
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		b.server.Close(ctx)
	}()
	f := s.next()
	if s.name != "end" || f["code"] != 1001.0 || f["reason"] != "shutdown" || s.next() != nil {
		t.Errorf("got event %s with %v, want end with 1001", s.name, f)
	}
}

// TestStreamResumes closes the streams of six readers at random times while events are written. Each reader then opens the next
// stream with the id of its last event. In all its streams together, a reader must receive every event once and in order. The
// last stream stays open until the reader has received all events, for at most 30 s.
func TestStreamResumes(t *testing.T) {
	t.Parallel()
	b := setup(t, options{memory: 40, sockets: httpapi.SocketLimits{PerAddress: 100}})
	for i, lane := range []string{"SCIENCE", "MUSIC", "OTHER"} {
		b.market(fmt.Sprint(i+1), lane)
	}
	b.key("mara")
	b.key("tide")
	const total, readers = 600, 6
	channels := []string{"signals", "market:1", "operator:mara"}
	var writing, reading sync.WaitGroup
	for range 4 {
		writing.Go(func() { b.writeMixed(total / 4) })
	}
	got := make([]map[string][]int64, readers)
	var want map[string][]int64
	written := make(chan struct{})
	for i := range readers {
		got[i] = map[string][]int64{}
		reading.Go(func() {
			complete := func() bool {
				return !slices.ContainsFunc(channels, func(c string) bool { return len(got[i][c]) < len(want[c]) })
			}
			last := "0"
			for final := false; !final; {
				limit := time.Duration(rand.IntN(300)) * time.Millisecond
				select {
				case <-written:
					final, limit = true, 30*time.Second
				default:
				}
				s, code := b.events("?channels="+strings.Join(channels, ","), last)
				if s == nil {
					t.Error(code)
					return
				}
				cut := time.AfterFunc(limit, func() { _ = s.body.Close() })
				for !final || !complete() {
					f := s.next()
					if f == nil {
						break
					}
					if f["op"] == "event" {
						c := f["channel"].(string)
						got[i][c] = append(got[i][c], f.seq())
					}
				}
				cut.Stop()
				_ = s.body.Close()
				last = s.last
			}
		})
	}
	writing.Wait()
	want = b.numbers(total)
	close(written)
	reading.Wait()
	for i := range got {
		for _, c := range channels {
			if diff := cmp.Diff(want[c], got[i][c]); diff != "" {
				t.Errorf("reader %d on %s (-want +got):\n%s", i, c, diff)
			}
		}
	}
}
