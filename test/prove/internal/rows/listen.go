package rows

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"
)

// listener keeps what the live feed says to anybody.
type listener struct {
	conn *websocket.Conn
	mu   sync.Mutex
	said bytes.Buffer
}

// listen opens a socket on the channels of the markets and people that are read.
func listen(ctx context.Context, api string, s *seeds) (*listener, error) {
	conn, res, err := websocket.Dial(ctx, "ws"+strings.TrimPrefix(api, "http")+"/ws", nil)
	if res != nil && res.Body != nil {
		_ = res.Body.Close()
	}
	if err != nil {
		return nil, err
	}
	channels := []string{"feed", "market:" + s.markets[0], "operator:" + s.Handle}
	raw, err := json.Marshal(map[string]any{"op": "subscribe", "id": "1", "channels": channels})
	if err != nil {
		return nil, err
	}
	if err := conn.Write(ctx, websocket.MessageText, raw); err != nil {
		return nil, err
	}
	l := &listener{conn: conn}
	go func() {
		for {
			_, frame, err := conn.Read(ctx)
			if err != nil {
				return // closed
			}
			l.mu.Lock()
			l.said.Write(frame)
			l.said.WriteByte('\n')
			l.mu.Unlock()
		}
	}()
	return l, nil
}

// until waits until the word was said, closes the socket and gives all frames.
func (l *listener) until(ctx context.Context, word string) ([]byte, error) {
	defer func() { _ = l.conn.CloseNow() }()
	end := time.Now().Add(recoverWithin)
	for {
		l.mu.Lock()
		text := bytes.Clone(l.said.Bytes())
		l.mu.Unlock()
		switch {
		case bytes.Contains(text, []byte(word)):
			return text, nil
		case time.Now().After(end):
			return nil, errors.New("the live feed does not tell of a call: " + string(text[:min(len(text), 300)]))
		}
		if err := wait(ctx, time.Now().Add(20*time.Millisecond)); err != nil {
			return nil, err
		}
	}
}
