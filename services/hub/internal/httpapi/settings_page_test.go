package httpapi_test

import (
	"crypto/ecdh"
	"crypto/rand"
	"encoding/base64"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"
)

var deviceField = regexp.MustCompile(`name="session" value="([0-9]+)"`)

// TestSettingsPage checks that the account page lists the devices on which the visitor is signed in. The visitor signs out one of
// them, and then all.
func TestSettingsPage(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	first := with("Cookie", b.cookie)
	b.clock.Advance(time.Minute)
	b.cookie = b.signIn(b.mara)
	second := b.bySession()
	page := b.send("GET", "/settings", "", second)
	want(t, page, 200, "", "This device", "@mara_k", ` href="/settings/profile"`, "Cache-Control: no-store", ` action="/settings/theme"`)
	for path, to := range map[string]string{"/profile": "/settings/profile", "/apps": "/settings/apps"} {
		want(t, b.send("GET", path, ""), http.StatusMovedPermanently, "", "Location: "+to)
	}
	devices := deviceField.FindAllStringSubmatch(page.Body.String(), -1)
	if len(devices) < 2 || strings.Count(page.Body.String(), "This device") != 1 {
		t.Fatalf("the page lists %d devices: %s", len(devices), page.Body)
	}
	rows := strings.Split(page.Body.String(), "<li>")
	other := ""
	for _, row := range rows {
		if found := deviceField.FindStringSubmatch(row); found != nil && !strings.Contains(row, "This device") {
			other = found[1]
		}
	}
	want(t, b.post("/settings/sessions/revoke", url.Values{"session": {"x"}}, second), 400, "")
	want(t, b.post("/settings/sessions/revoke", url.Values{"session": {other}}, second), http.StatusSeeOther, "", "Location: /settings?done=revoked")
	want(t, b.send("GET", "/settings", "", first), http.StatusSeeOther, "")
	want(t, b.send("GET", "/settings?done=revoked", "", second), 200, "", "The device is signed out.", "!value=\""+other)
	third := with("Cookie", b.signIn(b.mara))
	want(t, b.post("/settings/sessions/revoke-all", url.Values{}, second), http.StatusSeeOther, "", "Location: /sign-in?return_to=%2Fsettings")
	want(t, b.send("GET", ownClaims, "", third), 401, "unauthenticated")
	b.clock.Advance(time.Minute)
	want(t, b.send("GET", "/settings", "", second), http.StatusSeeOther, "")
}

// TestNotificationsOfDevices checks that a device turns on web push after a press, and that the visitor turns it off on any device.
func TestNotificationsOfDevices(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	must(t, err)
	subscription := `{"endpoint":"https://push.example/1","keys":{"auth":"c2l4dGVlbiBieXRlcyBvaw","p256dh":"` +
		base64.RawURLEncoding.EncodeToString(key.PublicKey().Bytes()) + `"}}`
	page := b.send("GET", "/settings", "", b.bySession())
	want(t, page, 200, "", ` data-key="the public key"`, "/static/push-worker.js", "/static/push.js", "!Turn off notifications")
	session := deviceField.FindStringSubmatch(page.Body.String())[1]
	for _, bad := range []url.Values{{}, {"session": {"x"}}, {"subscription": {"x"}}, {"subscription": {strings.Replace(subscription, "https", "http", 1)}}} {
		want(t, b.post("/settings/push", bad, b.bySession()), 400, "")
	}
	want(t, b.post("/settings/push", url.Values{"subscription": {subscription}}, b.bySession()), http.StatusSeeOther, "", "Location: /settings?done=push-on")
	want(t, b.send("GET", "/settings", "", b.bySession()), 200, "", "Turn off notifications", "!data-key")
	want(t, b.post("/settings/push", url.Values{"session": {session}}, b.bySession()), http.StatusSeeOther, "", "Location: /settings?done=push-off")
	want(t, b.send("GET", "/settings?done=push-off", "", b.bySession()), 200, "", "Notifications are off.", "data-key", "!Turn off notifications")
}

// TestReportForm checks that a visitor can report a profile, and that the form is shown again with its text if it is invalid.
func TestReportForm(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	b.ledger.AddOperator("tide")
	want(t, b.send("GET", "/u/tide", "", with("Accept", "text/html")), 200, "", ` href="/report?subject=profile:tide"`)
	want(t, b.send("GET", "/report?subject=profile:tide", "", with("Accept", "text/html")), http.StatusSeeOther, "")
	want(t, b.send("GET", "/report?subject=profile:tide", "", b.bySession()), 200, "", "Report the profile of @tide", ` value="profile:tide"`)
	for _, subject := range []string{"", "profile:", "app:x", "profile", "market:%0a", "profile:" + strings.Repeat("a", 501)} {
		want(t, b.send("GET", "/report?subject="+subject, "", b.bySession()), 404, "")
	}
	report := func(subject, reason string) *answer {
		return b.post("/report", url.Values{"subject": {subject}, "reason": {reason}}, b.bySession())
	}
	want(t, report("profile:tide", " "), 400, "", "Write what is wrong", ` role="alert"`)
	long := strings.Repeat("x", 501)
	want(t, report("profile:tide", long), 400, "", long, "Write what is wrong")
	want(t, report("profile:no_such_user", "spam"), 404, "")
	want(t, report("app:tide", "spam"), 404, "")
	equal(t, b.count("hub.reports"), 0)
	want(t, report("profile:TIDE", "spam\r\nspam"), 200, "", "Report sent", ` href="/u/tide"`)
	equal(t, b.count("hub.reports"), 1)
	for range 9 {
		want(t, report("market:"+marketID, "wrong"), 200, "", "Report sent")
	}
	want(t, report("profile:tide", "once more"), 429, "", "10 reports in the last 24 hours", "once more")
}
