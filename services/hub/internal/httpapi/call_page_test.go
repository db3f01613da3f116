package httpapi_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	resolutionv1 "github.com/signalcast/signalcast/proto/resolution/v1"
	"github.com/signalcast/signalcast/services/api/apitest"
)

const (
	callPage = "/m/" + marketID
	callPost = callPage + "/call"
)

var formKeyField = regexp.MustCompile(` name="idempotencyKey" value="([^"]+)"`)

// formKey returns the key of the form that a page has.
func formKey(t *testing.T, w *answer) string {
	t.Helper()
	found := formKeyField.FindStringSubmatch(w.Body.String())
	if found == nil {
		t.Fatalf("the page has no form that files a call: %s", w.Body)
	}
	return found[1]
}

// callValues returns the values of the form that files a call. changes are pairs of name and value.
func callValues(key string, changes ...string) url.Values {
	v := url.Values{
		"direction": {"YES"}, "price": {"3200,6900"}, "confidence": {"61"}, "take": {"The dam opened\r\nat noon."},
		"idempotencyKey": {key},
	}
	for i := 0; i < len(changes); i += 2 {
		v.Set(changes[i], changes[i+1])
	}
	return v
}

// TestCallForm files a call with the form of the market page. The same form again leads to the same receipt. Another form shows the
// stored call.
func TestCallForm(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	page := b.send("GET", callPage, "", b.bySession())
	want(t, page, 200, "", ` name="price" value="3200,6900"`, "32¢", "69¢", "Make this call", "Public and final: one call per market.",
		"If YES: at most &#43;68 points. If NO: −32 points or lower.", "If NO: at most &#43;31 points. If YES: −69 points or lower.",
		"Referrer-Policy: same-origin", "<summary>For developers</summary>", "!unrated", ` action="/m/701122/call"`)
	key := formKey(t, page)
	if other := formKey(t, b.send("GET", callPage, "", b.bySession())); other == key {
		t.Error("two forms have the same key")
	}
	filed := b.post(callPost, callValues(key, "unknown", "ignored"), b.bySession())
	want(t, filed, http.StatusSeeOther, "")
	receipt := filed.Header().Get("Location")
	if receipt != "/receipts/"+b.nth(0, "id") {
		t.Errorf("Location: %s", receipt)
	}
	call := b.call(0)
	got := fmt.Sprintln(call.GetDirection(), call.GetPriceBps(), call.GetConfidence(), call.GetTextTake(), call.GetSource(), call.GetPriceVerified())
	equal(t, got, "YES 3200 61 The dam opened\nat noon. web true\n")
	equal(t, b.draft().GetMaxSlippageBps(), 200)
	want(t, b.post(callPost, callValues(key), b.bySession()), http.StatusSeeOther, "", "Location: "+receipt)
	want(t, b.post(callPost, callValues("another"), b.bySession()), 409, "", "You already have a call on this market.", receipt, "Your call",
		` role="alert"`, "!Make this call")
	want(t, b.post(callPost, callValues(key, "direction", "NO"), b.bySession()), 409, "", receipt)
	equal(t, b.calls(), 1)
}

// TestCallFormOfNO checks that the form states the price of the chosen side, as one price or as that of both sides.
func TestCallFormOfNO(t *testing.T) {
	t.Parallel()
	for _, price := range []string{"3200,6900", "6900"} {
		b := withPages(t)
		form := callValues("k", "direction", "NO", "price", price, "confidence", "", "take", " ")
		want(t, b.post(callPost, form, b.bySession()), http.StatusSeeOther, "")
		call := b.call(0)
		if call.GetDirection() != "NO" || call.GetPriceBps() != 6900 || call.Confidence != nil || call.TextTake != nil {
			t.Errorf("price %q: %v", price, call)
		}
	}
}

// TestCallFormErrors checks that a rejected form is shown again with its values and with the reason.
func TestCallFormErrors(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	for name, c := range map[string]struct {
		changes []string
		status  int
		texts   []string
	}{
		"no side":          {[]string{"direction", ""}, 400, []string{`<a href="#call-sides">Choose a side.`}},
		"odd side":         {[]string{"direction", "MAYBE"}, 400, []string{"Choose a side."}},
		"no price":         {[]string{"price", ""}, 400, []string{"The price is missing."}},
		"odd price":        {[]string{"price", "x,6900"}, 400, []string{"The price is missing."}},
		"confidence":       {[]string{"confidence", "101"}, 400, []string{`<a href="#call-confidence">Enter a whole number`, ` value="101"`}},
		"odd confidence":   {[]string{"confidence", "sure"}, 400, []string{"Enter a whole number", ` value="sure"`}},
		"long take":        {[]string{"take", strings.Repeat("x", 501)}, 400, []string{`<a href="#call-take">Enter at most 500`, strings.Repeat("x", 501)}},
		"control in take":  {[]string{"take", "a\x01b"}, 400, []string{"without control characters"}},
		"no key":           {[]string{"idempotencyKey", ""}, 400, []string{"The form is invalid."}},
		"long key":         {[]string{"idempotencyKey", strings.Repeat("k", 65)}, 400, []string{"The form is invalid."}},
		"no token":         {[]string{"csrf", ""}, 403, []string{"This page was open too long. Check and send again."}},
		"a foreign token":  {[]string{"csrf", b.deps.Sessions.FormToken("other")}, 403, []string{"This page was open too long."}},
		"a broken token":   {[]string{"csrf", "é"}, 403, []string{"This page was open too long."}},
		"evil token value": {[]string{"csrf", `"><script>`}, 403, []string{"This page was open too long.", "!<script>"}},
	} {
		w := b.post(callPost, callValues("k", c.changes...), b.bySession()).as(name)
		want(t, w, c.status, "", append(c.texts, ` role="alert"`, "Make this call", "Cache-Control: no-store")...)
		if c.changes[0] != "take" {
			has(t, w, "The dam opened")
		}
		if c.changes[0] != "direction" {
			has(t, w, ` value="YES" required checked`)
		}
	}
	b.ledger.Fail(apitest.ErrDB, "GetMarket")
	w := b.post(callPost, callValues("k", "direction", ""), b.bySession())
	want(t, w, 400, "", "Your entries are stored for 15 minutes", "Choose a side.", "!Make this call")
	b.ledger.Fail(nil)
	draft := w.Result().Cookies()[0]
	want(t, b.send("GET", "/m/"+marketID, "", with("Cookie", b.cookie+"; "+draft.Name+"="+draft.Value)), 200, "", "The dam opened", "Make this call")
	twice := callValues("k")
	twice.Add("direction", "NO")
	want(t, b.post(callPost, twice, b.bySession()), 400, "")
	want(t, b.post(callPost, callValues("k", "more", strings.Repeat("x", 17<<10)), b.bySession()), 400, "")
	want(t, b.post("/m/999/call", callValues("k"), b.bySession()), 404, "")
	want(t, b.post("/m/nope/call", callValues("k"), b.bySession()), 404, "")
	equal(t, b.calls(), 0)
}

// TestFormsOfOtherOrigins (docs/security.md S72) checks the rule for the origin of a form: Sec-Fetch-Site, or else the header Origin.
func TestFormsOfOtherOrigins(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	cookie := with("Cookie", b.cookie)
	for name, c := range map[string]struct {
		headers []header
		status  int
	}{
		"no header":           {nil, 403},
		"another origin":      {[]header{with("Origin", "https://evil.example")}, 403},
		"opaque origin":       {[]header{with("Origin", "null")}, 403},
		"another site":        {[]header{with("Origin", hubURL), with("Sec-Fetch-Site", "cross-site")}, 403},
		"a sibling site":      {[]header{with("Sec-Fetch-Site", "same-site")}, 403},
		"the address bar":     {[]header{with("Sec-Fetch-Site", "none")}, 403},
		"two values":          {[]header{with("Sec-Fetch-Site", "same-origin"), with("Sec-Fetch-Site", "cross-site")}, 403},
		"an inconsistent one": {[]header{with("Origin", "https://evil.example"), with("Sec-Fetch-Site", "same-origin")}, 403},
		"same origin":         {[]header{with("Sec-Fetch-Site", "same-origin")}, http.StatusSeeOther},
		"the hub":             {[]header{with("Origin", hubURL)}, http.StatusSeeOther},
	} {
		w := b.post("/u/mara_k/unfollow", url.Values{}, append(c.headers, cookie)...).as(name)
		if c.status == http.StatusSeeOther {
			want(t, w, 400, "", "You cannot follow yourself.")
			continue
		}
		want(t, w, c.status, "", "not sent from this site")
		want(t, b.post(callPost, callValues("k"), append(c.headers, cookie)...).as(name), 403, "", "not sent from this site")
	}
	equal(t, b.calls(), 0)
}

// TestFormsWithoutToken (docs/security.md S72) checks that every form of an account and of a developer requires the token of the session, and that it is shown
// again with its values.
func TestFormsWithoutToken(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	b.ledger.AddOperator("tide")
	developer := func(r *http.Request) {
		r.Header.Set("Cookie", "db_dev=jwt.mara_k.sig")
		r.Header.Set("Origin", hubURL)
	}
	for path, c := range map[string]struct {
		who   header
		form  url.Values
		texts []string
	}{
		"/profile":             {b.bySession(), url.Values{"displayName": {"Mara"}, "bio": {"typed text"}}, []string{"typed text"}},
		"/profile/claims":      {b.bySession(), url.Values{"address": {"typed text"}}, []string{"typed text"}},
		"/profile/claims/drop": {b.bySession(), url.Values{"station": {"partner"}}, nil},
		"/u/tide/follow":       {b.bySession(), url.Values{}, nil},
		"/u/tide/unfollow":     {b.bySession(), url.Values{}, nil},
		"/apps/revoke":         {b.bySession(), url.Values{"grant": {"x"}}, nil},
		"/sign-out":            {b.bySession(), url.Values{}, nil},
		"/dev/keys":            {developer, url.Values{"label": {"typed text"}, "permission": {"read", "signal"}}, []string{"typed text"}},
		"/dev/keys/revoke":     {developer, url.Values{"id": {"x"}}, nil},
		"/dev/apps":            {developer, url.Values{"name": {"typed text"}, "scope": {"profile:read"}}, []string{"typed text"}},
		"/dev/apps/change":     {developer, url.Values{"app": {"x"}, "name": {"typed text"}}, nil},
		"/dev/apps/secret":     {developer, url.Values{"app": {"x"}}, nil},
		"/dev/apps/disable":    {developer, url.Values{"app": {"x"}, "sure": {"yes"}}, nil},
		"/dev/signers/revoke":  {developer, url.Values{"key": {"x"}}, nil},
	} {
		for _, token := range []string{"", b.deps.Sessions.FormToken("other")} {
			c.form.Set("csrf", token)
			w := b.post(path, c.form, c.who)
			want(t, w, 403, "", append(c.texts, "This page was open too long. Check and send again.", "Referrer-Policy: same-origin")...)
		}
	}
	equal(t, b.count("hub.follows"), 0)
	for owner, page := range map[string]*answer{
		b.uid(): b.send("GET", "/settings/profile", "", b.bySession()), "jwt.mara_k.sig": b.send("GET", "/dev", "", developer),
	} {
		_, token, _ := strings.Cut(page.Body.String(), ` name="csrf" value="`)
		if token, _, _ = strings.Cut(token, `"`); page.Code != 200 || !b.deps.Sessions.IsFormToken(owner, token) {
			t.Errorf("%s: %d, a form has the token %q", owner, page.Code, token)
		}
	}
}

// uid returns the cookie that names the session of mara_k.
func (b *fixture) uid() string {
	_, rest, _ := strings.Cut(b.cookie, "db_uid=")
	uid, _, _ := strings.Cut(rest, ";")
	return uid
}

// TestCallFormWithMovedPrice checks that a price which got worse by more than 2¢ is shown, and that the call is filed only after it is
// sent again.
func TestCallFormWithMovedPrice(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	w := b.post(callPost, callValues("k", "price", "2999,6900"), b.bySession())
	want(t, w, 409, "", "The price has moved.", "29.99¢</s>", "32¢", "Call at 32¢", ` value="3200,6900"`, "The dam opened", ` value="61"`)
	equal(t, b.calls(), 0)
	want(t, b.post(callPost, callValues(formKey(t, w)), b.bySession()), http.StatusSeeOther, "")
	equal(t, b.calls(), 1)
}

// TestCallFormWithoutQuote checks that a call on a market without a fresh quote is filed only if the visitor asks for it.
func TestCallFormWithoutQuote(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	b.ledger.Quote(marketID, 0, 0)
	w := b.post(callPost, callValues("k"), b.bySession())
	want(t, w, 409, "", "The venue does not answer, so this price cannot be checked. A call filed now counts in your record but not in your points.",
		"Try again", "File without points", "The dam opened")
	equal(t, b.calls(), 0)
	want(t, b.post(callPost, callValues(formKey(t, w), "withoutPoints", "yes"), b.bySession()), http.StatusSeeOther, "")
	equal(t, b.call(0).GetPriceVerified(), false)
}

// TestCallFormSignedOut sends the form of a call without a session. No call is filed, and after the sign-in the page of the market
// has the chosen side selected.
func TestCallFormSignedOut(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	page := b.send("GET", callPage, "")
	want(t, page, 200, "", "Sign in to call", "!idempotencyKey", "Cache-Control: public, s-maxage=10", "Referrer-Policy: same-origin")
	w := b.post(callPost, callValues(""), with("Origin", hubURL))
	want(t, w, http.StatusSeeOther, "", "Location: /sign-in?return_to=%2Fm%2F701122%3Fside%3DYES%23call")
	want(t, b.send("GET", callPage+"?side=NO", "", b.bySession()), 200, "", ` value="NO" required checked`, "! value=\"YES\" required checked")
	equal(t, b.calls(), 0)
}

// TestCallPanelStates checks that a market that takes no calls has a sentence with the reason and no form, and that the page of an
// unrated market says so before a call is filed.
func TestCallPanelStates(t *testing.T) {
	t.Parallel()
	ended := at("2026-09-18T11:00:00Z")
	decided := func(outcome string) *resolutionv1.Outcome {
		return &resolutionv1.Outcome{Outcome: &outcome, Resolver: new("oracle"), Source: new("polymarket"), ResolvedAt: ended}
	}
	for name, c := range map[string]struct {
		market  func(m *marketv1.Market)
		outcome *resolutionv1.Outcome
		text    string
		form    bool
	}{
		"unrated":  {func(m *marketv1.Market) { m.Rated = false }, nil, "This market is unrated: a call counts in your record but not in your points.", true},
		"no quote": {func(m *marketv1.Market) { m.YesPriceBps, m.NoPriceBps = nil, nil }, nil, "31.5¢", true},
		"no price": {func(m *marketv1.Market) { m.YesPriceBps, m.NoPriceBps, m.YesBps = nil, nil, nil }, nil, "Try again", false},
		"closed":   {func(m *marketv1.Market) { m.Status, m.EndDate = "closed", ended }, nil, "Closed since 18 Sep 2026, 11:00 UTC.", false},
		"no end":   {func(m *marketv1.Market) { m.Status, m.EndDate = "closed", nil }, nil, "Closed. The market takes no more calls", false},
		"ended":    {func(m *marketv1.Market) { m.EndDate = ended }, nil, "Closed since 18 Sep 2026, 11:00 UTC.", false},
		"proposed": {func(m *marketv1.Market) { m.Provisional = true }, nil, "An outcome is proposed.", false},
		"unknown":  {func(m *marketv1.Market) { m.Status = "unknown" }, nil, "Waiting for the venue.", false},
		"disputed": {nil, &resolutionv1.Outcome{Disputed: true}, "The outcome is disputed (the outcome is under review).", false},
		"resolved": {func(m *marketv1.Market) { m.Status = "resolved" }, decided("YES"), "Resolved YES on 18 Sep 2026, 11:00 UTC by Polymarket (oracle). The market takes no more calls.", false},
		"void":     {func(m *marketv1.Market) { m.Status = "resolved" }, decided("INVALID"), "Resolved void on 18 Sep 2026, 11:00 UTC by Polymarket (oracle).", false},
	} {
		b := withPages(t)
		b.ledger.Edit(func(response proto.Message) {
			switch r := response.(type) {
			case *marketv1.GetMarketResponse:
				if c.market != nil {
					c.market(r.GetMarket())
				}
			case *resolutionv1.GetOutcomeResponse:
				r.Outcome = c.outcome
			}
		})
		for _, who := range []header{b.bySession(), with("Accept", "text/html")} {
			w := b.send("GET", callPage, "", who).as(name)
			want(t, w, 200, "", c.text)
			if strings.Contains(w.Body.String(), callPost) != c.form {
				t.Errorf("%s: the page has a form: %t", name, !c.form)
			}
		}
	}
}

// TestCallPanelOfOwnCall checks that the page shows the visitor's own call, the current price of its side and the change since then.
func TestCallPanelOfOwnCall(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	b.file("NO", 6900, b.byKey())
	b.ledger.Edit(func(response proto.Message) {
		if r, ok := response.(*marketv1.GetMarketResponse); ok {
			r.Market.YesBps = new(int32(2800))
		}
	})
	want(t, b.send("GET", callPage, "", b.bySession()), 200, "", "Your call", "<b>69¢</b>", "Now <b>72¢</b>", "&#43;3¢</b> since your call", "/receipts/"+b.nth(0, "id"), "!Make your call")
	want(t, b.send("GET", callPage, ""), 200, "", "Make your call", "Sign in to call")
}

// TestCallFormOverTheLimit checks that a visitor who reached the limit reads when the next call is possible, and keeps the values.
func TestCallFormOverTheLimit(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	for range 300 {
		if b.send("GET", "/settings/profile", "", b.bySession()).Code == http.StatusTooManyRequests {
			break
		}
	}
	b.clock.Advance(20 * time.Second)
	w := b.post(callPost, callValues("k"), b.bySession())
	want(t, w, 429, "", "You can call again in 40 s.", "The dam opened", ` role="alert"`)
	equal(t, b.calls(), 0)
}

// TestCallFormWhileTheLedgerFails checks that a form whose call was perhaps stored keeps its key.
func TestCallFormWhileTheLedgerFails(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	b.ledger.Fail(errAPI, "File")
	w := b.post(callPost, callValues("k"), b.bySession())
	want(t, w, 503, "", "it is never filed twice", "The dam opened", ` name="idempotencyKey" value="k"`)
}
