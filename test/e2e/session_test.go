package e2e

import (
	"net/http"
	"strings"
	"testing"
)

// signIn opens a session and gives its cookies.
func (p *person) signIn(t testing.TB, opts ...option) (cookies option, a *answer) {
	t.Helper()
	a = post(t, p.s.Hub+"/api/auth/privy", append([]option{p.login()}, opts...)...).is(http.StatusOK)
	res := http.Response{Header: a.header}
	var pair []string
	for _, c := range res.Cookies() {
		if !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.MaxAge != 30*24*3600 || c.Secure {
			t.Errorf("cookie: %+v", c)
		}
		pair = append(pair, c.Name+"="+c.Value)
	}
	if len(pair) != 2 {
		t.Fatalf("%d cookies", len(pair))
	}
	return with("Cookie", strings.Join(pair, "; ")), a
}

// TestSession: a person in a browser files, reads what is his, and leaves.
func TestSession(t *testing.T) {
	t.Parallel()
	s := up(t)
	p := s.person(t)
	cookies, a := p.signIn(t)
	a.has(obj{"user.handle": p.user, "user.isNew": true, "user.operatorPublicId": s.masked("did:idp:" + p.user)})
	if _, again := p.signIn(t, payload(obj{"handle": "somebody_else"})); again.at("user.isNew") != false || again.str("user.handle") != p.user {
		t.Errorf("again: %s", again.body)
	}
	market := s.native(t, 5000)
	body := payload(obj{"marketId": market, "direction": "YES", "priceAtPrediction": 5000})
	url := s.Hub + "/api/predictions"
	for name, from := range map[string]option{
		"no origin":   func(*http.Request) {},
		"evil":        with("Origin", "https://evil.example"),
		"null":        with("Origin", "null"),
		"api host":    with("Origin", s.API),
		"scheme":      with("Origin", strings.Replace(s.Hub, "http:", "https:", 1)+".evil.example"),
		"cross site":  with("Sec-Fetch-Site", "cross-site"),
		"same site":   with("Sec-Fetch-Site", "same-site"),
		"two origins": func(r *http.Request) { r.Header["Origin"] = []string{s.Hub, "https://evil.example"} },
		"origin before": func(r *http.Request) {
			with("Origin", "https://evil.example")(r)
			with("Sec-Fetch-Site", "same-origin")(r)
		},
	} {
		if a := post(t, url, cookies, from, body); a.status != http.StatusForbidden {
			t.Errorf("from %s: %d %s", name, a.status, a.body)
		}
	}
	id := post(t, url, cookies, with("Origin", s.Hub), body).is(http.StatusOK).str("id")
	post(t, url, cookies, with("Sec-Fetch-Site", "same-origin"), body).is(http.StatusConflict).has(obj{"error": "already_predicted", "id": id})
	post(t, s.Hub+"/api/signals/"+id+"/events", cookies, with("Origin", s.Hub), payload(obj{"type": "note", "payload": obj{"text": "by session"}})).is(http.StatusCreated)

	mine := get(t, s.Hub+"/api/m/"+market+"/crowd", cookies).is(http.StatusOK).has(obj{"currentUserSignal.id": id, "currentUserSignal.direction": "YES", "currentUserSignal.status": "pending"})
	if mine.header.Get("Cache-Control") != "private, no-store" {
		t.Errorf("a private answer has %q", mine.header.Get("Cache-Control"))
	}
	get(t, s.Hub+"/api/m/"+market+"/crowd").is(http.StatusOK).has(obj{"currentUserSignal": nil})
	broken := func(r *http.Request) {
		cookies(r)
		r.Header.Set("Cookie", r.Header.Get("Cookie")+"x")
	}
	post(t, url, broken, with("Origin", s.Hub), body).fails(http.StatusUnauthorized, "unauthenticated")
	get(t, s.Hub+"/api/m/"+market+"/crowd", broken).is(http.StatusOK).has(obj{"currentUserSignal": nil})
	// A bad bearer never falls back to the cookie; a session mints no key.
	post(t, url, cookies, with("Origin", s.Hub), bearer("dk_bad"), body).fails(http.StatusUnauthorized, "unauthenticated")
	post(t, s.Hub+"/api/dev/keys", cookies, with("Origin", s.Hub), payload(obj{"label": "x"})).fails(http.StatusUnauthorized, "unauthenticated")

	out := send(t, http.MethodDelete, s.Hub+"/api/auth/privy", cookies, with("Origin", "https://evil.example"))
	out.fails(http.StatusForbidden, "forbidden")
	out = send(t, http.MethodDelete, s.Hub+"/api/auth/privy", cookies, with("Origin", s.Hub)).is(http.StatusOK)
	for _, c := range (&http.Response{Header: out.header}).Cookies() {
		if c.MaxAge >= 0 || c.Value != "" {
			t.Errorf("signing out leaves %s", c.Name)
		}
	}
}

// TestMaskedIDs: the masked id is made of the provider's id alone for the primary
// issuer, and of issuer and subject for any other; they are two operators.
func TestMaskedIDs(t *testing.T) {
	t.Parallel()
	s := up(t)
	p := s.person(t)
	token := post(t, s.IDP+"/mint", payload(obj{"user": p.user, "profile": "privy"})).is(http.StatusOK).str("token")
	other := &person{s: s, user: p.user, token: token}
	first := get(t, s.Hub+"/api/dev/whoami", p.login()).is(http.StatusOK)
	second := get(t, s.Hub+"/api/dev/whoami", other.login()).is(http.StatusOK)
	if got := first.str("operatorPublicId"); got != s.masked("did:idp:"+p.user) {
		t.Errorf("primary issuer: %s", got)
	}
	if got := second.str("operatorPublicId"); got != s.masked("privy.io|did:idp:"+p.user) {
		t.Errorf("second issuer: %s", got)
	}
	if first.str("denpaId") == second.str("denpaId") || first.str("handle") == second.str("handle") {
		t.Error("two issuers, one operator")
	}
	market := s.native(t, 5000)
	id := other.call(t, market, "YES", 5000)
	s.signal(t, id).has(obj{"privyId": second.str("operatorPublicId"), "callsign": second.str("handle")})
	get(t, s.Hub+"/api/m/"+market+"/signals").is(http.StatusOK).has(obj{"signals.0.privyId": "did:idp:" + p.user})
}

// TestTiers: an operator whom the service runs, or that is a machine, stands on
// another board; a machine's seeded calls are no crowd.
func TestTiers(t *testing.T) {
	t.Parallel()
	s := up(t)
	human, bot := s.person(t), s.person(t)
	market := s.native(t, 5000)
	human.call(t, market, "YES", 5000)
	bot.call(t, market, "NO", 5000)
	url := s.Hub + "/api/admin/operators"
	post(t, url, s.admin(), payload(obj{"handle": strings.ToUpper(bot.user), "operatorType": "system_bot"})).is(http.StatusOK).
		has(obj{"operator.handle": bot.user, "operator.tier": "automated", "operator.operatorType": "system_bot"})
	post(t, url, s.admin(), payload(obj{"handle": human.user, "house": true})).is(http.StatusOK).has(obj{"operator.tier": "house", "operator.operatorType": "human"})
	post(t, url, s.admin(), payload(obj{"handle": "nobody_" + runID})).fails(http.StatusNotFound, "not_found")
	get(t, s.Hub+"/api/dev/whoami", bot.login()).is(http.StatusOK).has(obj{"tier": "automated", "isAi": false})
	get(t, s.Hub+"/api/m/"+market+"/crowd").is(http.StatusOK).has(obj{"yesCount": 1, "noCount": 0, "totalSignals": 1, "yesPercent": 100})
	get(t, s.Hub+"/api/m/"+market+"/signals").is(http.StatusOK).has(obj{"count": 2})
	// Who has won stands among the first, however many have called in this run.
	won := s.native(t, 1000)
	human.call(t, won, "YES", 1000)
	bot.call(t, won, "YES", 1000)
	s.finalize(t, won, "YES")
	board := func(group string) []any {
		return get(t, s.API+"/api/v1/signals/leaderboard?limit=200&operators="+group).is(http.StatusOK).list("leaderboard")
	}
	for group, want := range map[string][2]bool{"house": {true, false}, "automated": {false, true}, "independent": {false, false}, "human": {true, false}, "all": {true, true}} {
		eventually(t, func() bool {
			rows := board(group)
			return holds(rows, "callsign", human.user) == want[0] && holds(rows, "callsign", bot.user) == want[1]
		}, group)
	}
}
