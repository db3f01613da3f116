package httpapi_test

import (
	"bufio"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestFrameLimit checks that frames of every kind count towards the rate limit, also if their bytes arrive in several parts.
func TestFrameLimit(t *testing.T) {
	t.Parallel()
	b := setup(t, options{memory: 100})
	ping, pong, bye := piece(0x89, ""), piece(0x8a, "x"), piece(0x88, "\x03\xe8")
	first, empty, last := piece(0x01, `{"op":"ping",`), piece(0x00, ""), piece(0x80, `"id":"whole"}`)
	long := piece(0x81, `{"op":"ping","pad":"`+strings.Repeat("x", 500)+`"}`)
	for name, tc := range map[string]struct {
		sent   string
		code   int
		output string // received before the close frame
	}{
		"pings":               {strings.Repeat(ping, 21), 4029, ""},
		"unsolicited pongs":   {strings.Repeat(pong, 21), 4029, ""},
		"a message in pieces": {first + strings.Repeat(empty, 18) + last + bye, 1000, `{"op":"pong","id":"whole"}`},
		"empty continuations": {first + strings.Repeat(empty, 30), 4029, ""},
		"long messages":       {strings.Repeat(long, 21), 4029, `{"op":"pong"}`},
		"up to the limit":     {strings.Repeat(long, 5) + strings.Repeat(ping, 15) + bye, 1000, `{"op":"pong"}`},
		"of every kind":       {strings.Repeat(long+ping+pong, 7), 4029, `{"op":"pong"}`},
	} {
		for _, step := range []int{len(tc.sent), 1} {
			code, output := b.exchange(tc.sent, step)
			if code != tc.code || !strings.Contains(output, tc.output) {
				t.Errorf("%s, %d bytes at once: closed with %d after %q", name, step, code, output)
			}
		}
	}
}

// piece returns the bytes of a client frame with the mask 0. first is the first byte of the frame.
func piece(first byte, payload string) string {
	head := []byte{first, 0x80 | byte(len(payload))}
	if len(payload) >= 126 {
		head = binary.BigEndian.AppendUint16([]byte{first, 0x80 | 126}, uint16(len(payload)))
	}
	return string(head) + "\x00\x00\x00\x00" + payload
}

// exchange opens a websocket and sends bytes in parts of step bytes. It returns the close code and all bytes received before
// the close frame.
func (b *bundle) exchange(sent string, step int) (code int, output string) {
	b.t.Helper()
	conn, err := net.Dial("tcp", b.addr)
	if err != nil {
		b.t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		b.t.Fatal(err)
	}
	_, err = io.WriteString(conn, "GET /ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
	if err != nil {
		b.t.Fatal(err)
	}
	in := bufio.NewReader(conn)
	if resp, err := http.ReadResponse(in, nil); err != nil || resp.StatusCode != http.StatusSwitchingProtocols {
		b.t.Fatal(resp, err)
	}
	for len(sent) > 0 {
		n := min(step, len(sent))
		if _, err := io.WriteString(conn, sent[:n]); err != nil {
			break // the server has closed the connection
		}
		sent = sent[n:]
	}
	all, err := io.ReadAll(in)
	at := strings.LastIndexByte(string(all), 0x88)
	if err != nil || at < 0 || at+4 > len(all) {
		b.t.Fatalf("ended with %v after %q", err, all)
	}
	return int(binary.BigEndian.Uint16(all[at+2:])), string(all[:at])
}
