package httpapi_test

import (
	"crypto/rand"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// eventValues returns the values of a form that updates a call. changes are pairs of name and value.
func eventValues(kind, key string, changes ...string) url.Values {
	v := url.Values{"type": {kind}, "idempotencyKey": {key}}
	for i := 0; i < len(changes); i += 2 {
		v.Set(changes[i], changes[i+1])
	}
	return v
}

// TestCallEventForms updates a call with the forms of its receipt. A form that is sent twice stores one event.
func TestCallEventForms(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	receipt := "/receipts/" + b.file("YES", 3200, b.byKey())
	page := b.send("GET", receipt, "", b.bySession(), with("Accept", "text/html"))
	want(t, page, 200, "", "Update your call", "Add take", "Change confidence", "Reaffirm")
	want(t, b.send("GET", receipt, "", with("Accept", "text/html")), 200, "", "!Update your call")
	want(t, b.send("GET", callPage, "", b.bySession()), 200, "", "Update your call", receipt+"/events")
	done := "Location: " + receipt + "#updates"
	for range 2 {
		want(t, b.post(receipt+"/events", eventValues("take", formKey(t, page), "text", "It still rains."), b.bySession()), http.StatusSeeOther, "", done)
	}
	b.clock.Advance(time.Second)
	want(t, b.post(receipt+"/events", eventValues("confidence", "k2", "confidence", "74"), b.bySession()), http.StatusSeeOther, "", done)
	b.clock.Advance(time.Second)
	want(t, b.post(receipt+"/events", eventValues("reaffirm", "k3"), b.bySession()), http.StatusSeeOther, "", done)
	var got []string
	for _, e := range b.events(0) {
		got = append(got, e.GetType()+e.GetPayload())
	}
	equal(t, strings.Join(got, " "), `take{"text":"It still rains."} confidence{"confidence":74} reaffirm{}`)
	want(t, b.send("GET", receipt, "", with("Accept", "text/html")), 200, "", "It still rains.", "74%", "Reaffirmed")
}

// TestCallEventFormErrors checks that a rejected form is shown again with its values, and that only the owner of a call updates it.
func TestCallEventFormErrors(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	receipt := "/receipts/" + b.file("YES", 3200, b.byKey())
	for name, c := range map[string]struct {
		form   url.Values
		status int
		texts  []string
	}{
		"no take":        {eventValues("take", "k", "text", " "), 400, []string{`<a href="#event-take">Enter 1 to 500 characters`}},
		"long take":      {eventValues("take", "k", "text", strings.Repeat("x", 501)), 400, []string{"Enter 1 to 500 characters", strings.Repeat("x", 501)}},
		"confidence":     {eventValues("confidence", "k", "confidence", "0"), 400, []string{`<a href="#event-confidence">Enter a whole number`, ` value="0"`}},
		"odd confidence": {eventValues("confidence", "k", "confidence", "sure"), 400, []string{"Enter a whole number", ` value="sure"`}},
		"odd type":       {eventValues("resolved", "k"), 400, []string{"The form is invalid."}},
		"no key":         {eventValues("reaffirm", ""), 400, []string{"The form is invalid."}},
		"no token":       {eventValues("take", "k", "text", "typed text", "csrf", ""), 403, []string{"This page was open too long.", "typed text"}},
	} {
		want(t, b.post(receipt+"/events", c.form, b.bySession()).as(name), c.status, "", append(c.texts, ` role="alert"`)...)
	}
	want(t, b.post("/receipts/0199f0f0-0000-7000-8000-0000000000ff/events", eventValues("reaffirm", "k"), b.bySession()), 404, "")
	want(t, b.post("/receipts/nope/events", eventValues("reaffirm", "k"), b.bySession()), 404, "")
	other := b.signIn(b.ledger.AddOperator("tide"))
	want(t, b.post(receipt+"/events", eventValues("reaffirm", "k"), with("Cookie", other), with("Origin", hubURL)), 403, "")
	equal(t, len(b.events(0)), 0)
}

// TestShareOfReceipt checks the texts and links with which a receipt is shared.
func TestShareOfReceipt(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	id := b.file("YES", 3200, b.byKey())
	want(t, b.send("GET", "/receipts/"+id, "", with("Accept", "text/html")), 200, "", "YES at 32¢ on “Will the Ostrava gauge",
		"https://x.com/intent/post?text=YES&#43;at&#43;32", "https://bsky.app/intent/compose?text=YES", "https://farcaster.xyz/~/compose?embeds",
		` value="`+hubURL+`/receipts/`+id+`"`, hubURL+"/api/card/signal/"+id+".png", "&lt;a href=")
}

// draftCookie returns the cookie with the form that waits for a sign-in, and "" if the answer sets none.
func draftCookie(w *answer) string {
	for _, c := range w.Result().Cookies() {
		if c.Name == "sc_draft" && c.MaxAge > 0 {
			if !c.HttpOnly || !c.Secure || c.SameSite != http.SameSiteLaxMode || c.MaxAge != 900 || len(c.Value) > 4096 {
				return "invalid"
			}
			return c.Name + "=" + c.Value
		}
	}
	return ""
}

// dropsDraft reports whether an answer deletes the form that waits for a sign-in.
func dropsDraft(w *answer) bool {
	for _, c := range w.Result().Cookies() {
		if c.Name == "sc_draft" && c.MaxAge < 0 {
			return true
		}
	}
	return false
}

// TestDraftOfCall checks that a form whose session has ended waits in an encrypted cookie for the same person, and that it is shown but
// not filed after the sign-in.
func TestDraftOfCall(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	form := callValues("k", "direction", "NO", "take", "The typed take.")
	ended := b.cookie
	want(t, b.post("/sign-out", url.Values{}, b.bySession()), http.StatusSeeOther, "")
	w := b.post(callPost, form, b.bySession())
	want(t, w, http.StatusSeeOther, "", "Location: /sign-in?return_to=%2Fm%2F701122%3Fside%3DNO%23call")
	draft := draftCookie(w)
	if draft == "" || strings.Contains(draft, "typed") {
		t.Fatalf("cookie %q", draft)
	}
	b.cookie = b.signIn(b.mara)
	mine := with("Cookie", b.cookie+"; "+draft)
	want(t, b.send("GET", callPage, "", mine), 200, "", "The typed take.", ` value="61"`, ` value="NO" required checked`)
	want(t, b.send("GET", "/m/"+nativeID, "", mine), 200, "", "!The typed take.")
	want(t, b.send("GET", callPage, "", with("Cookie", draft)), 200, "", "!The typed take.", "Cache-Control: public, s-maxage=10")
	equal(t, b.calls(), 0)
	other := b.ledger.AddOperator("tide")
	want(t, b.send("GET", callPage, "", with("Cookie", b.signIn(other)+"; "+draft)), 200, "", "!The typed take.")
	want(t, b.send("GET", callPage, "", with("Cookie", b.cookie+"; "+draft[:len(draft)-2])), 200, "", "!The typed take.")
	out := b.post("/sign-out", url.Values{}, with("Cookie", b.cookie+"; "+draft), with("Origin", hubURL))
	equal(t, dropsDraft(out), true)
	b.cookie = b.signIn(b.mara)
	filed := b.post(callPost, form, with("Cookie", b.cookie+"; "+draft), with("Origin", hubURL))
	want(t, filed, http.StatusSeeOther, "")
	equal(t, dropsDraft(filed), true)
	receipt := filed.Header().Get("Location")
	w = b.post(receipt+"/events", eventValues("take", "k", "text", "A later take."), with("Cookie", ended), with("Origin", hubURL))
	want(t, w, http.StatusSeeOther, "", "Location: /sign-in?return_to="+url.QueryEscape(receipt))
	mine = with("Cookie", b.cookie+"; "+draftCookie(w))
	html := with("Accept", "text/html")
	want(t, b.send("GET", receipt, "", mine, html), 200, "", "A later take.")
	b.clock.Advance(15 * time.Minute)
	want(t, b.send("GET", receipt, "", mine, html), 200, "", "!A later take.")
}

// TestLongDraft checks that a form which does not fit in the cookie is not stored.
func TestLongDraft(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	own := with("Origin", hubURL)
	equal(t, draftCookie(b.post(callPost, callValues("", "take", strings.Repeat("é", 500)), own)) != "", true)
	equal(t, draftCookie(b.post(callPost, callValues("", "take", strings.Repeat("x", 4000)), own)), "")
}

// TestSignInOfAnotherDropsTheDraft checks that the form of one person is deleted when another person signs in.
func TestSignInOfAnotherDropsTheDraft(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	b.post("/sign-out", url.Values{}, b.bySession())
	draft := draftCookie(b.post(callPost, callValues("k"), b.bySession()))
	for login, drops := range map[string]bool{anotherP: true, "jwt.mara_k.sig": false} {
		cookies := draft + "; db_dev_state=s; db_dev_next=" + login
		w := b.send("GET", "/dev/session?state=s", "", with("Cookie", cookies)).as(login)
		want(t, w, http.StatusSeeOther, "")
		equal(t, dropsDraft(w), drops, login)
	}
}

// TestDraftsOfAccountForms checks that the forms about the account wait for a sign-in if their session has ended, without their token
// and picture, and that they are shown to the same person, not sent, and deleted when they are sent again.
func TestDraftsOfAccountForms(t *testing.T) {
	t.Parallel()
	b, own := withPages(t), with("Origin", hubURL)
	const subject, typed, notice = "profile:tide", "planted", "nothing was saved yet"
	b.ledger.AddOperator("tide")
	b.deps.Accounts.Email.Enabled = true
	html := with("Accept", "text/html")
	for path, c := range map[string]struct {
		page string
		form url.Values
		sent int // status of the form that is sent again
	}{
		"/profile":         {"/settings/profile", url.Values{"displayName": {"Mara"}, "bio": {typed}, "picture": {"AAAA"}}, 303},
		"/settings/handle": {"/settings/profile", url.Values{"handle": {typed}}, 303},
		"/profile/claims":  {"/settings/profile", url.Values{"address": {typed}}, 400},
		"/settings/email":  {"/settings", url.Values{"address": {typed + "@x.example"}, "digest": {"weekly"}}, 303},
		"/report":          {"/report?subject=" + url.QueryEscape(subject), url.Values{"subject": {subject}, "reason": {typed}}, 200},
	} {
		cookie := b.signIn(b.mara)
		b.cookie = cookie
		want(t, b.post("/sign-out", url.Values{}, b.bySession()), http.StatusSeeOther, "")
		form := maps.Clone(c.form)
		form.Set("csrf", "x")
		w := b.post(path, form, with("Cookie", cookie), own, html)
		want(t, w, http.StatusSeeOther, "", "Location: /sign-in?return_to="+url.QueryEscape(c.page))
		draft := draftCookie(w)
		plain, err := b.deps.Sessions.Unseal(strings.TrimPrefix(draft, "sc_draft="))
		if err != nil || !strings.Contains(string(plain), typed) || strings.Contains(string(plain), "csrf") || strings.Contains(string(plain), "picture") {
			t.Errorf("%s: the draft is %s %v", path, plain, err)
		}
		other := with("Cookie", b.signIn(b.ledger.AddOperator("o"+strings.ToLower(rand.Text()[:8])))+"; "+draft)
		want(t, b.send("GET", c.page, "", other, html), 200, "", "!"+typed, "!"+notice)
		mine := with("Cookie", b.signIn(b.mara)+"; "+draft)
		want(t, b.send("GET", c.page, "", mine, html), 200, "", typed, notice)
		delete(c.form, "picture")
		again := b.post(path, c.form, mine, own, html)
		equal(t, again.Code, c.sent, path)
		equal(t, dropsDraft(again), c.sent != 400, path)
	}
	b.post("/sign-out", url.Values{}, b.bySession())
	for name, form := range map[string]url.Values{
		"without the token of a page": {"bio": {typed}, "csrf": {""}},
		"larger than a cookie":        {"bio": {strings.Repeat("x", 4000)}, "csrf": {"x"}},
	} {
		w := b.post("/profile", form, b.bySession())
		want(t, w, 401, "", "Please sign in")
		equal(t, draftCookie(w), "", name)
	}
}
