package verbs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/signalcast/signalcast/cmd/signalcast/internal/ask"
	"github.com/signalcast/signalcast/cmd/signalcast/internal/settings"
	"github.com/signalcast/signalcast/cmd/signalcast/internal/show"
	"github.com/signalcast/signalcast/sdk/go/feed"
)

// Watch is the command `signalcast watch`, which prints the messages of the live feed.
type Watch struct {
	settings.Flags
	Channels []string `arg:"" optional:"" help:"Channels, such as signals, market:701122, operator:mara_k, resolutions, live, me. Default: signals."`
	Count    *int     `help:"End after this many events." bounds:"of at least 1" placeholder:"N"`
	State    string   `help:"File that stores the position in the feed, so that the next run continues there." type:"path" placeholder:"FILE"`
}

// watched is one line of the output, which describes one message of the feed.
type watched struct {
	Kind    string          `json:"kind"` // "event", "snapshot", "gap" or "error"
	Channel string          `json:"channel,omitempty"`
	Seq     int64           `json:"seq,omitempty"`
	Prev    int64           `json:"prev,omitempty"`
	Type    string          `json:"type,omitempty"`
	At      *time.Time      `json:"at,omitempty"`
	From    int64           `json:"from,omitempty"`   // gap: number of the last event before it
	Oldest  int64           `json:"oldest,omitempty"` // gap: number of the first event after it
	Error   string          `json:"error,omitempty"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// Run prints the messages of the feed until Ctrl-C, which is not an error, or until Count events were printed.
func (w *Watch) Run(ctx context.Context, s *Streams) error {
	o, err := w.options(s)
	if err != nil {
		return err
	}
	if w.State != "" { // fails before the first request, because the next run would print the events again
		if err := writePositions(w.State, o.Since); err != nil {
			return fmt.Errorf("--state: the position cannot be stored: %w", err)
		}
	}
	c, err := feed.Open(ctx, o)
	if err != nil {
		return err
	}
	defer c.Close()
	err = w.read(ctx, c, s)
	if w.State != "" {
		err = errors.Join(err, writePositions(w.State, c.Last()))
	}
	if errors.Is(err, feed.ErrUnauthenticated) {
		return &ask.Refused{
			Status: http.StatusUnauthorized, Code: "unauthenticated",
			Do: "The key is unknown or revoked: run `signalcast login` with a new one",
		}
	}
	return err
}

// options validates the flags and returns the options of the feed client.
func (w *Watch) options(s *Streams) (feed.Options, error) {
	if err := checkCount(w.Count); err != nil {
		return feed.Options{}, err
	}
	if len(w.Channels) == 0 {
		w.Channels = []string{"signals"}
	}
	o := feed.Options{Channels: w.Channels, HTTPClient: &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	address, err := w.APIAddress()
	if err != nil {
		return o, err
	}
	o.URL = address + "/ws"
	if slices.Contains(w.Channels, "me") { // no other channel requires a key
		hub, err := w.Address()
		if err != nil {
			return o, err
		}
		if o.Key, err = w.Secret(hub, s.In); err != nil {
			return o, err
		}
		if err := w.MaySend(address); err != nil {
			return o, err
		}
	}
	if w.State != "" {
		if o.Since, err = readPositions(w.State); err != nil {
			return o, err
		}
	}
	o.OnState = func(st feed.State) {
		if st.Phase == feed.Reconnecting && s.Err != nil {
			text := fmt.Sprintf("feed disconnected, reconnecting in %s: %v", st.Wait.Round(100*time.Millisecond), st.Err)
			_, _ = fmt.Fprintln(s.Err, "signalcast:", settings.Hide(show.Clean(text)))
		}
	}
	return o, nil
}

// read prints the messages of c until ctx ends, Count events were printed, or an error occurs.
func (w *Watch) read(ctx context.Context, c *feed.Client, s *Streams) error {
	events := 0
	for m, err := range c.Messages(ctx) {
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		}
		line, ok := lineOf(m)
		if !ok {
			continue
		}
		if err := w.write(s, line); err != nil {
			return err
		}
		if line.Kind == "error" && line.Error == "unknown_channel" && len(w.Channels) == 1 {
			return errors.New("unknown channel " + line.Channel + "; docs/protocol/ws.md lists the channels")
		}
		if line.Kind == "event" {
			if events++; w.Count != nil && events == *w.Count {
				return nil
			}
		}
	}
	return nil
}

// lineOf converts a message to a line of the output. It returns false for messages that are not shown, such as heartbeats of
// the server.
func lineOf(m feed.Message) (watched, bool) {
	switch m := m.(type) {
	case *feed.Event:
		return watched{Kind: "event", Channel: m.Channel, Seq: m.Seq, Prev: m.Prev, Type: m.Type, At: &m.At, Data: m.Data}, true
	case *feed.Snapshot:
		return watched{Kind: "snapshot", Channel: m.Channel, Seq: m.Seq, At: &m.At, Data: m.Data}, true
	case *feed.Gap:
		return watched{Kind: "gap", Channel: m.Channel, From: m.From, Oldest: m.Oldest}, true
	case *feed.ServerError:
		return watched{Kind: "error", Channel: m.Channel, Error: m.Code}, true
	}
	return watched{}, false
}

// write prints one line of the output, as JSON or as columns.
func (w *Watch) write(s *Streams, l watched) error {
	if w.JSON || !w.Table && !s.Terminal {
		raw, err := json.Marshal(l)
		return errors.Join(err, show.Line(s.Out, raw))
	}
	what := ""
	switch l.Kind {
	case "event":
		what = show.Short(payloadText(payloadOf(l.Data)), 100)
	case "snapshot":
		l.Type, what = "(snapshot)", show.Short(string(l.Data), 100)
	case "gap":
		l.Type, what = "(gap)", fmt.Sprintf("events after %d and before %d are no longer stored: read the REST routes again", l.From,
			l.Oldest)
	case "error":
		l.Type, what = "(refused)", l.Error
	}
	seq := ""
	if l.Seq > 0 {
		seq = strconv.FormatInt(l.Seq, 10)
	}
	_, err := fmt.Fprintf(s.Out, "%-17s %8s  %-24s %-18s %s\n",
		when(l.At), seq, show.Short(l.Channel, 40), show.Clean(l.Type), show.Clean(what))
	return err
}

func payloadOf(raw json.RawMessage) map[string]any {
	var v map[string]any
	if json.Unmarshal(raw, &v) != nil {
		return nil
	}
	return v
}

// readPositions reads the positions in the feed that an earlier run stored, by channel. It returns nil if the file does not
// exist.
func readPositions(path string) (map[string]int64, error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var at map[string]int64
	if json.Unmarshal(raw, &at) != nil {
		return nil, errors.New("--state: the file was not written by watch; remove it to start with new events")
	}
	return at, nil
}

// writePositions stores the positions in the feed by channel. It replaces the file atomically.
func writePositions(path string, at map[string]int64) error {
	if at == nil {
		at = map[string]int64{}
	}
	raw, err := json.Marshal(at)
	if err != nil {
		return err
	}
	if err := os.WriteFile(path+".part", append(raw, '\n'), 0o644); err != nil {
		return err
	}
	if err := os.Rename(path+".part", path); err != nil {
		return errors.Join(err, os.Remove(path+".part"))
	}
	return nil
}
