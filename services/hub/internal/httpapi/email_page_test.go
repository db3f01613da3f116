package httpapi_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/signalcast/signalcast/services/api/apitest"
	"github.com/signalcast/signalcast/services/hub/internal/account"
	"github.com/signalcast/signalcast/services/hub/internal/email"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages"
	"github.com/signalcast/signalcast/services/hub/internal/notification"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// postbox is a fake mail server. It stores letters and answers with err.
type postbox struct {
	mu      sync.Mutex
	letters []email.Letter
	err     error
}

func (p *postbox) Deliver(_ context.Context, l email.Letter) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil {
		p.letters = append(p.letters, l)
	}
	return p.err
}

// withMail returns a fixture with pages, and a worker that sends its letters to the postbox.
func withMail(t *testing.T) (*fixture, *postbox, func() []email.Letter) {
	b, p := withPages(t), &postbox{}
	w := &email.Worker{
		Service: b.deps.Accounts.Email, Outbox: b.store, Sender: p, Markets: b.deps.Ledger.Markets, Describe: pages.NotificationLine,
		HubURL: hubURL, Log: slog.New(slog.DiscardHandler),
	}
	return b, p, func() []email.Letter {
		t.Helper()
		p.letters = nil
		must(t, w.Round(t.Context()))
		return p.letters
	}
}

const emailForm = "/settings/email"

var letterLink = regexp.MustCompile(regexp.QuoteMeta(hubURL) + `(/(?:email/confirm|unsubscribe)\?t=\S+)`)

// linkOf returns the path and query of the link in a letter.
func linkOf(t testing.TB, l email.Letter) string {
	t.Helper()
	link := letterLink.FindStringSubmatch(l.Text)
	if link == nil {
		t.Fatalf("no link in %q", l.Text)
	}
	return link[1]
}

// confirmEmail enters an address for mara_k and confirms it.
func (b *fixture) confirmEmail(address, digest string, round func() []email.Letter) {
	b.t.Helper()
	want(b.t, b.post(emailForm, url.Values{"address": {address}, "digest": {digest}}, b.bySession()), http.StatusSeeOther, "")
	b.confirmLetter(round()[0])
}

// confirmLetter confirms the address of a confirmation letter.
func (b *fixture) confirmLetter(l email.Letter) {
	b.t.Helper()
	_, token, _ := strings.Cut(linkOf(b.t, l), "?t=")
	want(b.t, b.post("/email/confirm", url.Values{"t": {token}}, with("Origin", hubURL)), 200, "", "Address confirmed")
}

func (b *fixture) notifyKey(key string) {
	b.t.Helper()
	must(b.t, b.store.Notify(b.t.Context(), operator.ID(b.mara.GetId()), notification.KeyAdded, key, "desk", b.clock.Now()))
}

// TestEmailConfirmation checks that an address is confirmed once by the link of the letter within 24 hours, also without a
// session, that a GET does not confirm it, and that no page shows it.
func TestEmailConfirmation(t *testing.T) {
	t.Parallel()
	b, _, round := withMail(t)
	const address = "mara@planted.example"
	want(t, b.send("GET", "/settings", "", b.bySession()), 200, "", ` name="address"`, "!Switch off e-mail")
	for _, bad := range []string{
		"", "mara", "mara@x", "Mara <mara@x.example>",
		"a@x.example\r\nBcc: b@x.example", "a@x.example,b@x.example",
		strings.Repeat("a", 250) + "@x.example", "\"a b\"@x.example", "mära@x.example",
	} {
		w := b.post(emailForm, url.Values{"address": {bad}}, b.bySession())
		want(t, w, 400, "", "Enter an e-mail address such as", ` role="alert"`)
	}
	want(t, b.post(emailForm, url.Values{"address": {address}, "digest": {"hourly"}}, b.bySession()), 400, "")
	want(t, b.post(emailForm, url.Values{"address": {address}, "csrf": {"x"}}, b.bySession()), 403, "", "open too long", address)
	equal(t, b.count("hub.email_addresses"), 0)
	w := b.post(emailForm, url.Values{"address": {address}, "digest": {"weekly"}}, b.bySession())
	want(t, w, http.StatusSeeOther, "", "Location: /settings?done=email")
	w = b.send("GET", "/settings?done=email", "", b.bySession())
	want(t, w, 200, "", "waits for its confirmation", "A confirmation letter is sent.", "!planted")
	equal(t, b.count("hub.email_addresses t WHERE t::text ~ 'planted'"), 0)
	letters := round()
	if len(letters) != 1 || letters[0].To != address || letters[0].Unsubscribe != "" {
		t.Fatalf("letters %+v", letters)
	}
	equal(t, len(round()), 0)
	link := linkOf(t, letters[0])
	_, token, _ := strings.Cut(link, "?t=")
	for range 2 {
		want(t, b.send("GET", link, ""), 200, "", "Confirm address", token, "Cache-Control: no-store")
	}
	want(t, b.send("GET", "/settings", "", b.bySession()), 200, "", "waits for its confirmation")
	want(t, b.send("GET", link[:len(link)-1], "", with("Accept", "text/html")), 404, "", "This link is not valid")
	want(t, b.post("/email/confirm", url.Values{"t": {token}}), 403, "")
	want(t, b.post("/email/confirm", url.Values{"t": {token}}, with("Origin", hubURL)), 200, "", "Address confirmed", "Set-Cookie: ")
	want(t, b.post("/email/confirm", url.Values{"t": {token}}, with("Origin", hubURL)), 404, "")
	w = b.send("GET", "/settings", "", b.bySession())
	want(t, w, 200, "", "An address is confirmed.", ` value="weekly" selected`, "!planted")

	files := unzip(t, b.send("GET", b.startExport(), "", b.bySession()))
	for _, member := range []string{`"address":"` + address + `"`, `"digest":"weekly"`} {
		if got := files["email.jsonl"]; !strings.Contains(got, member) {
			t.Errorf("the export has %q, without %s", got, member)
		}
	}
	w = b.post(emailForm, url.Values{"off": {"yes"}}, b.bySession())
	want(t, w, http.StatusSeeOther, "", "Location: /settings?done=email-off")
	equal(t, b.count("hub.email_addresses")+b.count("hub.email_messages"), 0)

	want(t, b.post(emailForm, url.Values{"address": {address}}, b.bySession()), http.StatusSeeOther, "")
	_, token, _ = strings.Cut(linkOf(t, round()[0]), "?t=")
	b.clock.Advance(email.TokenLife)
	b.cookie = b.signIn(b.mara)
	want(t, b.post("/email/confirm", url.Values{"t": {token}}, with("Origin", hubURL)), 404, "")
}

// TestEmailOfSignIn checks that the address of a sign-in is used without a letter only after the user chose it, by the session of that
// sign-in, that no page and no table shows it, and that it ends with the session.
func TestEmailOfSignIn(t *testing.T) {
	t.Parallel()
	b, _, round := withMail(t)
	w := newBrowser(b)
	choose := func(form string) *answer { return w.step(false, http.MethodPost, emailForm, form) }
	settings := func(texts ...string) {
		t.Helper()
		want(t, w.step(false, http.MethodGet, "/settings", ""), 200, "", append(texts, "!planted")...)
	}
	const button, plain = "Use the address of my sign-in", "hub.sessions s WHERE s::text ~ 'planted'"
	signIn := func() {
		t.Helper()
		w.visit(true, http.MethodPost, "/dev/session", back(aPerson, w.begin()))
	}
	signIn()
	settings(button, "!An address is confirmed.")
	equal(t, b.count("hub.email_addresses")+b.count(plain), 0)
	want(t, choose("signin=yes&digest=hourly"), 400, "")
	want(t, choose("signin=yes&csrf=x"), 403, "")
	want(t, choose("signin=yes&digest=weekly"), http.StatusSeeOther, "", "Location: /settings?done=email-on")
	settings("An address is confirmed.", ` value="weekly" selected`, "!"+button)
	want(t, w.step(false, http.MethodGet, "/settings?done=email-on", ""), 200, "", "The address of your sign-in is confirmed.")
	equal(t, len(round()), 0)
	me := operator.ID(apitest.Get[string](b.ledger, `SELECT id::text FROM users WHERE handle = 'tidewatch'`))
	must(t, b.store.Notify(t.Context(), me, notification.KeyAdded, "key", "desk", b.clock.Now()))
	if letters := round(); len(letters) != 1 || letters[0].To != "tidewatch@planted.example" {
		t.Errorf("letters %+v", letters)
	}

	want(t, choose("address=other%40x.example&digest=daily"), http.StatusSeeOther, "")
	settings("An address is confirmed.", "The letter for the new address waits", "!"+button)
	want(t, choose("signin=yes&digest=daily"), http.StatusSeeOther, "")
	settings("An address is confirmed.", ` value="daily" selected`)
	b.confirmLetter(round()[0])
	settings("An address is confirmed.", "!waits", button)
	if letters := round(); len(letters) != 1 || letters[0].To != "tidewatch@planted.example" {
		t.Errorf("letters after the replacement: %+v", letters)
	}
	want(t, choose("address=third%40x.example&digest=daily"), http.StatusSeeOther, "")
	want(t, choose("signin=yes&digest=daily"), http.StatusSeeOther, "")
	settings("An address is confirmed.", "!waits")
	if letters := round(); len(letters) != 1 || letters[0].To != "other@x.example" { // and the third address gets none
		t.Errorf("letters after the sign-in: %+v", letters)
	}
	want(t, choose("off=yes"), http.StatusSeeOther, "")
	settings(button)
	equal(t, b.count("hub.email_addresses"), 0)

	list, err := b.store.ListSignInAddresses(t.Context(), me)
	if must(t, err); len(list) != 1 {
		t.Fatalf("addresses of sign-ins: %+v", list)
	}
	b.ledger.Exec(`UPDATE hub.sessions SET email = $1 WHERE user_id = $2`, list[0].Sealed, b.mara.GetId()) // of another user
	want(t, b.post(emailForm, url.Values{"signin": {"yes"}}, b.bySession()), 400, "", "Your sign-in has no verified e-mail address.")
	want(t, b.send("GET", "/settings", "", b.bySession()), 200, "", "!"+button)
	w.step(false, http.MethodPost, "/sign-out", "")
	equal(t, b.count("hub.sessions WHERE user_id = '"+string(me)+"' AND email IS NOT NULL"), 0)

	b.deps.Accounts.Email.Enabled = false
	has(t, b.send("GET", "/sign-in", ""), "!&amp;scope=")
	signIn()
	settings("!" + button)
	equal(t, b.count("hub.sessions WHERE user_id = '"+string(me)+"' AND email IS NOT NULL"), 0)
	b.deps.Accounts.Email.Enabled = true
	has(t, b.send("GET", "/sign-in", ""), "&amp;scope=openid%20email")
}

// TestEmailLimits checks that a user and all users together send few letters to an address that is not confirmed.
func TestEmailLimits(t *testing.T) {
	t.Parallel()
	b, _, round := withMail(t)
	other := with("Cookie", b.signIn(b.ledger.AddOperator("tide")))
	enter := func(address string, who header) *answer {
		return b.post(emailForm, url.Values{"address": {address}}, who, with("Origin", hubURL))
	}
	for i := range email.MaxLetters {
		want(t, enter(strings.Repeat("a", i+1)+"@x.example", b.bySessionOnly()), http.StatusSeeOther, "")
		equal(t, len(round()), 1)
	}
	want(t, enter("b@x.example", b.bySessionOnly()), 429, "", "Too many letters", ` value="b@x.example"`)
	for i := range email.MaxLetters - 1 { // mara_k sent one letter to this address
		want(t, enter("A+"+strings.Repeat("x", i)+"@x.example", other), http.StatusSeeOther, "")
	}
	third := with("Cookie", b.signIn(b.ledger.AddOperator("wave")))
	want(t, enter("a@X.example", third), 429, "")
	b.clock.Advance(24 * time.Hour)
	want(t, enter("a@x.example", third), http.StatusSeeOther, "")
}

// bySessionOnly sends a request with the session cookies of mara_k and without the header Origin, which bySession adds.
func (b *fixture) bySessionOnly() header { return with("Cookie", b.cookie) }

// TestPendingEmail checks that a confirmed address gets the letters until another one is confirmed, that refusals and the expiry of its
// link delete only the pending address, and that the replaced address gets one last letter.
func TestPendingEmail(t *testing.T) {
	t.Parallel()
	b, p, round := withMail(t)
	const waits = "The letter for the new address waits"
	enter := func(address string) {
		t.Helper()
		form := url.Values{"address": {address}, "digest": {"weekly"}}
		want(t, b.post(emailForm, form, b.bySession()), http.StatusSeeOther, "")
	}
	settings := func(texts ...string) {
		t.Helper()
		want(t, b.send("GET", "/settings", "", b.bySession()), 200, "", append(texts, "An address is confirmed.", "!planted")...)
	}
	letter := func(to, text string) email.Letter {
		t.Helper()
		letters := round()
		if len(letters) != 1 || letters[0].To != to || !strings.Contains(letters[0].Text, text) {
			t.Fatalf("letters %+v; want one to %s with %q", letters, to, text)
		}
		return letters[0]
	}
	b.confirmEmail("first@planted.example", "weekly", round)

	enter("second@planted.example")
	settings(waits)
	old := letter("second@planted.example", "to confirm it")
	b.notifyKey("while it waits")
	letter("first@planted.example", "desk")
	enter("third@planted.example")
	want(t, b.send("GET", linkOf(t, old), ""), 404, "")
	next := letter("third@planted.example", "to confirm it")
	files := unzip(t, b.send("GET", b.startExport(), "", b.bySession()))
	if got := files["email.jsonl"]; !strings.Contains(got, "first@planted") || !strings.Contains(got, "third@planted") {
		t.Errorf("the export has %s", got)
	}
	letter("first@planted.example", "can be downloaded")
	b.confirmLetter(next)
	settings("!"+waits, ` value="weekly" selected`)
	letter("first@planted.example", "The e-mail address of your account was changed.")
	b.notifyKey("after")
	letter("third@planted.example", "desk")

	enter("refused@planted.example")
	p.err = email.ErrBounced
	round()
	p.err = nil
	settings("!" + waits)
	equal(t, b.count("hub.email_addresses WHERE confirmed_at IS NOT NULL AND pending IS NULL AND bounces = 0"), 1)

	enter("expired@planted.example")
	late := letter("expired@planted.example", "to confirm it")
	b.clock.Advance(email.TokenLife)
	b.cookie = b.signIn(b.mara)
	equal(t, len(round()), 0)
	want(t, b.send("GET", linkOf(t, late), ""), 404, "")
	settings("!" + waits)
	equal(t, b.count("hub.email_addresses WHERE pending IS NOT NULL OR token_hash IS NOT NULL"), 0)

	enter("waiting@planted.example")
	waiting := letter("waiting@planted.example", "to confirm it")
	p.err = email.ErrBounced
	for _, key := range []string{"one", "two", "three"} { // refusals of the confirmed address
		b.notifyKey(key)
		round()
	}
	p.err = nil
	want(t, b.send("GET", "/settings", "", b.bySession()), 200, "", "An address waits for its confirmation.")
	b.confirmLetter(waiting)
	settings("!" + waits)
	equal(t, len(round()), 0)
	enter("other@planted.example")
	want(t, b.post(emailForm, url.Values{"off": {"yes"}}, b.bySession()), http.StatusSeeOther, "")
	equal(t, b.count("hub.email_addresses")+b.count("hub.email_messages"), 0)
}

// TestAccountLetters checks that a message about the account is sent once to a confirmed address and repeated after a failure,
// and that three refusals delete the address.
func TestAccountLetters(t *testing.T) {
	t.Parallel()
	b, p, round := withMail(t)
	b.notifyKey("before")
	b.confirmEmail("mara@x.example", "off", round)
	equal(t, len(round()), 0)
	b.notifyKey("first")
	id := apitest.Get[string](b.ledger, `SELECT id::text FROM hub.notifications WHERE subject = 'first'`)
	p.err = http.ErrServerClosed
	equal(t, len(round()), 0)
	p.err = nil
	equal(t, len(round()), 0)
	b.clock.Advance(time.Minute)
	letters := round()
	if len(letters) != 1 || letters[0].ID != "notice-"+id || letters[0].Subject != "Signalcast: New key" ||
		letters[0].To != "mara@x.example" || !strings.Contains(letters[0].Text, "An API key was created: desk.\n"+hubURL+"/dev\n") {
		t.Fatalf("letters %+v", letters)
	}
	equal(t, len(round()), 0)
	for _, secret := range append(strings.Split(b.cookie, "; "), b.key) {
		_, value, _ := strings.Cut("="+secret, "=")
		if strings.Contains(letters[0].Text, value) {
			t.Errorf("the letter has %s", secret)
		}
	}
	p.err = email.ErrBounced
	for _, key := range []string{"second", "third"} {
		b.notifyKey(key)
		round()
	}
	p.err = nil
	b.notifyKey("fourth")
	equal(t, len(round()), 1) // the count starts again
	p.err = email.ErrBounced
	for _, key := range []string{"fifth", "sixth", "seventh"} {
		want(t, b.send("GET", "/settings", "", b.bySession()), 200, "", "An address is confirmed.")
		b.notifyKey(key)
		round()
	}
	want(t, b.send("GET", "/settings", "", b.bySession()), 200, "", "Letters were refused three times", ">Dismiss<")
	equal(t, b.count("hub.email_addresses WHERE address IS NOT NULL")+b.count("hub.email_messages"), 0)
	b.notifyKey("eighth")
	equal(t, b.count("hub.email_messages"), 0)
	want(t, b.post(emailForm, url.Values{"off": {"yes"}}, b.bySession()), http.StatusSeeOther, "")
	want(t, b.send("GET", "/settings", "", b.bySession()), 200, "", "!refused three times")
}

// TestDigests checks that a digest has the notifications of its period, is sent once and never repeated after a crash, and that
// one-click unsubscribe switches it off without a session.
func TestDigests(t *testing.T) {
	t.Parallel()
	b, p, round := withMail(t)
	b.confirmEmail("mara@x.example", "daily", round) // on Friday at 12:00
	score := int32(38)
	add := func(kind notification.Kind, key string) {
		t.Helper()
		must(t, b.store.StoreNotices(t.Context(), []notification.Fact{{
			Kind: kind, To: operator.ID(b.mara.GetId()), Key: key, MarketID: marketID, SignalID: "0199f0b0-0000-7000-8000-000000000002",
			Status: "won", Score: score, Count: 1, At: b.clock.Now(),
		}}))
	}
	add(notification.CallResolved, "first")
	b.clock.Advance(20*time.Hour + 59*time.Second)
	equal(t, len(round()), 0)
	b.clock.Advance(time.Second)
	letters := round()
	if len(letters) != 1 || letters[0].Subject != "Signalcast digest, 19 September 2026" ||
		!strings.Contains(letters[0].Text, "Your call won: Will the Ostrava gauge read above 6 m before 1 December?\n+38 points\n"+
			hubURL+"/receipts/0199f0b0") ||
		letters[0].Unsubscribe != hubURL+linkOf(t, letters[0]) {
		t.Fatalf("letters %+v", letters)
	}
	equal(t, len(round()), 0)
	b.clock.Advance(24 * time.Hour) // nothing happened
	equal(t, len(round()), 0)
	add(notification.CallResolved, "second")
	b.clock.Advance(24 * time.Hour)
	p.err = http.ErrServerClosed
	equal(t, len(round()), 0)
	p.err = nil
	b.clock.Advance(time.Minute)
	equal(t, len(round()), 1)
	add(notification.CallResolved, "third")
	b.clock.Advance(24 * time.Hour)
	must(t, b.queueAndCrash())
	for range 3 {
		equal(t, len(round()), 0)
		b.clock.Advance(10 * time.Hour)
	}

	link := linkOf(t, letters[0])
	want(t, b.send("GET", link, ""), 200, "", "Stop the digest", ` action="`+link+`"`)
	b.cookie = b.signIn(b.mara)
	want(t, b.send("GET", "/settings", "", b.bySession()), 200, "", ` value="daily" selected`)
	want(t, b.send("GET", link+"x", ""), 404, "")
	want(t, b.post("/unsubscribe?t=x", url.Values{"List-Unsubscribe": {"One-Click"}}), 404, "")
	oneClick := url.Values{"List-Unsubscribe": {"One-Click"}}
	want(t, b.post(link, oneClick, with("Origin", "https://mail.example")), 200, "", "The digest is off")
	want(t, b.send("GET", "/settings", "", b.bySession()), 200, "", ` value="off" selected`, "An address is confirmed.")
	add(notification.CallResolved, "fourth")
	b.clock.Advance(24 * time.Hour)
	equal(t, len(round()), 0)
	b.cookie = b.signIn(b.mara)
	w := b.post(emailForm, url.Values{"digest": {"weekly"}}, b.bySession())
	want(t, w, http.StatusSeeOther, "", "Location: /settings?done=digest")
	add(notification.CallResolved, "fifth")
	b.clock.Advance(7 * 24 * time.Hour)
	letters = round()
	if len(letters) != 1 || letters[0].Subject != "Signalcast digest, 28 September 2026" {
		t.Errorf("weekly letters %+v", letters)
	}
}

// queueAndCrash reserves the digests that are due, as a process that ends before it sends them.
func (b *fixture) queueAndCrash() error {
	ctx, now := b.t.Context(), b.clock.Now()
	kinds := []notification.Kind{notification.CallResolved}
	until := now.Truncate(24 * time.Hour).Add(8 * time.Hour)
	if n, err := b.store.QueueDigests(ctx, email.Daily, kinds, until, now, 10); err != nil || n != 1 {
		b.t.Fatal(n, err)
	}
	list, err := b.store.ListEmail(ctx, now, now.Add(-time.Hour), 10)
	if err != nil || len(list) != 1 {
		b.t.Fatal(list, err)
	}
	_, err = b.store.ReserveEmail(ctx, list[0], now.Add(48*time.Hour))
	return err
}

// TestEmailDeletion checks that the address is deleted with the account.
func TestEmailDeletion(t *testing.T) {
	t.Parallel()
	b, _, round := withMail(t)
	b.confirmEmail("mara@x.example", "daily", round)
	var d account.Store = b.store
	must(t, d.EraseAccount(t.Context(), operator.ID(b.mara.GetId()), "mara_k", "deleted_1", b.clock.Now()))
	equal(t, b.count("hub.email_addresses"), 0)
}

// TestEmailWithoutServer checks that without a mail server no address can be entered, and that the links of earlier letters work.
func TestEmailWithoutServer(t *testing.T) {
	t.Parallel()
	b, _, round := withMail(t)
	b.confirmEmail("mara@x.example", "daily", round)
	b.deps.Accounts.Email.Enabled = false
	want(t, b.send("GET", "/settings", "", b.bySession()), 200, "", "An address is confirmed.", `! name="address"`)
	want(t, b.post(emailForm, url.Values{"address": {"b@x.example"}}, b.bySession()), 400, "")
	want(t, b.post(emailForm, url.Values{"off": {"yes"}}, b.bySession()), http.StatusSeeOther, "")
	want(t, b.send("GET", "/settings", "", b.bySession()), 200, "", "!E-mail")
}
