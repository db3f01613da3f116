package app

import (
	"io"
	"mime/quotedprintable"
	"net/mail"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/api/apitest"
	"github.com/signalcast/signalcast/services/hub/internal/mail/mailtest"
)

var (
	formToken  = regexp.MustCompile(`name="csrf" value="([^"]+)"`)
	letterLink = regexp.MustCompile(`http://hub\.test(/(?:email/confirm|unsubscribe)\?t=\S+)`)
)

// letter is a received mail with its decoded text.
type letter struct {
	mail.Header
	to, text string
}

// letters waits for n mails and returns them.
func letters(t *testing.T, box *mailtest.Server, n int) (out []letter) {
	t.Helper()
	testkit.Eventually(t, 20*time.Second, func() bool { return len(box.Mails()) >= n })
	for _, one := range box.Mails() {
		m, err := mail.ReadMessage(strings.NewReader(one.Text))
		must(t, err)
		text, err := io.ReadAll(quotedprintable.NewReader(m.Body))
		must(t, err)
		out = append(out, letter{m.Header, strings.Join(one.To, " "), strings.ReplaceAll(string(text), "\r\n", "\n")})
	}
	if len(out) != n {
		t.Fatalf("%d letters, want %d: %v", len(out), n, out)
	}
	return out
}

// link returns the path and query of the link in a letter.
func (l letter) link(t *testing.T) string {
	t.Helper()
	found := letterLink.FindStringSubmatch(l.text)
	if found == nil {
		t.Fatalf("no link in %s", l.text)
	}
	return found[1]
}

// TestEmail checks the letters of two hubs to a user through a mail server: one confirmation, one message about a new key, one
// digest with one-click unsubscribe. The letters have no secret, and the log has neither an address nor a token.
func TestEmail(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	box := mailtest.Serve(t, "RCPT TO:<REFUSED@")
	w.environ["MAIL_SMTP_URL"], w.environ["MAIL_FROM"] = "smtp://"+box.Addr, "Signalcast <news@hub.example>"
	h, other := w.hub(), w.hub()
	const address = "mara@planted.example"
	page := h.signIn("did:privy:mara")
	set := func(values url.Values) {
		t.Helper()
		_, _, settings := h.do("GET", "/settings", "", page...)
		values.Set("csrf", formToken.FindStringSubmatch(settings)[1])
		h.formed(200, "/settings/email", values, page...) // the client follows the redirect
	}
	set(url.Values{"address": {address}, "digest": {"daily"}})
	first := letters(t, box, 1)[0]
	equal(t, first.to, address)
	link := first.link(t)
	status, _, body := other.do("GET", link, "")
	equal(t, status, 200, body)
	_, token, _ := strings.Cut(link, "?t=")
	confirm := url.Values{"t": {token}}
	_, head := other.formed(200, "/email/confirm", confirm, "Origin", "http://hub.test")
	equal(t, strings.Contains(head, "Address confirmed"), true, head)
	h.formed(404, "/email/confirm", confirm, "Origin", "http://hub.test")

	login := "Bearer " + w.issuer.token(t, "did:privy:mara")
	key := h.json(201, "POST", "/api/dev/keys", `{"label":"desk"}`, "Authorization", login)["key"].(string)
	second := letters(t, box, 2)[1]
	if second.Get("Subject") != "Signalcast: New key" || !strings.Contains(second.text, "An API key was created: desk.\n") ||
		second.Get("List-Unsubscribe") != "" {
		t.Errorf("the message about the account is %v", second)
	}
	w.ledger.Exec(`WITH a AS (UPDATE hub.email_addresses SET digest_from = digest_from - interval '2 days' RETURNING user_id)
		INSERT INTO hub.notifications (id, user_id, kind, subject, handle, market_id, status, reason, count, seq, created_at)
		SELECT gen_random_uuid(), user_id, 'followed', 'x', 'tide', '', '', '', 2, 1, now() - interval '1 day 1 minute' FROM a`)
	third := letters(t, box, 3)[2]
	one := third.link(t)
	if third.Get("List-Unsubscribe") != "<http://hub.test"+one+">" ||
		third.Get("List-Unsubscribe-Post") != "List-Unsubscribe=One-Click" ||
		!strings.Contains(third.text, "New followers: @tide and 1 other followed you\nhttp://hub.test/u/tide\n") ||
		third.Get("Content-Type") != "text/plain; charset=UTF-8" {
		t.Errorf("the digest is %v", third)
	}
	h.formed(200, one, url.Values{"List-Unsubscribe": {"One-Click"}}, "Origin", "https://mail.example")
	_, _, settings := h.do("GET", "/settings", "", page...)
	equal(t, strings.Contains(settings, ` value="off" selected`), true, settings)

	set(url.Values{"address": {"refused@planted.example"}})
	testkit.Eventually(t, 20*time.Second, func() bool { // no letter waits, so none can be repeated
		return strings.Contains(box.Commands(), "refused@") &&
			apitest.Get[int64](w.ledger, "SELECT count(*) FROM hub.email_messages") == 0
	})
	set(url.Values{"off": {"yes"}})
	for _, l := range letters(t, box, 3) {
		for _, secret := range []string{key, w.environ["SESSION_SECRETS"], strings.Split(page[1], "; ")[1]} {
			if strings.Contains(l.text, secret) {
				t.Errorf("the letter %s has a secret", l.Get("Subject"))
			}
		}
	}
	for _, secret := range []string{"planted", token, one} {
		if log := h.logs.String() + other.logs.String(); strings.Contains(log, secret) {
			t.Errorf("the log has %s: %s", secret, log)
		}
	}
}
