package feedclient

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/signalcast/signalcast/sdk/go/feed"
)

// listenWithin is the longest time that a Listener waits for a message before the test fails.
const listenWithin = 15 * time.Second

// Listener waits for single messages of channels. It uses the Go library of the SDK.
type Listener struct {
	t         testing.TB
	client    *feed.Client
	snapshots map[string]string // data of the first snapshot by channel
}

// Listen subscribes to channels and waits for the first snapshot of each channel. The subscription ends with the test.
func Listen(t testing.TB, api string, channels ...string) *Listener {
	t.Helper()
	c, err := feed.Open(t.Context(), feed.Options{URL: api + "/ws", Channels: channels})
	if err != nil {
		t.Fatalf("subscribe to %q: %v", channels, err)
	}
	t.Cleanup(c.Close)
	l := &Listener{t: t, client: c, snapshots: map[string]string{}}
	for len(l.snapshots) < len(channels) {
		l.Until(fmt.Sprintf("snapshots of %q", channels), func(m feed.Message) bool {
			s, ok := m.(*feed.Snapshot)
			if ok && slices.Contains(channels, s.Channel) {
				l.snapshots[s.Channel] = string(s.Data)
			}
			return ok
		})
	}
	return l
}

// Close ends the subscription. Without it, the subscription ends with the test.
func (l *Listener) Close() { l.client.Close() }

// Snapshot returns the data of the first snapshot of a channel.
func (l *Listener) Snapshot(channel string) string { return l.snapshots[channel] }

// Event waits for the next event on a channel and returns it. kind is the type of the event. It fails the test after
// listenWithin.
func (l *Listener) Event(channel, kind string) *feed.Event {
	l.t.Helper()
	return l.EventThat(channel, kind, func(*feed.Event) bool { return true })
}

// EventThat waits for an event of the type kind on a channel, and returns the first one for which the function fits returns
// true. It fails the test after listenWithin.
func (l *Listener) EventThat(channel, kind string, fits func(*feed.Event) bool) (found *feed.Event) {
	l.t.Helper()
	l.Until(kind+" on "+channel, func(m feed.Message) bool {
		e, ok := m.(*feed.Event)
		if ok && e.Channel == channel && e.Type == kind && fits(e) {
			found = e
		}
		return found != nil
	})
	return found
}

// Until reads messages until the function fits returns true for a message. It fails the test after listenWithin. The failure
// message contains what, a description of the expected message.
func (l *Listener) Until(what string, fits func(feed.Message) bool) {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(l.t.Context(), listenWithin)
	defer cancel()
	for {
		m, err := l.client.Next(ctx)
		if err != nil {
			l.t.Fatalf("waited for %s: not received within %v: %v", what, listenWithin, err)
		}
		if fits(m) {
			return
		}
	}
}
