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

// Server is the client of a mail server, with the sender and the recipients of digests. It implements digest.Sender.
type Server struct {
	host           string
	port           int
	implicit       bool // TLS from the start of the connection
	user, password string
	from, domain   string // sender address, and its domain
	to             []string
	plain          bool
}

// Parse parses the address of a mail server, the sender and the recipients. The address is smtp://[user:password@]host[:port]
// for STARTTLS, or the same with smtps for implicit TLS. plain permits a server without TLS, for development. Errors do not
// contain the address, because it contains the password.
func Parse(address, from string, to []string, plain bool) (*Server, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "smtp" && u.Scheme != "smtps" || u.Hostname() == "" || u.Path != "" && u.Path != "/" {
		return nil, errors.New("the URL must be smtp://[user:password@]host[:port] or smtps://[user:password@]host[:port]")
	}
	s := &Server{host: u.Hostname(), port: 587, implicit: u.Scheme == "smtps", from: from, to: to, plain: plain}
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
	if len(to) == 0 {
		return nil, errors.New("at least one recipient is required")
	}
	for i, a := range append(to[:len(to):len(to)], from) {
		parsed, err := mail.ParseAddress(a)
		switch {
		case err != nil && i == len(to):
			return nil, errors.New("the sender is not a mail address")
		case err != nil:
			return nil, fmt.Errorf("recipient %d is not a mail address", i+1)
		}
		s.domain = parsed.Address[strings.LastIndexByte(parsed.Address, '@')+1:] // after the loop: the domain of the sender
	}
	return s, nil
}

// Send implements digest.Sender. It sends one message to all recipients.
func (s *Server) Send(ctx context.Context, d digest.Letter) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, sendTime)
	defer cancel()
	m := gomail.NewMsg()
	if err := m.From(s.from); err != nil {
		return 0, fmt.Errorf("sender: %w", err)
	}
	if err := m.To(s.to...); err != nil {
		return 0, fmt.Errorf("recipients: %w", err)
	}
	m.Subject(d.Subject)
	m.SetDate()
	m.SetMessageIDWithValue("digest-" + d.Date + "@" + s.domain) // by this id, mail clients detect a repeated mail
	m.SetBodyString(gomail.TypeTextPlain, d.Text)
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
		return 0, fmt.Errorf("mail server: %w", err)
	}
	if err := client.DialAndSendWithContext(ctx, m); err != nil {
		return 0, fmt.Errorf("send mail: %w", err)
	}
	return len(s.to), nil
}

func (s *Server) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if s.implicit {
		d := tls.Dialer{Config: &tls.Config{ServerName: s.host, MinVersion: tls.VersionTLS12}}
		return d.DialContext(ctx, network, address)
	}
	var d net.Dialer
	return d.DialContext(ctx, network, address)
}
