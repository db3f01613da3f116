package rows

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"github.com/signalcast/signalcast/test/prove/internal/frame"
)

// listeners are open sockets and streams of the live feed.
type listeners []*onlooker

// onlooker is one of them. End is how it ended, once over is closed.
type onlooker struct {
	kind string
	end  error
	over chan struct{}
	told atomic.Bool // 1001, and then an orderly end
}

// ofOneAddress is how many come from one address: half of what is allowed.
const ofOneAddress = 10

// gatherListeners opens websockets and streams from many addresses.
func gatherListeners(ctx context.Context, api string, sockets, streams int) (listeners, error) {
	all := make(listeners, sockets+streams)
	errs := make([]error, len(all))
	second := byte(16 + rand.IntN(200))
	var places []*http.Client
	for i := range 1 + len(all)/ofOneAddress {
		at := net.IPv4(127, second, 220, byte(1+i))
		places = append(places, &http.Client{Transport: &http.Transport{
			DialContext: (&net.Dialer{Timeout: 5 * time.Second, LocalAddr: &net.TCPAddr{IP: at}}).DialContext,
		}})
	}
	frame.Each(len(all), 16, func(i int) {
		o := &onlooker{kind: "websocket", over: make(chan struct{})}
		open := o.openSocket
		if i >= sockets {
			o.kind, open = "stream", o.openStream
		}
		all[i] = o
		_, errs[i] = frame.Until(ctx, 5*time.Second, func() (bool, error) { // a ledger that has just started has no feed yet
			errs[i] = open(ctx, places[i/ofOneAddress], api)
			return errs[i] == nil, nil
		})
	})
	return all, errors.Join(errs...)
}

func (o *onlooker) openSocket(ctx context.Context, via *http.Client, api string) error {
	conn, _, err := websocket.Dial(ctx, "ws"+strings.TrimPrefix(api, "http")+"/ws", &websocket.DialOptions{HTTPClient: via}) //nolint:bodyclose // the library's
	if err != nil {
		return err
	}
	if err := conn.Write(ctx, websocket.MessageText, []byte(`{"op":"subscribe","id":"1","channels":["signals"]}`)); err != nil {
		return err
	}
	if _, _, err := conn.Read(ctx); err != nil {
		return err
	}
	go func() {
		defer close(o.over)
		for o.end == nil {
			_, _, o.end = conn.Read(ctx)
		}
		o.told.Store(websocket.CloseStatus(o.end) == websocket.StatusGoingAway)
		_ = conn.CloseNow()
	}()
	return nil
}

func (o *onlooker) openStream(ctx context.Context, via *http.Client, api string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, api+"/api/v1/feed/stream?channels=signals", nil)
	if err != nil {
		return err
	}
	res, err := via.Do(req)
	if err != nil {
		return err
	}
	if res.StatusCode != http.StatusOK {
		return errors.Join(fmt.Errorf("the stream is answered %s", res.Status), res.Body.Close())
	}
	go func() {
		defer close(o.over)
		defer func() { _ = res.Body.Close() }()
		in, line, ending, said := bufio.NewReader(res.Body), "", false, false
		for o.end == nil {
			line, o.end = in.ReadString('\n')
			switch {
			case line == "event: end\n":
				ending = true
			case ending && strings.HasPrefix(line, "data: ") && strings.Contains(line, `"code":1001`):
				said = true
			}
		}
		o.told.Store(said && errors.Is(o.end, io.EOF))
	}()
	return nil
}

// wait waits until all have ended, and tells of those that were not told.
func (c listeners) wait(ctx context.Context, seen *frame.Seen) {
	end := time.After(5 * time.Second)
	for _, o := range c {
		select {
		case <-o.over:
			seen.Check(o.told.Load(), "a %s ended with: %v", o.kind, o.end)
		case <-end:
			seen.Wrong("a %s has not ended", o.kind)
			return
		case <-ctx.Done():
			return
		}
	}
}

// told is how many were told to come back elsewhere.
func (c listeners) told() (n int) {
	for _, o := range c {
		if o.told.Load() {
			n++
		}
	}
	return n
}
