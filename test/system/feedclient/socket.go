package feedclient

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/coder/websocket"
)

// Socket is a websocket to which anything can be said.
type Socket struct{ conn *websocket.Conn }

// Dial opens a websocket and takes its hello.
func Dial(ctx context.Context, base string) (*Socket, Frame, error) {
	conn, res, err := websocket.Dial(ctx, "ws"+strings.TrimPrefix(base, "http")+"/ws", nil)
	if res != nil && res.Body != nil {
		_ = res.Body.Close()
	}
	if err != nil {
		return nil, Frame{}, err
	}
	conn.SetReadLimit(1 << 20)
	s := &Socket{conn}
	f, err := s.Next(ctx)
	if err != nil {
		s.Close()
	}
	return s, f, err
}

// Say sends a frame.
func (s *Socket) Say(ctx context.Context, v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return s.conn.Write(ctx, websocket.MessageText, raw)
}

// Next is the next frame but for beats. It ends the socket when none comes.
func (s *Socket) Next(ctx context.Context) (f Frame, err error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	for {
		_, raw, err := s.conn.Read(ctx)
		if err != nil {
			return f, err
		}
		f = Frame{}
		if err := json.Unmarshal(raw, &f); err != nil || f.Op != "beat" {
			return f, err
		}
	}
}

// Close ends the socket.
func (s *Socket) Close() { _ = s.conn.CloseNow() }
