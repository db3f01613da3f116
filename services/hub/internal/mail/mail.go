package mail

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/mail"
	"net/url"
	"strconv"
	"strings"
	"time"

	gomail "github.com/wneessen/go-mail"

	"github.com/signalcast/signalcast/services/hub/internal/digest"
	"github.com/signalcast/signalcast/services/hub/internal/email"
)

// sendTime is the time limit for the connection and the delivery of one mail.
const sendTime = 30 * time.Second

// Log writes digests to the log. It implements digest.Sender for an installation without a mail server.
type Log struct{ Log *slog.Logger }

// Send implements digest.Sender. It always returns 1 as the number of recipients.
func (l Log) Send(ctx context.Context, d digest.Letter) (int, error) {
	l.Log.InfoContext(ctx, "daily digest", "date", d.Date, "subject", d.Subject, "text", d.Text)
	return 1, nil
}

// Server is the client of a mail server, with the sender. It sends letters to users and, with recipients, the digest of the
// administrators. It implements email.Sender and digest.Sender.
type Server struct {
	host           string
	port           int
	implicit       bool // TLS from the start of the connection
	user, password string
	from, domain   string   // sender address, and its domain
	to             []string // recipients of the digest of the administrators
	plain          bool
}

// ParseServer parses the address of a mail server and the sender. The address is smtp://[user:password@]host[:port] for STARTTLS,
// or the same with smtps for implicit TLS. plain permits a server without TLS, for development. Errors do not contain the
// address, because it contains the password.
func ParseServer(address, from string, plain bool) (*Server, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "smtp" && u.Scheme != "smtps" || u.Hostname() == "" || u.Path != "" && u.Path != "/" {
		return nil, errors.New("the URL must be smtp://[user:password@]host[:port] or smtps://[user:password@]host[:port]")
	}
	s := &Server{host: u.Hostname(), port: 587, implicit: u.Scheme == "smtps", from: from, plain: plain}
	if s.implicit {
		s.port = 465
	}
	if text := u.Port(); text != "" {
		if s.port, err = strconv.Atoi(text); err != nil || s.port < 1 || s.port > 65535 {
			return nil, errors.New("the port must be from 1 to 65535")
		}
	}
	if u.User != nil {
		s.user = u.User.Username()
		s.password, _ = u.User.Password()
	}
	sender, err := mail.ParseAddress(from)
	if err != nil {
		return nil, errors.New("the sender is not a mail address")
	}
	s.domain = sender.Address[strings.LastIndexByte(sender.Address, '@')+1:]
	return s, nil
}

// Parse is like ParseServer, with the recipients of digests.
func Parse(address, from string, to []string, plain bool) (*Server, error) {
	s, err := ParseServer(address, from, plain)
	if err != nil {
		return nil, err
	}
	if len(to) == 0 {
		return nil, errors.New("at least one recipient is required")
	}
	for i, a := range to {
		if _, err := mail.ParseAddress(a); err != nil {
			return nil, fmt.Errorf("recipient %d is not a mail address", i+1)
		}
	}
	s.to = to
	return s, nil
}

// Send implements digest.Sender. It sends one message to all recipients.
func (s *Server) Send(ctx context.Context, d digest.Letter) (int, error) {
	m, err := s.message("digest-"+d.Date, d.Subject, d.Text, s.to...)
	if err != nil {
		return 0, err
	}
	if err := s.send(ctx, m); err != nil {
		return 0, fmt.Errorf("send mail: %w", err)
	}
	return len(s.to), nil
}

// Deliver implements email.Sender.
func (s *Server) Deliver(ctx context.Context, l email.Letter) error {
	m, err := s.message(l.ID, l.Subject, l.Text, l.To)
	if err != nil {
		return errors.New("the letter is invalid")
	}
	m.SetGenHeader("Auto-Submitted", "auto-generated") // RFC 3834: no automatic answers
	if l.Unsubscribe != "" {
		m.SetGenHeaderPreformatted(gomail.HeaderListUnsubscribe, "<"+l.Unsubscribe+">")
		m.SetGenHeaderPreformatted(gomail.HeaderListUnsubscribePost, "List-Unsubscribe=One-Click")
	}
	err = s.send(ctx, m)
	var refusal *gomail.SendError
	switch {
	case !errors.As(err, &refusal):
		return err
	case refusal.Reason == gomail.ErrSMTPRcptTo && refusal.ErrorCode() >= 500:
		return email.ErrBounced
	}
	return fmt.Errorf("%s: status %d", refusal.Reason, refusal.ErrorCode()) // the text of the server can contain the recipient
}

// message returns a message in plain text. By the id, mail programs detect a repeated message.
func (s *Server) message(id, subject, text string, to ...string) (*gomail.Msg, error) {
	m := gomail.NewMsg()
	if err := m.From(s.from); err != nil {
		return nil, fmt.Errorf("sender: %w", err)
	}
	if err := m.To(to...); err != nil {
		return nil, fmt.Errorf("recipients: %w", err)
	}
	m.Subject(subject)
	m.SetDate()
	m.SetMessageIDWithValue(id + "@" + s.domain)
	m.SetBodyString(gomail.TypeTextPlain, text)
	return m, nil
}

// send sends a message to its recipients over a new connection.
func (s *Server) send(ctx context.Context, m *gomail.Msg) error {
	ctx, cancel := context.WithTimeout(ctx, sendTime)
	defer cancel()
	var conn net.Conn
	defer func() { // closes the connection even after an error during the SMTP session
		if conn != nil {
			_ = conn.Close()
		}
	}()
	options := []gomail.Option{
		gomail.WithPort(s.port), gomail.WithTimeout(sendTime), gomail.WithTLSPolicy(gomail.TLSMandatory),
		gomail.WithDialContextFunc(func(ctx context.Context, network, address string) (c net.Conn, err error) {
			conn, err = s.dial(ctx, network, address)
			return conn, err
		}),
	}
	if s.plain {
		options = append(options, gomail.WithTLSPolicy(gomail.TLSOpportunistic))
	}
	if s.implicit {
		options = append(options, gomail.WithSSL())
	}
	if s.user != "" {
		options = append(options, gomail.WithSMTPAuth(gomail.SMTPAuthAutoDiscover), gomail.WithUsername(s.user), gomail.WithPassword(s.password))
	}
	client, err := gomail.NewClient(s.host, options...)
	if err != nil {
		return fmt.Errorf("mail server: %w", err)
	}
	return client.DialAndSendWithContext(ctx, m)
}

func (s *Server) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if s.implicit {
		d := tls.Dialer{Config: &tls.Config{ServerName: s.host, MinVersion: tls.VersionTLS12}}
		return d.DialContext(ctx, network, address)
	}
	var d net.Dialer
	return d.DialContext(ctx, network, address)
}
