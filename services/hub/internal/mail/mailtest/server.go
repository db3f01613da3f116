package mailtest

import (
	"net"
	"net/textproto"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Mail is an accepted message: the addresses of its envelope, and its text without the dot escapes of SMTP (RFC 5321 4.5.2).
type Mail struct {
	From string
	To   []string
	Text string
}

// Server is an SMTP server without TLS that listens on a loopback address. It records commands and mails.
type Server struct {
	Addr string

	mu    sync.Mutex
	lines []string
	mails []Mail
}

// Serve starts a server that stops at the end of the test. If deny is not empty, it refuses commands that begin with deny.
func Serve(t testing.TB, deny string) *Server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{Addr: l.Addr().String()}
	var connections sync.WaitGroup
	connections.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			connections.Go(func() { s.talk(conn, deny) })
		}
	})
	t.Cleanup(func() { _ = l.Close(); connections.Wait() })
	return s
}

func (s *Server) talk(conn net.Conn, deny string) {
	c := textproto.NewConn(conn)
	defer func() { _ = c.Close() }()
	say := func(text string) { _ = c.PrintfLine("%s", text) }
	say("220 mail.example ESMTP")
	var m Mail
	for {
		line, err := c.ReadLine()
		if err != nil {
			return
		}
		s.add(line, nil)
		upper := strings.ToUpper(line)
		_, address, _ := strings.Cut(line, "<")
		address, _, _ = strings.Cut(address, ">")
		switch verb, _, _ := strings.Cut(upper, " "); {
		case deny != "" && strings.HasPrefix(upper, deny):
			say("550 no")
		case verb == "EHLO":
			say("250-mail.example\r\n250 8BITMIME")
		case verb == "MAIL":
			m = Mail{From: address}
			say("250 ok")
		case verb == "RCPT":
			m.To = append(m.To, address)
			say("250 ok")
		case verb == "DATA":
			say("354 send the text")
			text, err := c.ReadDotBytes()
			if err != nil {
				return
			}
			m.Text = string(text)
			s.add("", &m)
			say("250 accepted")
		case verb == "QUIT":
			say("221 bye")
			return
		default:
			say("250 ok")
		}
	}
}

func (s *Server) add(line string, m *Mail) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m != nil {
		s.mails = append(s.mails, *m)
		return
	}
	s.lines = append(s.lines, line)
}

// Commands returns the lines that clients have sent outside of messages, in order.
func (s *Server) Commands() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.lines, "\n")
}

// Mails returns the messages that the server has accepted, in order.
func (s *Server) Mails() []Mail {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.mails)
}
