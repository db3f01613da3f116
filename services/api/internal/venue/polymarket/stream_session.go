package polymarket

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"

	"github.com/coder/websocket"

	"github.com/signalcast/signalcast/services/api/internal/market"
)

const (
	dialTimeout  = 10 * time.Second
	writeTimeout = 5 * time.Second
	maxFrame     = 8 << 20 // bytes; the first frame contains the order books of all tokens
)

// Reasons for which the client closes a connection.
var (
	errQuiet  = errors.New("no frame received, not even a pong")
	errSilent = errors.New("no price received")
	errOld    = errors.New("lifetime of the connection reached")
	errIdle   = errors.New("no market is subscribed")
)

// session opens one connection, processes its frames until the connection ends, and returns the reason as an error.
func (f *feed) session(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	dialing, stop := context.WithTimeout(ctx, dialTimeout)
	conn, resp, err := websocket.Dial(dialing, f.url, &websocket.DialOptions{
		HTTPClient: f.http, HTTPHeader: http.Header{"User-Agent": {"signalcast/1 (market reader)"}}, CompressionMode: websocket.CompressionDisabled,
	})
	stop()
	if resp != nil && resp.Body != nil {
		_ = resp.Body.Close()
	}
	if err != nil {
		return err
	}
	defer func() { _ = conn.CloseNow() }()
	conn.SetReadLimit(maxFrame)
	frames := make(chan []byte)
	done := make(chan struct{})
	defer func() { cancel(nil); <-done }()
	go func() {
		defer close(done)
		for {
			_, raw, err := conn.Read(ctx)
			if err != nil {
				cancel(err)
				return
			}
			select {
			case frames <- raw:
			case <-ctx.Done():
				return
			}
		}
	}()
	return f.listen(ctx, conn, frames)
}

// listen subscribes to the wanted markets and processes frames until the connection fails, a timeout expires, or no market is
// wanted. It returns the reason.
func (f *feed) listen(ctx context.Context, conn *websocket.Conn, frames <-chan []byte) error {
	has := f.subscribed()
	b := &orderBooks{feed: f, tops: map[string]top{}}
	if err := send(ctx, conn, map[string]any{
		"type": "market", "assets_ids": slices.Sorted(maps.Keys(has)), "initial_dump": true, "custom_feature_enabled": false,
	}); err != nil {
		return err
	}
	ping := time.NewTicker(f.timing.ping)
	defer ping.Stop()
	quiet, silent := time.NewTimer(f.timing.quiet), time.NewTimer(f.timing.silent)
	defer quiet.Stop()
	defer silent.Stop()
	// The lifetime is random, so that connections that started together do not end together.
	old := time.NewTimer(f.timing.life - f.timing.life/10 + rand.N(f.timing.life/5+1))
	defer old.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case raw := <-frames:
			quiet.Reset(f.timing.quiet)
			if b.read(raw) {
				silent.Reset(f.timing.silent)
			}
		case <-ping.C:
			if err := write(ctx, conn, []byte("PING")); err != nil {
				return err
			}
		case <-f.changed:
			wanted := f.subscribed()
			if len(wanted) == 0 {
				return errIdle
			}
			if err := resubscribe(ctx, conn, has, wanted); err != nil {
				return err
			}
			has = wanted
			b.forget(wanted)
		case <-quiet.C:
			return errQuiet
		case <-silent.C:
			return errSilent
		case <-old.C:
			return errOld
		}
	}
}

// resubscribe unsubscribes from the markets that are only in has, and subscribes to the markets that are only in wanted.
func resubscribe(ctx context.Context, conn *websocket.Conn, has, wanted map[string]market.Streamed) error {
	for _, step := range []struct {
		operation  string
		from, less map[string]market.Streamed
	}{{"unsubscribe", has, wanted}, {"subscribe", wanted, has}} {
		var tokens []string
		for t := range step.from {
			if _, both := step.less[t]; !both {
				tokens = append(tokens, t)
			}
		}
		if len(tokens) == 0 {
			continue
		}
		slices.Sort(tokens)
		if err := send(ctx, conn, map[string]any{"operation": step.operation, "assets_ids": tokens}); err != nil {
			return err
		}
	}
	return nil
}

func send(ctx context.Context, conn *websocket.Conn, message map[string]any) error {
	raw, err := json.Marshal(message)
	if err != nil {
		return err
	}
	return write(ctx, conn, raw)
}

func write(ctx context.Context, conn *websocket.Conn, raw []byte) error {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	return conn.Write(ctx, websocket.MessageText, raw)
}

// pong is the reply of the venue to PING. It is not JSON.
var pong = []byte("PONG")

// read processes one frame, which contains a message or a list of messages. It reports whether take returned true for a
// message.
func (b *orderBooks) read(raw []byte) bool {
	raw = bytes.TrimSpace(raw)
	if bytes.EqualFold(raw, pong) {
		return false
	}
	list := []json.RawMessage{raw}
	if len(raw) > 0 && raw[0] == '[' {
		if err := json.Unmarshal(raw, &list); err != nil {
			b.meter.Dropped(provider, "stream_undecodable")
			clear(b.tops)
			return false
		}
	}
	found := false
	for _, one := range list {
		var m message
		if err := json.Unmarshal(one, &m); err != nil {
			b.meter.Dropped(provider, "stream_undecodable")
			clear(b.tops) // the message may have changed any of the order books
			continue
		}
		if b.take(&m) {
			found = true
		}
	}
	return found
}
