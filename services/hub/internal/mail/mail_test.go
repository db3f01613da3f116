package mail

import (
	"bytes"
	"cmp"
	"errors"
	"log/slog"
	"net/mail"
	"slices"
	"strings"
	"testing"

	"github.com/signalcast/signalcast/services/hub/internal/digest"
	"github.com/signalcast/signalcast/services/hub/internal/email"
	"github.com/signalcast/signalcast/services/hub/internal/mail/mailtest"
)

var letter = digest.Letter{Date: "2026-09-17", Subject: "Signalcast, 17 September", Text: "27 calls\n.\nžluť\n"}

func TestSend(t *testing.T) {
	t.Parallel()
	s := mailtest.Serve(t, "")
	post, err := Parse("smtp://"+s.Addr, "Signalcast <desk@hub.example>", []string{"a@x.example", "b@x.example"}, true)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := post.Send(t.Context(), letter); n != 2 || err != nil {
		t.Fatal(n, err, s.Commands())
	}
	got := s.Mails()
	if len(got) != 1 || got[0].From != "desk@hub.example" || !slices.Equal(got[0].To, []string{"a@x.example", "b@x.example"}) {
		t.Fatalf("%+v", got)
	}
	for _, part := range []string{"Subject: Signalcast, 17 September", "27 calls", "\n.\n"} {
		if !strings.Contains(got[0].Text, part) {
			t.Errorf("no %q in\n%s", part, got[0].Text)
		}
	}
}

func TestSendFailures(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		deny  string
		plain bool
	}{
		"no TLS offered":        {"", false},
		"one recipient refused": {"RCPT TO:<B@", true},
		"letter refused":        {"DATA", true},
	} {
		s := mailtest.Serve(t, c.deny)
		post, err := Parse("smtp://"+s.Addr, "desk@hub.example", []string{"a@x.example", "b@x.example"}, c.plain)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := post.Send(t.Context(), letter); n != 0 || err == nil {
			t.Errorf("%s: sent to %d recipients: %s", name, n, s.Commands())
		}
		if len(s.Mails()) > 0 || strings.Contains(s.Commands(), "27 calls") {
			t.Errorf("%s: the text was transmitted", name)
		}
	}
	post, err := Parse("smtp://127.0.0.1:1", "desk@hub.example", []string{"a@x.example"}, true)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := post.Send(t.Context(), letter); err == nil {
		t.Error("sent without a server")
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
	for _, people := range [][]string{{"not-an-address"}, {}, {"a@x.example\r\nBcc: b@x.example"}} {
		if _, err := Parse("smtp://mail.example", "desk@hub.example", people, false); err == nil {
			t.Errorf("recipients %q are accepted", people)
		}
	}
	if _, err := Parse("smtp://mail.example", "desk", to, false); err == nil {
		t.Error("an invalid sender is accepted")
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

// TestDeliver checks the headers of a letter to a user, that a refused recipient is reported as such, and that no error has the
// address.
func TestDeliver(t *testing.T) {
	t.Parallel()
	l := email.Letter{ID: "digest-1", To: "mara@x.example", Subject: "Signalcast digest", Text: "27 calls\n.\nhttps://hub.example\n"}
	for name, c := range map[string]struct {
		deny, unsubscribe, to string
		want                  error // nil: no error; errors.ErrUnsupported: any other than email.ErrBounced
	}{
		"accepted":             {"", "https://hub.example/unsubscribe?t=" + strings.Repeat("a", 90), "", nil},
		"without digest":       {"", "", "", nil},
		"recipient refused":    {"RCPT TO:<MARA@", "", "", email.ErrBounced},
		"sender refused":       {"MAIL", "", "", errors.ErrUnsupported},
		"letter refused":       {"DATA", "", "", errors.ErrUnsupported},
		"two recipients":       {"", "", "mara@x.example\r\nRCPT TO:<b@x.example>", errors.ErrUnsupported},
		"a header as address":  {"", "", "mara@x.example\r\nBcc: b@x.example", errors.ErrUnsupported},
		"a list as an address": {"", "", "mara@x.example, b@x.example", errors.ErrUnsupported},
	} {
		s := mailtest.Serve(t, c.deny)
		server, err := ParseServer("smtp://"+s.Addr, "Signalcast <desk@hub.example>", true)
		if err != nil {
			t.Fatal(err)
		}
		one := l
		one.Unsubscribe, one.To = c.unsubscribe, cmp.Or(c.to, l.To)
		err = server.Deliver(t.Context(), one)
		if (err == nil) != (c.want == nil) || errors.Is(err, email.ErrBounced) != errors.Is(c.want, email.ErrBounced) {
			t.Errorf("%s: error %v, want %v", name, err, c.want)
		}
		if err != nil {
			if strings.Contains(err.Error(), "mara") || strings.Contains(s.Commands(), "b@x.example") || len(s.Mails()) > 0 {
				t.Errorf("%s: %v; commands %s", name, err, s.Commands())
			}
			continue
		}
		m, err := mail.ReadMessage(strings.NewReader(s.Mails()[0].Text))
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]string{
			"To": "<mara@x.example>", "Message-Id": "<digest-1@hub.example>", "Auto-Submitted": "auto-generated", "Subject": l.Subject,
			"Content-Type": "text/plain; charset=UTF-8", "List-Unsubscribe": "", "List-Unsubscribe-Post": "",
		}
		if c.unsubscribe != "" {
			want["List-Unsubscribe"], want["List-Unsubscribe-Post"] = "<"+c.unsubscribe+">", "List-Unsubscribe=One-Click"
		}
		for header, value := range want {
			if got := m.Header.Get(header); got != value {
				t.Errorf("%s: %s is %q, want %q", name, header, got, value)
			}
		}
	}
}
