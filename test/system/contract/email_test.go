package contract

import (
	"net/http"
	"testing"

	"github.com/signalcast/signalcast/test/system/stack"
)

// TestEmailOfSignIn signs in with a token that has a verified address, chooses the address without a letter, and checks that no page and
// no table shows it, and that the end of the session erases the copy of the sign-in.
func TestEmailOfSignIn(t *testing.T) {
	t.Parallel()
	s := system(t)
	p := s.NewOperator(t)
	address := p.Handle + "@people.example"
	signIn := func(scope string) stack.Set {
		t.Helper()
		token := stack.Post(t, s.IDP+"/mint", stack.Body(stack.JSON{"user": p.Handle, "scope": scope})).Require(http.StatusOK).Text("token")
		started := get(t, s.Hub+"/dev/session?state=x", stack.Header("Cookie", "db_dev_next="+token+"; db_dev_state=x")).
			Require(http.StatusSeeOther)
		return func(r *http.Request) {
			for _, c := range started.Cookies() {
				if c.MaxAge >= 0 {
					r.AddCookie(c)
				}
			}
			r.Header.Set("Sec-Fetch-Site", "same-origin")
		}
	}
	page := func(who stack.Set, text string, shown bool) {
		t.Helper()
		a := get(t, s.Hub+"/settings", who).Require(http.StatusOK)
		if a.Contains(text) != shown || a.Contains(address) {
			t.Errorf("the page shows %q: %t, want %t; it shows the address: %t", text, !shown, shown, a.Contains(address))
		}
	}
	const button = "Use the address of my sign-in"
	plain, full := signIn("openid"), signIn("openid email")
	page(plain, button, false)
	page(full, button, true)
	post(t, s.Hub+"/settings/email", plain, form("signin", "yes")).Require(http.StatusBadRequest)
	post(t, s.Hub+"/settings/email", full, form("signin", "yes", "digest", "daily")).Require(http.StatusSeeOther)
	page(full, "An address is confirmed.", true)
	page(plain, "An address is confirmed.", true)
	rows := func(from string) int { return stack.Query[int](t, s, "SELECT count(*) FROM "+from, p.ID) }
	if n := rows("hub.email_messages WHERE user_id = $1"); n != 0 {
		t.Errorf("%d letters wait, want none", n)
	}
	if n := rows("hub.email_addresses WHERE user_id = $1 AND confirmed_at IS NOT NULL AND digest = 'daily'"); n != 1 {
		t.Errorf("%d confirmed addresses with a daily digest, want 1", n)
	}
	for _, table := range []string{"hub.sessions", "hub.email_addresses"} {
		if n := rows(table + " t WHERE user_id = $1 AND t::text LIKE '%people.example%'"); n != 0 {
			t.Errorf("%d rows of %s show the address", n, table)
		}
	}
	post(t, s.Hub+"/sign-out", full, form()).Require(http.StatusSeeOther)
	if n := rows("hub.sessions WHERE user_id = $1 AND email IS NOT NULL"); n != 0 {
		t.Errorf("%d sessions have an address, want none", n)
	}
}
