package verbs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/signalcast/signalcast/cmd/signalcast/internal/settings"
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
	Op      string          `json:"op"` // same as Kind, under the name that the frames of the websocket use
}

// Run prints the messages of the feed until Ctrl-C, which is not an error, or until Count events were printed.
func (w *Watch) Run(ctx context.Context, s *Streams) error {
	if err := s.Only("watch writes lines of text or JSON", "json", "table"); err != nil {
		return err
	}
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
	return feedError(err)
}

// options validates the flags and returns the options of the feed client.
func (w *Watch) options(s *Streams) (feed.Options, error) {
	if err := checkCount(w.Count); err != nil {
		return feed.Options{}, err
	}
	if len(w.Channels) == 0 {
		w.Channels = []string{"signals"}
	}
	o, err := feedOptions(&w.Flags, s, w.Channels)
	if err == nil && w.State != "" {
		o.Since, err = readPositions(w.State)
	}
	return o, err
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
		if err := line.write(s); err != nil {
			return err
		}
		if line.Kind == "error" && line.Error == "unknown_channel" && len(w.Channels) == 1 {
			return fmt.Errorf("unknown channel %s; the channels are %s", line.Channel, channelForms)
		}
		if line.Kind == "event" {
			if events++; w.Count != nil && events == *w.Count {
				return nil
			}
		}
	}
	return nil
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
