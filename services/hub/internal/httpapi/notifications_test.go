package httpapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	feedv1 "github.com/signalcast/signalcast/proto/feed/v1"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/api/apitest"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages"
	"github.com/signalcast/signalcast/services/hub/internal/notification"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// TestNotifications checks that a follow notifies the followed operator on the API, on the page and in the header of pages, that
// the operator marks it as read, and that no other operator can.
func TestNotifications(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	tide := b.ledger.AddOperator("tide")
	other := b.signIn(tide)
	bySession := func(r *http.Request) {
		r.Header.Set("Cookie", other)
		r.Header.Set("Origin", hubURL)
	}
	want(t, b.post("/u/mara_k/follow", url.Values{}, bySession), http.StatusSeeOther, "")

	const list, read = "/api/user/notifications", "/api/user/notifications/read"
	get := func(by func(*http.Request)) openapi.Notifications {
		t.Helper()
		var out openapi.Notifications
		w := b.send("GET", list+"?cursor=invalid", "", by)
		if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil || w.Code != http.StatusOK {
			t.Fatalf("list: %d %s", w.Code, w.Body)
		}
		return out
	}
	got := get(b.byKey())
	if len(got.Notifications) != 1 || got.Unread != 1 || got.NextCursor != nil {
		t.Fatalf("notifications: %+v", got)
	}
	n := got.Notifications[0]
	if n.Kind != "followed" || n.Actor == nil || *n.Actor != "tide" || n.Count != 1 || n.ReadAt != nil || n.Score != nil || n.MarketID != nil {
		t.Errorf("notification: %+v", n)
	}
	shows := func(unread, row bool) {
		t.Helper()
		if header := b.send("GET", "/u/tide", "", b.bySession()).Body.String(); strings.Contains(header, "Notifications, 1 unread") != unread {
			t.Errorf("the header shows an unread notification: %t, want %t", !unread, unread)
		}
		if page := b.send("GET", "/notifications", "", b.bySession()).Body.String(); strings.Contains(page, "@tide followed you") != row {
			t.Errorf("the page lists the follow: %t, want %t", !row, row)
		}
	}
	shows(true, true)

	for body, code := range map[string]string{`{}`: "missing_up_to", `{"upTo":7}`: "invalid_up_to", `{"upTo":"x"}`: "invalid_up_to"} {
		want(t, b.send("POST", read, body, b.bySession()), 400, code)
	}
	want(t, b.send("POST", read, `{"upTo":"`+n.ID+`"}`, bySession), 404, "not_found")
	want(t, b.post("/notifications/read", url.Values{"upTo": {n.ID}}, bySession), http.StatusSeeOther, "")
	want(t, b.post("/notifications/read", url.Values{"upTo": {"x"}}, b.bySession()), 400, "")
	shows(true, true)
	want(t, b.post("/notifications/read", url.Values{"upTo": {n.ID}}, b.bySession()), http.StatusSeeOther, "", "Location: /notifications")
	want(t, b.send("POST", read, `{"upTo":"`+strings.ToUpper(n.ID)+`"}`, b.bySession()), 200, "")
	shows(false, true)
	if got := get(b.bySession()); got.Unread != 0 || got.Notifications[0].ReadAt == nil {
		t.Errorf("after marking as read: %+v", got)
	}

	want(t, b.post("/u/mara_k/unfollow", url.Values{}, bySession), http.StatusSeeOther, "")
	shows(false, false)
	if page := b.send("GET", "/notifications", "", b.bySession()).Body.String(); !strings.Contains(page, "Nothing yet.") {
		t.Error("the page without notifications does not say so")
	}
}

// TestNotificationSettings checks that the form switches kinds off and on, and that a follow then notifies or not.
func TestNotificationSettings(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	other := b.signIn(b.ledger.AddOperator("tide"))
	bySession := func(r *http.Request) {
		r.Header.Set("Cookie", other)
		r.Header.Set("Origin", hubURL)
	}
	const settings = "/settings/notifications"
	box := `name="followers" value="on" checked`
	if page := b.send("GET", settings, "", b.bySession()).Body.String(); !strings.Contains(page, box) {
		t.Error("new followers are off by default")
	}
	want(t, b.post(settings, url.Values{"calls": {"on"}}, b.bySession()), http.StatusSeeOther, "", "Location: /settings/notifications?done=saved")
	if page := b.send("GET", settings+"?done=saved", "", b.bySession()).Body.String(); strings.Contains(page, box) || !strings.Contains(page, "Settings saved.") {
		t.Error("the page does not show the saved settings")
	}
	for _, step := range []struct {
		form url.Values
		rows int
	}{{url.Values{}, 0}, {url.Values{"followers": {"on"}}, 1}} {
		want(t, b.post(settings, step.form, b.bySession()), http.StatusSeeOther, "")
		want(t, b.post("/u/mara_k/follow", url.Values{}, bySession), http.StatusSeeOther, "")
		equal(t, b.count("hub.notifications"), step.rows)
		want(t, b.post("/u/mara_k/unfollow", url.Values{}, bySession), http.StatusSeeOther, "")
	}
	expired := b.post(settings, url.Values{"csrf": {"old"}, "markets": {"on"}}, b.bySession())
	want(t, expired, 403, "")
	if page := expired.Body.String(); !strings.Contains(page, `name="markets" value="on" checked`) || strings.Contains(page, box) {
		t.Error("the form of an earlier session does not return with what was chosen")
	}
	for _, path := range []string{"/notifications", settings} { // without a session
		if w := b.send("GET", path, ""); w.Code/100 != 3 || !strings.HasPrefix(w.Header().Get("Location"), idpURL) {
			t.Errorf("%s without a session: %d %s", path, w.Code, w.Header().Get("Location"))
		}
	}
}

// TestAccountNotifications checks the notifications about an account: on the API by kind, and as texts on the page. The decisions
// that are repeated do not notify again.
func TestAccountNotifications(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	by := byLogin("mara_k")
	want(t, b.send("POST", "/api/dev/keys", `{"label":"night bot","permissions":["read"]}`, by), 201, "")
	for _, status := range []string{"approved", "approved", "suspended"} {
		b.clock.Advance(time.Second)
		want(t, b.send("POST", approveURL, `{"handle":"mara_k","status":"`+status+`"}`, byAdmin()), 200, "")
	}
	for range 2 {
		want(t, b.send("POST", moderationURL, `{"kind":"profile","id":"mara_k","action":"hide","reason":"abuse"}`, byAdmin()), 200, "")
	}
	want(t, b.send("POST", profilePath, `{"payoutAddress":"0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"}`, b.bySession()), 200, "")

	me, now := operator.ID(b.mara.GetId()), b.clock.Now()
	must(t, b.store.StoreLedgerNotices(t.Context(), 0, 1, []notification.Fact{
		{Kind: notification.WebhookDeactivated, To: me, Key: "hook", Reason: "bot.example", Count: 1, At: now},
		{Kind: notification.SkillConfirmed, To: me, Key: "skill", Count: 1, At: now},
	}))

	var out openapi.Notifications
	w := b.send("GET", "/api/user/notifications", "", b.byKey())
	if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, n := range out.Notifications {
		reason := ""
		if n.Reason != nil {
			reason = *n.Reason
		}
		got[n.Kind] = reason
	}
	texts := map[string]string{
		"key_added": "night bot", "streamer_approved": "", "streamer_refused": "", "text_hidden": "abuse",
		"payout_changed": "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", "webhook_deactivated": "bot.example", "skill_confirmed": "",
	}
	if !maps.Equal(got, texts) || len(out.Notifications) != len(texts) {
		t.Errorf("notifications: %s", w.Body)
	}
	page := b.send("GET", "/notifications", "", b.bySession())
	for _, text := range []string{
		"An API key was created", "night bot", "You can broadcast on Signalcast", "You cannot broadcast on Signalcast",
		"An administrator hid one of your texts", "Your payout address was changed",
		"A webhook was switched off after failed deliveries", "bot.example. To activate it again", ` href="/docs/operations/changeWebhook"`,
		"Your calls show skill", ` href="/u/mara_k"`,
	} {
		has(t, page, text)
	}
	equal(t, strings.Contains(string(openapi.JSON), `"changeWebhook"`), true) // the link leads to this operation
	line := pages.NotificationLine(notification.Entry{Kind: notification.WebhookDeactivated, Reason: "bot.example"}, "")
	if line.Path != "/docs/operations/changeWebhook" || line.Text != "A webhook was switched off after failed deliveries: bot.example. "+
		"To activate it again, send active: true with the operation “Change a webhook” of the API." {
		t.Errorf("the letter about a webhook: %+v", line)
	}
}

// failing is a store that cannot be read.
type failing struct{ notification.Store }

func (failing) CountUnread(ctx context.Context, _ operator.ID) (int64, error) {
	<-ctx.Done() // the count has a time limit
	return 0, ctx.Err()
}

func (failing) ListNotifications(context.Context, operator.ID, notification.Place, int) ([]notification.Entry, error) {
	return nil, apitest.ErrDB
}

// TestUnavailableNotifications checks that pages are shown without the number of unread notifications if it cannot be read.
func TestUnavailableNotifications(t *testing.T) {
	t.Parallel()
	b := withPages(t, func(_ *httpapi.Config, d *httpapi.Deps) { d.Accounts.Notices = failing{} })
	if w := b.send("GET", "/u/mara_k", "", b.bySession()); w.Code != 200 || !strings.Contains(w.Body.String(), `aria-label="Notifications"`) {
		t.Errorf("page: %d %s", w.Code, w.Body)
	}
	if w := b.send("GET", "/notifications", "", b.bySession()); w.Code != 200 || !strings.Contains(w.Body.String(), "Notifications are unavailable.") {
		t.Errorf("notifications: %d %s", w.Code, w.Body)
	}
	want(t, b.send("GET", "/api/user/notifications", "", b.byKey()), 503, "db_unavailable")
}

// TestFollowingPages checks that the page lists 25 followed forecasters, with links to the other ones, and the last calls of
// forecasters without events.
func TestFollowingPages(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	b.file("NO", 6900, with("Authorization", "Bearer "+b.ledger.AddKey(b.ledger.AddOperator("tide").GetId())))
	b.ledger.Happened = []*feedv1.Event{}
	for i := range 26 {
		handle := fmt.Sprintf("person_%02d", i)
		b.ledger.AddOperator(handle)
		b.clock.Advance(time.Second)
		want(t, b.post("/u/"+handle+"/follow", url.Values{}, b.bySession()), http.StatusSeeOther, "")
	}
	page := func(path string, conditions ...string) string {
		t.Helper()
		w := b.send("GET", path, "", b.bySession())
		want(t, w, 200, "", conditions...)
		_, rest, _ := strings.Cut(w.Body.String(), `href="/following?people=`)
		cursor, _, _ := strings.Cut(rest, "#")
		return cursor
	}
	next := page("/following", "@person_25", "@person_01", "!@person_00", "More forecasters", "!Newest follows", "No activity in the last 90 days.", "!Last calls")
	equal(t, page("/following?people="+next, "@person_00", "!@person_01", "!More forecasters", "Newest follows"), "")
	page("/following?people=x", "@person_25")
	want(t, b.post("/u/tide/follow", url.Values{}, b.bySession()), http.StatusSeeOther, "")
	page("/following", "These are their last calls.", "at 69¢", ` href="/u/tide">@tide</a>`)
	b.ledger.Fail(apitest.ErrDB, "ListCalls")
	page("/following", "Their last calls are unavailable.")
}

// TestFollowing checks the page of followed forecasters: suggestions for a visitor who follows none, the events of followed
// forecasters without those of other types, and that a muted forecaster remains in the list of follows.
func TestFollowing(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	b.ledger.AddOperator("tide")
	shows := func(want bool, text string) {
		t.Helper()
		if w := b.send("GET", "/following", "", b.bySession()); w.Code != 200 || strings.Contains(w.Body.String(), text) != want {
			t.Errorf("the page shows %q: %t, want %t (%d)", text, !want, want, w.Code)
		}
	}
	shows(true, "You follow no forecasters yet.")
	want(t, b.post("/u/tide/follow", url.Values{}, b.bySession()), http.StatusSeeOther, "")
	shows(true, "No activity in the last 90 days.")
	b.set(func() {
		b.ledger.Happened = []*feedv1.Event{
			feedEvent(90, "signal.event", "11:59:50", marketID, "tide", `{"event":{"type":"take","payload":{"text":"A take."}}}`),
			feedEvent(89, "signal.event", "11:59:50", marketID, "tide", `{"event":{"type":"note","payload":{"text":"A note."}}}`),
			feedEvent(88, "operator.live", "11:40:00", "", "tide", `{"approved":true,"showId":"0199f0c0-0000-7000-8000-000000000001"}`),
		}
	})
	for text, shown := range map[string]bool{
		"A take.": true, "A note.": false, "Watch the broadcast of @tide": true,
		` href="/live/tide?show=0199f0c0-0000-7000-8000-000000000001"`: true, `action="/u/tide/mute"`: true,
	} {
		shows(shown, text)
	}
	want(t, b.post("/u/tide/mute", url.Values{}, b.bySession()), http.StatusSeeOther, "", "Location: /following")
	for text, shown := range map[string]bool{"A take.": false, "@tide, muted": true, `action="/u/tide/unmute"`: true} {
		shows(shown, text)
	}
	want(t, b.post("/u/tide/unmute", url.Values{}, b.bySession()), http.StatusSeeOther, "")
	shows(true, "A take.")
	const calls, live, takes = ` name="calls" value="yes" checked`, ` name="live" value="yes" checked`, ` name="takes" value="yes" checked`
	has(t, b.send("GET", "/following", "", b.bySession()), calls, live, takes)
	kinds := url.Values{"kinds": {"yes"}, "live": {"yes"}}
	want(t, b.post("/u/tide/mute", kinds, b.bySession()), http.StatusSeeOther, "", "Location: /following")
	has(t, b.send("GET", "/following", "", b.bySession()), "!"+calls, live, "!"+takes, "A take.", ` action="/u/tide/mute"`)
	want(t, b.post("/u/no_such_user/mute", url.Values{}, b.bySession()), 404, "")
	if w := b.send("GET", "/following", ""); w.Code/100 != 3 {
		t.Errorf("without a session: %d", w.Code)
	}
}
