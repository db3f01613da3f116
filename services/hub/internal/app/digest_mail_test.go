package app

import (
	"io"
	"mime/quotedprintable"
	"net/mail"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/testkit"
)

// post makes the hubs of a town send their digest to a mailbox.
func (w *town) post(t *testing.T) *testkit.Mailbox {
	t.Helper()
	box := testkit.NewMailbox(t)
	w.environ["DIGEST_SMTP_URL"] = box.URL()
	w.environ["DIGEST_FROM"] = "Signalcast <desk@hub.example>"
	w.environ["DIGEST_TO"] = "ann@desk.example,bob@desk.example"
	return box
}

// TestDigestByMail: two hubs that are asked at once, one that has started anew since,
// and a mail server: one letter a day for everybody on the list, and no secret in it.
func TestDigestByMail(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	box := w.post(t)
	hubs := []*hub{w.hub(), w.hub()}
	for _, h := range hubs {
		h.ready()
	}
	path := "/api/admin/daily-digest"
	secrets := []string{"x-admin-secret", w.environ["ADMIN_SECRET"]}
	var sent, already atomic.Int32
	var wg sync.WaitGroup
	for i := range 12 {
		wg.Go(func() {
			switch status, _, body := hubs[i%2].do("POST", path, "", secrets...); {
			case status == 200 && strings.Contains(body, `"sent":2`):
				sent.Add(1)
			case status == 200 && strings.Contains(body, `"already":true`):
				already.Add(1)
			default:
				t.Error(status, body)
			}
		})
	}
	wg.Wait()
	hubs[1].stop()
	anew := w.hub()
	anew.ready()
	if status, _, body := anew.do("POST", path+"?secret="+w.environ["CRON_SECRET"], ""); status != 200 || !strings.Contains(body, `"already":true`) {
		t.Error("after a restart", status, body)
	}
	kept := box.Kept()
	if sent.Load() != 1 || already.Load() != 11 || len(kept) != 1 {
		t.Fatalf("%d sent, %d already, %d letters", sent.Load(), already.Load(), len(kept))
	}
	checkDigest(t, w, kept[0])
}

func checkDigest(t *testing.T, w *town, got testkit.Mail) {
	t.Helper()
	if got.From != "desk@hub.example" || strings.Join(got.To, " ") != "ann@desk.example bob@desk.example" {
		t.Errorf("envelope %s to %v", got.From, got.To)
	}
	m, err := mail.ReadMessage(strings.NewReader(got.Text))
	if err != nil {
		t.Fatal(err)
	}
	day := time.Now().UTC().AddDate(0, 0, -1).Format(time.DateOnly)
	if at, err := m.Header.Date(); err != nil || time.Since(at) > time.Hour || m.Header.Get("Subject") != "Signalcast, "+day {
		t.Errorf("headers %v %v", m.Header, err)
	}
	if id := m.Header.Get("Message-Id"); id != "<digest-"+day+"@hub.example>" {
		t.Errorf("Message-ID %q", id)
	}
	raw, err := io.ReadAll(quotedprintable.NewReader(m.Body))
	if err != nil || m.Header.Get("Content-Transfer-Encoding") != "quoted-printable" {
		t.Fatal(err, m.Header)
	}
	text := string(raw)
	for _, part := range []string{day + " (UTC)", "Calls filed: 0.", "Independent calls in 7 days: 0"} {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in\n%s", part, text)
		}
	}
	for name, value := range w.environ {
		if strings.HasSuffix(name, "SECRET") || strings.HasSuffix(name, "SECRETS") || name == "HUB_KEYS" || name == "DATABASE_URL" {
			if strings.Contains(text, value) || strings.Contains(got.Text, value) {
				t.Errorf("%s is in the letter", name)
			}
		}
	}
}

// TestDigestThatIsTurnedAway: a mail server that does not take the letter leaves the
// day open.
func TestDigestThatIsTurnedAway(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	box := w.post(t)
	h := w.hub()
	h.ready()
	path := "/api/admin/daily-digest?secret=" + w.environ["CRON_SECRET"]
	box.Refuse(true)
	if status, head, body := h.do("POST", path, ""); status != 503 || !strings.Contains(body, `"digest_unavailable"`) || head.Get("Retry-After") == "" {
		t.Error(status, head, body)
	}
	box.Refuse(false)
	if status, _, body := h.do("POST", path, ""); status != 200 || !strings.Contains(body, `"sent":2`) || len(box.Kept()) != 1 {
		t.Error(status, body, len(box.Kept()))
	}
}
