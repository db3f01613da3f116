package process

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/signalcast/signalcast/test/system/stack"
)

// listener is an open websocket or event stream of the live feed.
type listener struct {
	kind  string
	ended chan struct{} // closed when the connection has ended; end and goingAway are valid from then on
	end   error
	// goingAway reports whether the api closed the connection with code 1001.
	goingAway bool
}

type listeners []*listener

// openListeners opens websockets and event streams from many IP addresses, ten from each address. Ten is half of the limit of
// an IP address.
func openListeners(t *testing.T, api string, sockets, streams int) listeners {
	t.Helper()
	all := make(listeners, sockets+streams)
	clients := make([]*http.Client, 1+len(all)/10)
	for i := range clients {
		from := net.IPv4(127, 250, byte(i), 1)
		clients[i] = &http.Client{Transport: &http.Transport{
			DialContext: (&net.Dialer{Timeout: 5 * time.Second, LocalAddr: &net.TCPAddr{IP: from}}).DialContext,
		}}
	}
	stack.Each(len(all), 16, func(i int) {
		l := &listener{kind: "websocket", ended: make(chan struct{})}
		open := l.openSocket
		if i >= sockets {
			l.kind, open = "stream", l.openStream
		}
		all[i] = l
		var err error
		for range 50 { // an api that has just started does not serve the feed yet
			if err = open(t, clients[i/10], api); err == nil {
				return
			}
			time.Sleep(100 * time.Millisecond)
		}
		t.Errorf("open a %s: %v", l.kind, err)
		close(l.ended)
	})
	return all
}

func (l *listener) openSocket(t *testing.T, via *http.Client, api string) error {
	url := "ws" + strings.TrimPrefix(api, "http") + "/ws"
	conn, _, err := websocket.Dial(t.Context(), url, &websocket.DialOptions{HTTPClient: via})
	if err != nil {
		return err
	}
	if err := conn.Write(t.Context(), websocket.MessageText, []byte(`{"op":"subscribe","id":"1","channels":["signals"]}`)); err != nil {
		return err
	}
	if _, _, err := conn.Read(t.Context()); err != nil {
		return err
	}
	go func() {
		defer close(l.ended)
		for l.end == nil {
			_, _, l.end = conn.Read(t.Context())
		}
		l.goingAway = websocket.CloseStatus(l.end) == websocket.StatusGoingAway
		_ = conn.CloseNow()
	}()
	return nil
}

func (l *listener) openStream(t *testing.T, via *http.Client, api string) error {
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, api+"/api/v1/feed/stream?channels=signals", nil)
	if err != nil {
		return err
	}
	resp, err := via.Do(req)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return errors.Join(fmt.Errorf("status %s", resp.Status), resp.Body.Close())
	}
	go func() {
		defer close(l.ended)
		defer func() { _ = resp.Body.Close() }()
		in, line, endEvent, announced := bufio.NewReader(resp.Body), "", false, false
		for l.end == nil {
			line, l.end = in.ReadString('\n')
			endEvent = endEvent || line == "event: end\n"
			announced = announced || endEvent && strings.HasPrefix(line, "data: ") && strings.Contains(line, `"code":1001`)
		}
		l.goingAway = announced && errors.Is(l.end, io.EOF)
	}()
	return nil
}

// requireGoingAway fails the test unless each connection ends with code 1001 within 5 s.
func (all listeners) requireGoingAway(t *testing.T) {
	t.Helper()
	timeout := time.After(5 * time.Second)
	for _, l := range all {
		select {
		case <-l.ended:
			if !l.goingAway {
				t.Errorf("a %s ended with %v; want code 1001", l.kind, l.end)
			}
		case <-timeout:
			t.Fatalf("a %s has not ended after 5 s", l.kind)
		}
	}
}
