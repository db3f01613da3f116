package mail

import (
	"bytes"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/signalcast/signalcast/services/hub/internal/digest"
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
