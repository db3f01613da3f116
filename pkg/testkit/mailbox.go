package testkit

import (
	"fmt"
	"net"
	"net/textproto"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Mail is one letter that a Mailbox was given: the envelope, and the bytes as they
// were before they travelled.
type Mail struct {
	From string
	To   []string
	Text string
}

// Mailbox is a mail server on loopback. It speaks RFC 5321 without TLS, wants its
// commands in order, and keeps what it is given.
type Mailbox struct {
	Addr string

	mu     sync.Mutex
	kept   []Mail
	refuse bool
}

// NewMailbox starts a mail server that ends with the test.
func NewMailbox(t testing.TB) *Mailbox {
	t.Helper()
	b, stop, err := OpenMailbox()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return b
}

// OpenMailbox is NewMailbox for what outlives a test.
func OpenMailbox() (b *Mailbox, stop func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	b = &Mailbox{Addr: l.Addr().String()}
	var talks sync.WaitGroup
	talks.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			talks.Go(func() { b.talk(conn) })
		}
	})
	return b, func() { _ = l.Close(); talks.Wait() }, nil
}

// URL is the address for a client.
func (b *Mailbox) URL() string { return "smtp://" + b.Addr }

// Kept is what came so far.
func (b *Mailbox) Kept() []Mail {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.kept)
}

// Refuse makes the server turn letters away after it has read them, or take them again.
func (b *Mailbox) Refuse(yes bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.refuse = yes
}

// keep takes a letter in, unless letters are refused.
func (b *Mailbox) keep(m Mail) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.refuse {
		b.kept = append(b.kept, m)
	}
	return !b.refuse
}

// talk is one connection.
func (b *Mailbox) talk(conn net.Conn) {
	_ = conn.SetDeadline(time.Now().Add(30 * time.Second))
	c := textproto.NewConn(conn)
	defer func() { _ = c.Close() }()
	say := func(code int, text string) bool { return c.PrintfLine("%d %s", code, text) == nil }
	var m Mail
	greeted := false
	for alive := say(220, "mailbox.example ESMTP"); alive; {
		line, err := c.ReadLine()
		if err != nil {
			return
		}
		verb, rest, _ := strings.Cut(line, " ")
		switch verb = strings.ToUpper(verb); {
		case verb == "EHLO" || verb == "HELO":
			greeted, m = true, Mail{}
			if verb == "EHLO" {
				_ = c.PrintfLine("250-mailbox.example")
				_ = c.PrintfLine("250-SIZE 1048576")
				alive = say(250, "8BITMIME")
				continue
			}
			alive = say(250, "mailbox.example")
		case verb == "NOOP":
			alive = say(250, "ok")
		case verb == "RSET":
			m, alive = Mail{}, say(250, "ok")
		case verb == "QUIT":
			say(221, "bye")
			return
		case verb == "MAIL" && greeted && m.From == "":
			m.From, alive = b.path(say, "FROM:", rest)
		case verb == "RCPT" && m.From != "":
			var to string
			if to, alive = b.path(say, "TO:", rest); to != "" {
				m.To = append(m.To, to)
			}
		case verb == "DATA" && len(m.To) > 0:
			if !say(354, "go on") {
				return
			}
			text, err := c.ReadDotBytes()
			if err != nil {
				return
			}
			m.Text = string(text)
			code, word := 250, "kept"
			if !b.keep(m) {
				code, word = 451, "not now"
			}
			m, alive = Mail{}, say(code, word)
		case verb == "MAIL" || verb == "RCPT" || verb == "DATA":
			alive = say(503, "not in this order")
		default:
			alive = say(502, fmt.Sprintf("%q is not spoken here", verb))
		}
	}
}

// path reads <address> behind FROM: or TO:, and answers.
func (b *Mailbox) path(say func(int, string) bool, word, rest string) (address string, alive bool) {
	if len(rest) < len(word) || !strings.EqualFold(rest[:len(word)], word) {
		return "", say(501, "no "+word)
	}
	address, _, ok := strings.Cut(strings.TrimPrefix(strings.TrimSpace(rest[len(word):]), "<"), ">")
	if !ok || !strings.Contains(address, "@") {
		return "", say(501, "no address")
	}
	return address, say(250, "ok")
}
