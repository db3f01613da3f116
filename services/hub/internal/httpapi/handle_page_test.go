package httpapi_test

import (
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	operatorv1 "github.com/signalcast/signalcast/proto/operator/v1"
	"github.com/signalcast/signalcast/services/api/apitest"
	"github.com/signalcast/signalcast/services/hub/internal/account"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// handles returns the service that changes handles.
func (b *fixture) handles() account.Handles {
	return account.Handles{
		Ledger: b.deps.Ledger.OperatorWrites, People: operator.Directory{Ledger: b.deps.Ledger.Operators}, Store: b.store,
		IsLive: b.deps.OnAir.IsLive, Picture: b.deps.Accounts.Pictures.Address, UpdateProfile: b.deps.Accounts.Profiles.Update,
		Now: b.clock.Now, Log: b.deps.Log,
	}
}

// TestChangeOfHandle checks the form that changes a handle, the redirects from the former handle, and that everything that the
// hub stores under a handle follows, also after an interrupted change.
func TestChangeOfHandle(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	tide := b.ledger.AddOperator("tide")
	html := with("Accept", "text/html")
	change := func(handle string) *answer {
		return b.post("/settings/handle", url.Values{"handle": {handle}}, b.bySession())
	}
	want(t, b.post("/u/tide/follow", url.Values{}, b.bySession()), http.StatusSeeOther, "")
	want(t, b.send("POST", "/api/streamer/register", `{"displayName":"Mara","lanes":["science"]}`, b.bySession()), 201, "")
	b.ledger.Exec(`UPDATE hub.streamer_profiles SET status = 'approved' WHERE handle = 'mara_k'`)
	want(t, b.send("GET", "/api/embed/operator/mara_k", ""), 200, "", "shortUrl")
	want(t, b.send("POST", "/api/streamer/heartbeat", `{"marketId":"`+marketID+`"}`, b.byKey()), 200, "")
	b.ledger.Exec(`UPDATE hub.live_sessions SET hls_url = 'https://video.example/a.m3u8', aired = true`)
	b.clock.Advance(3 * time.Second)
	want(t, change("mara"), 409, "", "Your handle cannot change during a broadcast.", ` value="mara"`)
	b.clock.Advance(2 * time.Minute)
	b.ledger.Exec(`INSERT INTO hub.streams (market_id, handle, url, label, updated_at)
		VALUES ($1, 'mara_k', 'https://video.example/s.m3u8', '', now())`, marketID)

	want(t, change("m"), 400, "", "Enter 2 to 32 characters", ` value="m"`)
	want(t, change("admin"), 409, "", "This handle is reserved.")
	want(t, change("@Tide"), 409, "", "Another forecaster has or had this handle.", ` value="Tide"`)
	expired := b.post("/settings/handle", url.Values{"handle": {"mara"}, "csrf": {"x"}}, b.bySession())
	want(t, expired, 403, "", "This page was open too long", ` value="mara"`)
	want(t, change("Mara"), http.StatusSeeOther, "", "Location: /settings/profile?done=handle")
	want(t, b.send("GET", "/settings/profile?done=handle", "", b.bySession()), 200, "", "Handle changed.", "<b>@mara</b>")
	want(t, change("mara_l"), 409, "", "You can change your handle again from 18 Sep 2027", ` value="mara_l"`)

	for from, to := range map[string]string{
		"/u/mara_k": "/u/mara", "/u/Mara_K?state=open": "/u/mara?state=open", "/u/mara_k/feed.xml": "/u/mara/feed.xml",
		"/live/mara_k": "/live/mara", "/tip/mara_k": "/tip/mara", "/operator/mara_k/embed": "/operator/mara/embed",
		"/overlay/mara_k?theme=light": "/overlay/mara?theme=light",
	} {
		moved := b.send("GET", from, "", html)
		want(t, moved, http.StatusMovedPermanently, "", "Location: "+to, "Cache-Control: public, max-age=60")
		if status := b.send("GET", to, "", html).Code; status != 200 && !strings.HasPrefix(to, "/tip/") {
			t.Errorf("GET %s: %d", to, status)
		}
	}
	for _, path := range []string{
		"/api/operator/mara_k", "/api/network/field-record/mara_k", "/api/operator/mara_k/skill",
		"/api/streamer/profile?handle=mara_k",
	} {
		want(t, b.send("GET", path, ""), 200, "", `"mara"`, "!mara_k")
	}
	want(t, b.send("GET", "/u/unknown_1", "", html), 404, "")
	want(t, b.send("GET", "/overlay/unknown_1", "", html), 200, "")
	show := apitest.Get[string](b.ledger, `SELECT id::text FROM hub.live_sessions WHERE aired`)
	want(t, b.send("GET", "/live/mara_k?show="+show, "", html), http.StatusMovedPermanently, "", "Location: /live/mara?show="+show)
	want(t, b.send("GET", "/api/card/broadcast/mara_k."+show+".svg", ""), 200, "", "Broadcast of @mara", "!mara_k")
	want(t, b.send("GET", "/api/streamer/profile?handle=mara", ""), 200, "", `"science"`)
	got := apitest.Get[string](b.ledger, `SELECT handle FROM hub.notifications WHERE user_id = $1`, tide.GetId())
	if got != "mara" {
		t.Errorf("the notification names %s", got)
	}
	stored := func(handle string) (n int) {
		for _, place := range []string{
			"hub.streamer_profiles WHERE handle", "hub.live_sessions WHERE ended_at IS NOT NULL AND handle",
			"hub.streams WHERE handle", "hub.short_links WHERE id", "hub.follows WHERE noticed_as",
		} {
			n += b.count(place + " = '" + handle + "'")
		}
		return n
	}
	equal(t, stored("mara"), 5)
	equal(t, stored("mara_k"), 0)
	equal(t, b.count("hub.handle_changes"), 1) // of the change that the ledger refused last

	b.clock.Advance(protocol.HandlePeriod)
	h := b.handles()
	must(t, h.Settle(t.Context()))
	equal(t, b.count("hub.handle_changes"), 0)
	me := operator.ID(b.mara.GetId())
	must(t, h.Store.StartHandleChange(t.Context(), me, "mara", b.clock.Now()))
	_, err := h.Ledger.ChangeHandle(t.Context(), &operatorv1.ChangeHandleRequest{OperatorId: string(me), Handle: "mara_k"})
	must(t, err)
	must(t, h.Settle(t.Context())) // in progress
	equal(t, stored("mara"), 5)
	b.clock.Advance(time.Minute + time.Second)
	must(t, h.Settle(t.Context()))
	equal(t, stored("mara_k"), 5)
	equal(t, b.count("hub.handle_changes"), 0)
	want(t, b.send("GET", "/u/mara", "", html), http.StatusMovedPermanently, "", "Location: /u/mara_k")
}

// TestWelcome checks that the first sign-in leads to the welcome page once, that the page stores the handle, name and lanes or is
// skipped, and that both lead to the page at which the sign-in started.
func TestWelcome(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	market := "/m/" + marketID + "?side=YES"
	signIn := func(w *browser, token string) string {
		t.Helper()
		form := url.Values{"token": {token}, "state": {w.begin()}, "return_to": {market}}.Encode()
		next := w.step(true, http.MethodPost, "/dev/session", form).Header().Get("Location")
		return w.step(true, http.MethodGet, next, "").Header().Get("Location")
	}
	w := newBrowser(b)
	page := signIn(w, aPerson)
	if page != "/welcome?return_to="+url.QueryEscape(market) {
		t.Fatalf("the first sign-in leads to %s", page)
	}
	want(t, w.step(false, http.MethodGet, page, ""), 200, "", ` value="tidewatch"`, "public for good", "Skip", "Science",
		"Cache-Control: no-store")
	reply := func(w *browser, fields ...string) *answer {
		t.Helper()
		form := url.Values{"return_to": {market}, "displayName": {"Tide"}}
		for i := 0; i < len(fields); i += 2 {
			form[fields[i]] = strings.Split(fields[i+1], " ")
		}
		return w.step(false, http.MethodPost, "/welcome", form.Encode())
	}
	want(t, reply(w, "handle", "mara_k"), 409, "", "Another forecaster has or had this handle.", ` value="mara_k"`,
		` value="`+market+`"`)
	want(t, reply(w, "handle", ""), 400, "", "Enter 2 to 32 characters")
	want(t, reply(w, "handle", "tide", "displayName", ""), 400, "", "Enter 1 to 64 characters")
	six := reply(w, "handle", "tide", "lanes", "SPORT MUSIC TECH SCIENCE CRYPTO POLITICS")
	want(t, six, 400, "", "Choose at most 5 lanes.", ` value="TECH" checked`)
	want(t, reply(w, "handle", "tide", "csrf", "x"), 403, "", "This page was open too long", ` value="tide"`)
	mine := maps.Clone(w.jar)
	w.step(false, http.MethodPost, "/sign-out", "")
	for name, cookie := range mine { // another tab still has the page and its cookies
		w.jar[name] = cookie
	}
	out := reply(w, "handle", "planted", "lanes", "TECH", "csrf", "x")
	want(t, out, http.StatusSeeOther, "", "Location: /sign-in?return_to="+url.QueryEscape(page))
	equal(t, draftCookie(out) != "", true)
	form := url.Values{"token": {aPerson}, "state": {w.begin()}, "return_to": {page}}.Encode()
	next := w.step(true, http.MethodPost, "/dev/session", form).Header().Get("Location")
	want(t, w.step(true, http.MethodGet, next, ""), http.StatusSeeOther, "", "Location: "+page)
	want(t, w.step(false, http.MethodGet, page, ""), 200, "", ` value="planted"`, ` value="TECH" checked`, "nothing was saved yet")
	want(t, reply(w, "handle", "Tide", "lanes", "science tech"), http.StatusSeeOther, "", "Location: "+market)
	want(t, b.send("GET", "/api/streamer/profile?handle=tide", ""), 200, "", `"displayName":"Tide"`, `"lanes":["science","tech"]`)
	want(t, reply(w, "handle", "other"), http.StatusSeeOther, "", "Location: "+market)
	want(t, b.send("GET", "/u/tidewatch", "", with("Accept", "text/html")), http.StatusMovedPermanently, "", "Location: /u/tide")
	want(t, w.step(false, http.MethodGet, page, ""), http.StatusSeeOther, "", "Location: "+market)
	if again := signIn(newBrowser(b), aPerson); again != market {
		t.Errorf("the second sign-in leads to %s", again)
	}
	want(t, w.step(false, http.MethodPost, "/settings/handle", "handle=tide_two"), http.StatusSeeOther, "",
		"Location: /settings/profile?done=handle")

	w = newBrowser(b)
	signIn(w, anotherP)
	want(t, reply(w, "handle", "ignored", "skip", "1", "displayName", ""), http.StatusSeeOther, "", "Location: "+market)
	want(t, w.step(false, http.MethodGet, page, ""), http.StatusSeeOther, "", "Location: "+market)
	want(t, b.send("GET", "/u/evil", "", with("Accept", "text/html")), 200, "")
	want(t, newBrowser(b).step(false, http.MethodGet, page, ""), http.StatusSeeOther, "")
	b.clock.Advance(protocol.HandleChoice + time.Second)
	foreign := b.send("GET", "/welcome?return_to=//evil.example", "", b.bySession())
	want(t, foreign, http.StatusSeeOther, "", "Location: /settings/profile")
}
