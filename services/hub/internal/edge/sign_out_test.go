package edge_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/fault"
)

const ownClaims = "/api/identity/claim" // takes a session alone

func TestCopiedCookiesStopWorkingAfterSignOut(t *testing.T) {
	t.Parallel()
	b := setup(t)
	copied, other := b.bySession(), with("Cookie", b.signIn(b.mara))
	want(t, b.send("GET", ownClaims, "", copied), 200, "")
	want(t, b.send("DELETE", "/api/auth/privy", "", b.bySession()), 200, "")
	want(t, b.send("GET", ownClaims, "", copied), 401, "unauthenticated")
	want(t, b.send("POST", profilePath, `{"bio":"after sign-out"}`, copied), 401, "unauthenticated")
	want(t, b.send("GET", ownClaims, "", other), 200, "") // another device
}

func TestSignOutEverywhereEndsEverySession(t *testing.T) {
	t.Parallel()
	b := setup(t)
	other := with("Cookie", b.signIn(b.mara))
	want(t, b.send("DELETE", "/api/auth/privy?all=true", ""), 401, "unauthenticated")
	want(t, b.send("DELETE", "/api/auth/privy?all=true", "", with("Cookie", b.cookie)), 403, "forbidden")
	want(t, b.send("DELETE", "/api/auth/privy?all=1", "", b.bySession()), 400, "invalid_all")
	want(t, b.send("GET", ownClaims, "", other), 200, "")
	w := b.send("DELETE", "/api/auth/privy?all=true", "", b.bySession())
	want(t, w, 200, "")
	if n := len(w.Result().Cookies()); n != 3 {
		t.Errorf("%d cookies removed", n)
	}
	for name, session := range map[string]header{"the same": b.bySession(), "another": other} {
		if w := b.send("GET", ownClaims, "", session); w.Code != 401 {
			t.Errorf("%s session: %d", name, w.Code)
		}
	}
	b.clock.Advance(time.Minute)
	want(t, b.send("GET", ownClaims, "", with("Cookie", b.signIn(b.mara))), 200, "") // a new sign-in
}

func TestSignOutSaysThatTheSessionWasNotEnded(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.sessions.fails = fault.New(fault.Unavailable, "db_unavailable", "")
	w := b.send("DELETE", "/api/auth/privy", "", b.bySession())
	if want(t, w, 503, "db_unavailable"); len(w.Result().Cookies()) != 3 {
		t.Errorf("the cookies stay in the browser: %v", w.Result().Cookies())
	}
}

func TestSessionIsBoundToItsBrowser(t *testing.T) {
	t.Parallel()
	b := setup(t)
	pair, bind, _ := strings.Cut(b.cookie, "; __Host-")
	if bind == "" {
		t.Fatalf("no binding cookie in %s", b.cookie)
	}
	_, other, _ := strings.Cut(b.signIn(b.mara), "; __Host-")
	want(t, b.send("GET", ownClaims, "", with("Cookie", pair)), 401, "unauthenticated")
	want(t, b.send("GET", ownClaims, "", with("Cookie", pair+"; __Host-"+other)), 401, "unauthenticated")
	want(t, b.send("GET", ownClaims, "", with("Cookie", b.cookie)), 200, "")
}

func TestPageSignsOutEverywhere(t *testing.T) {
	t.Parallel()
	b, _ := withDatabase(t)
	other := with("Cookie", b.signIn(b.mara))
	page := b.send("GET", "/profile", "", b.bySession())
	if !strings.Contains(page.Body.String(), `name="everywhere" value="yes"`) {
		t.Errorf("the account page does not offer it: %d", page.Code)
	}
	form := func(r *http.Request) { r.Header.Set("Content-Type", "application/x-www-form-urlencoded") }
	if w := b.send("POST", "/sign-out", "everywhere=yes", b.bySession(), form); w.Code != http.StatusSeeOther {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	want(t, b.send("GET", ownClaims, "", other), 401, "unauthenticated")
}
