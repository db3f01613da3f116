package mail

import (
	"bufio"
	"bytes"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/signalcast/signalcast/services/hub/internal/digest"
)

var letter = digest.Letter{Date: "2026-09-17", Subject: "Signalcast, 17 September", Text: "27 calls\n.\nžluť\n"}

// server is a mail server on loopback without TLS.
type server struct {
	addr string

	mu   sync.Mutex
	seen []string // commands and lines
	deny string   // a command that it refuses
}

func serve(t *testing.T, deny string) *server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{addr: l.Addr().String(), deny: deny}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			s.talk(conn)
		}
	}()
	t.Cleanup(func() { _ = l.Close(); <-done })
	return s
}

func (s *server) talk(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	say := func(text string) { _, _ = fmt.Fprintf(conn, "%s\r\n", text) }
	say("220 mail.example ESMTP")
	lines, data := bufio.NewScanner(conn), false
	for lines.Scan() {
		line := lines.Text()
		s.mu.Lock()
		s.seen = append(s.seen, line)
		s.mu.Unlock()
		verb, _, _ := strings.Cut(strings.ToUpper(line), " ")
		switch {
		case data && line == ".":
			data = false
			say("250 kept")
		case data:
		case s.deny != "" && strings.HasPrefix(strings.ToUpper(line), s.deny):
			say("550 no")
		case verb == "EHLO":
			say("250-mail.example")
			say("250 8BITMIME")
		case verb == "DATA":
			data = true
			say("354 go on")
		case verb == "QUIT":
			say("221 bye")
			return
		default:
			say("250 ok")
		}
	}
}

func (s *server) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.seen, "\n")
}

func TestSend(t *testing.T) {
	t.Parallel()
	s := serve(t, "")
	post, err := Parse("smtp://"+s.addr, "Signalcast <desk@hub.example>", []string{"a@x.example", "b@x.example"}, true)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := post.Send(t.Context(), letter); n != 2 || err != nil {
		t.Fatal(n, err, s.text())
	}
	got := s.text()
	for _, part := range []string{"MAIL FROM:<desk@hub.example>", "RCPT TO:<a@x.example>", "RCPT TO:<b@x.example>", "Subject: Signalcast, 17 September", "27 calls", "\n..\n"} {
		if !strings.Contains(got, part) {
			t.Errorf("no %q in\n%s", part, got)
		}
	}
}

func TestWhatDoesNotSend(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		deny  string
		plain bool
	}{
		"no TLS offered":        {"", false},
		"one recipient refused": {"RCPT TO:<B@", true},
		"letter refused":        {"DATA", true},
	} {
		s := serve(t, c.deny)
		post, err := Parse("smtp://"+s.addr, "desk@hub.example", []string{"a@x.example", "b@x.example"}, c.plain)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := post.Send(t.Context(), letter); n != 0 || err == nil {
			t.Errorf("%s: sent to %d: %s", name, n, s.text())
		}
		if strings.Contains(s.text(), "27 calls") {
			t.Errorf("%s: the text has left", name)
		}
	}
	post, err := Parse("smtp://127.0.0.1:1", "desk@hub.example", []string{"a@x.example"}, true)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := post.Send(t.Context(), letter); err == nil {
		t.Error("sent to nowhere")
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	to := []string{"a@x.example"}
	s, err := Parse("smtps://me:pw%40@mail.example", "desk@hub.example", to, false)
	if err != nil || s.port != 465 || !s.implicit || s.user != "me" || s.password != "pw@" {
		t.Errorf("%+v %v", s, err)
	}
	if s, err = Parse("smtp://mail.example", "desk@hub.example", to, false); err != nil || s.port != 587 {
		t.Errorf("%+v %v", s, err)
	}
	const secret = "c4narY"
	for _, bad := range []string{"", "mail.example", "http://mail.example", "smtp://", "smtp://me:" + secret + "@mail.example:0", "smtp://me:" + secret + "@mail.example/x", "smtp://me:" + secret + "@[::1"} {
		if _, err := Parse(bad, "desk@hub.example", to, false); err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v", bad, err)
		}
	}
	for _, people := range [][]string{{"nobody"}, {}, {"a@x.example\r\nBcc: b@x.example"}} {
		if _, err := Parse("smtp://mail.example", "desk@hub.example", people, false); err == nil {
			t.Errorf("recipients %q", people)
		}
	}
	if _, err := Parse("smtp://mail.example", "desk", to, false); err == nil {
		t.Error("a sender that is none")
	}
}

func TestLog(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	n, err := Log{slog.New(slog.NewTextHandler(&out, nil))}.Send(t.Context(), letter)
	if n != 1 || err != nil || !strings.Contains(out.String(), "2026-09-17") || !strings.Contains(out.String(), "27 calls") {
		t.Errorf("%d %v %s", n, err, out.String())
	}
}
