package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/signalcast/signalcast/pkg/testkit"
)

// market opens a market at Polymarket and gives its id and first token.
func market(t *testing.T, base string) (id, token string) {
	t.Helper()
	_, made := post(t, base+"/sim/polymarket/markets", `{"question":"Will the invented pier open?","yesPrice":0.375}`)
	id = made["id"].(string)
	var tokens []string
	if err := json.Unmarshal([]byte(object(t, base+"/gamma/markets/"+id)["clobTokenIds"].(string)), &tokens); err != nil {
		t.Fatal(err)
	}
	return id, tokens[0]
}

func dial(t *testing.T, url string) (*websocket.Conn, *http.Response, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	conn, resp, err := websocket.Dial(ctx, strings.Replace(url, "http", "ws", 1), nil)
	if err == nil {
		t.Cleanup(func() { _ = conn.CloseNow() })
		conn.SetReadLimit(1 << 20)
	}
	return conn, resp, err
}

func connect(t *testing.T, url string) *websocket.Conn {
	t.Helper()
	conn, _, err := dial(t, url)
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

func say(t *testing.T, conn *websocket.Conn, text string) {
	t.Helper()
	if err := conn.Write(t.Context(), websocket.MessageText, []byte(text)); err != nil {
		t.Fatal(err)
	}
}

// hear reads a frame; an error is given when none comes in time.
func hear(t *testing.T, conn *websocket.Conn, within time.Duration) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	_, raw, err := conn.Read(ctx)
	return string(raw), err
}

func must(t *testing.T, conn *websocket.Conn, part string) string {
	t.Helper()
	text, err := hear(t, conn, 10*time.Second)
	if err != nil || !strings.Contains(text, part) {
		t.Fatalf("heard %.200s (%v), want %s", text, err, part)
	}
	return text
}

func TestAPriceReachesSubscribers(t *testing.T) {
	t.Parallel()
	base := start(t)
	id, token := market(t, base)
	conn := connect(t, base+"/ws/market")
	say(t, conn, `{"type":"market","assets_ids":["`+token+`"],"initial_dump":true}`)
	must(t, conn, `[{"event_type":"book"`)
	say(t, conn, "PING")
	must(t, conn, "PONG")
	if got := object(t, base+"/sim/polymarket/sockets"); fmt.Sprint(got["open"], got["ever"], got["markets"]) != "1 1 ["+id+"]" {
		t.Errorf("sockets: %v", got)
	}
	began := time.Now()
	if status, v := post(t, base+"/sim/polymarket/markets/"+id, `{"yesPrice":0.61}`); status != 200 {
		t.Fatal(status, v)
	}
	must(t, conn, `"best_bid":"0.605","best_ask":"0.615"`)
	if took := time.Since(began); took > time.Second {
		t.Errorf("the price took %v", took)
	}
	_ = conn.Close(websocket.StatusNormalClosure, "")
	testkit.Eventually(t, 10*time.Second, func() bool { return object(t, base+"/sim/polymarket/sockets")["open"] == 0.0 })

	_, made := post(t, base+"/sim/manifold/markets", `{"question":"Will the invented pier open?","yesPrice":0.375}`)
	manifold := connect(t, base+"/manifold/ws")
	say(t, manifold, `{"type":"subscribe","txid":7,"topics":["contract/`+strings.TrimPrefix(made["id"].(string), "manifold-")+`/new-bet"]}`)
	must(t, manifold, `"txid":7,"success":true`)
	post(t, base+"/sim/manifold/markets/"+made["id"].(string), `{"yesPrice":0.61}`)
	must(t, manifold, `"probAfter":0.61`)
	if resp, _ := get(t, base+"/sim/kalshi/sockets"); resp.StatusCode != http.StatusNotFound {
		t.Errorf("sockets of a venue without: %d", resp.StatusCode)
	}
}

func TestFaultsActOnSocketsToo(t *testing.T) {
	t.Parallel()
	base := start(t)
	id, token := market(t, base)
	fault := func(body string) {
		t.Helper()
		if status, v := post(t, base+"/sim/polymarket/fault", body); status != 200 {
			t.Fatalf("%d %v", status, v)
		}
	}
	order := `{"type":"market","assets_ids":["` + token + `"]}`
	conn := connect(t, base+"/ws/market")
	say(t, conn, order)
	must(t, conn, "book")

	fault(`{"mode":"hang","seconds":60}`)
	quiet := connect(t, base+"/ws/market") // it is taken, and then nothing is said
	say(t, quiet, "PING")
	say(t, quiet, order)
	post(t, base+"/sim/polymarket/markets/"+id, `{"yesPrice":0.2}`)
	if text, err := hear(t, quiet, 600*time.Millisecond); err == nil {
		t.Errorf("one that hangs says %s", text)
	}
	fault(`{"mode":"none"}`)
	must(t, conn, `"best_bid":"0.195"`) // what came about meanwhile

	fault(`{"mode":"429","seconds":60,"on":"sockets"}`)
	if _, resp, err := dial(t, base+"/ws/market"); err == nil || resp == nil || resp.StatusCode != http.StatusTooManyRequests {
		t.Errorf("429: %v", err)
	}
	if resp, _ := get(t, base+"/gamma/markets/"+id); resp.StatusCode != 200 {
		t.Errorf("a fault of sockets stops reads: %d", resp.StatusCode)
	}
	fault(`{"mode":"garbage","seconds":60,"on":"sockets"}`)
	forms := map[string]bool{}
	for range 40 {
		if text, err := hear(t, conn, 10*time.Second); err != nil {
			t.Fatal(err)
		} else if len(forms) < 3 {
			forms[text[:5]+fmt.Sprint(json.Valid([]byte(text)))] = true
		} else {
			break
		}
	}
	if len(forms) != 3 {
		t.Errorf("garbage: %v", forms)
	}
	fault(`{"mode":"refuse","seconds":60}`)
	for {
		if _, err := hear(t, conn, 10*time.Second); err != nil {
			break
		}
	}
	if _, _, err := dial(t, base+"/ws/market"); err == nil {
		t.Error("refuse: a connection was taken")
	}
	fault(`{"mode":"none"}`)
	conn = connect(t, base+"/ws/market")
	fault(`{"mode":"slow","seconds":60,"on":"sockets"}`)
	began := time.Now()
	say(t, conn, "PING")
	must(t, conn, "PONG")
	if took := time.Since(began); took < 4*time.Second {
		t.Errorf("slow took %v", took)
	}
	fault(`{"mode":"refuse","seconds":60,"on":"reads"}`)
	fault(`{"mode":"none","on":"sockets"}`)
	say(t, conn, "PING")
	must(t, conn, "PONG")
	for _, body := range []string{`{"mode":"hang","seconds":1,"on":"all"}`, `{"mode":"hang","seconds":1,"on":7}`} {
		if status, _ := post(t, base+"/sim/polymarket/fault", body); status != 400 {
			t.Errorf("%s: %d", body, status)
		}
	}
	if status, _ := post(t, base+"/sim/kalshi/fault", `{"mode":"hang","seconds":1,"on":"sockets"}`); status != 400 {
		t.Errorf("sockets of a venue without: %d", status)
	}
}

// TestASubscriberThatDoesNotReadIsCut: it asks for much and takes nothing.
func TestASubscriberThatDoesNotReadIsCut(t *testing.T) {
	t.Parallel()
	base := start(t)
	_, token := market(t, base)
	raw, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	if err := raw.(*net.TCPConn).SetReadBuffer(4096); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprint(raw, "GET /ws/market HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	// One masked frame (the mask is zero), again and again.
	text := `{"operation":"subscribe","assets_ids":["` + strings.Repeat(token+`","`, 400) + token + `"]}`
	frame := append([]byte{0x81, 0x80 | 126, byte(len(text) >> 8), byte(len(text)), 0, 0, 0, 0}, text...)
	_ = raw.SetWriteDeadline(time.Now().Add(30 * time.Second))
	for {
		if _, err := raw.Write(frame); err != nil {
			break // cut, or its own side is full
		}
	}
	testkit.Eventually(t, 30*time.Second, func() bool { return object(t, base+"/sim/polymarket/sockets")["open"] == 0.0 })
}
