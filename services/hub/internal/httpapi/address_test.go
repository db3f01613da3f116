package httpapi_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	operatorv1 "github.com/signalcast/signalcast/proto/operator/v1"

	"github.com/signalcast/signalcast/pkg/ratelimit"
	"github.com/signalcast/signalcast/services/api/apitest"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// perMinute is the rate limit of an IP address in these tests.
const perMinute = 60

// limitPerMinute sets the rate limit of each IP address to n requests per minute.
func limitPerMinute(n int) option {
	return func(_ *httpapi.Config, d *httpapi.Deps) {
		d.Addresses = ratelimit.NewShared(nil, ratelimit.Config{Name: "hub", Limit: n, Window: time.Minute, Now: d.Now})
	}
}

// noOperator is an id that no operator has.
const noOperator = "0199f0a0-0000-7000-8000-00000000ffff"

// unknownKey returns a bearer key that does not exist. Different values of i give different keys.
func unknownKey(i int) header { return bearer(fmt.Sprintf("dk_%043d", i)) }

// freshKey returns a valid key that the hub has not verified yet.
func (b *fixture) freshKey() header { return bearer(b.ledger.AddKey(b.mara.GetId())) }

// sessionOf starts a session of an operator with the given session version. It returns the headers that a page of the hub sends.
func (b *fixture) sessionOf(id operator.ID, version int64) header {
	cookies := b.signIn(&operatorv1.Operator{Id: string(id), SessionVersion: version})
	return func(r *http.Request) {
		r.Header.Set("Cookie", cookies)
		r.Header.Set("Origin", hubURL)
	}
}

// basic sets the HTTP Basic authentication of an app.
func basic(id, secret string) header {
	return with("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(id+":"+secret)))
}

// requireLimited checks that a read is rejected because the IP address has reached its limit of n requests a minute.
func (b *fixture) requireLimited(n int, target string, headers ...header) {
	b.t.Helper()
	w := b.send("GET", target, "", headers...)
	want(b.t, w, 429, "rate_limited")
	if field(w, "limit") != fmt.Sprint(n) || field(w, "retryAfterMs") != "60000" || w.Header().Get("Retry-After") != "60" ||
		w.Header().Get("RateLimit") != `"hub";r=0;t=60` || w.Header().Get("RateLimit-Policy") != fmt.Sprintf(`"hub";q=%d;w=60`, n) {
		b.t.Errorf("%s: %v %s", target, w.Header(), w.Body)
	}
}

// TestKeysBehindOneAddress checks that fourteen keys behind one IP address are served although together they exceed the limit of
// the address.
func TestKeysBehindOneAddress(t *testing.T) {
	t.Parallel()
	b := setup(t, limitPerMinute(perMinute))
	var wg sync.WaitGroup
	for range 14 {
		key := b.freshKey()
		wg.Go(func() {
			for i := range 10 {
				if w := b.send("GET", "/api/network/field-record/me", "", key); w.Code != 200 {
					t.Errorf("request %d: %d %s", i+1, w.Code, w.Body)
					return
				}
			}
		})
	}
	wg.Wait()
}

// TestValidCredentialsCostTheAddressNothing checks that the IP address is not charged for a request with a valid credential.
func TestValidCredentialsCostTheAddressNothing(t *testing.T) {
	t.Parallel()
	b := withPages(t, limitPerMinute(1))
	for name, c := range map[string]struct {
		method, target, body string
		who                  func() header
	}{
		"keys that are new here":       {"GET", "/api/network/field-record/me", "", b.freshKey},
		"a key that is known":          {"GET", "/api/network/field-record/me", "", b.byKey},
		"a session":                    {"GET", "/api/m/" + marketID + "/crowd", "", b.bySession},
		"a session at pages":           {"GET", "/feed", "", b.bySession},
		"a login":                      {"GET", "/api/dev/whoami", "", func() header { return byLogin("mara_k") }},
		"a login in a cookie":          {"GET", "/dev", "", func() header { return with("Cookie", "db_dev=jwt.mara_k.sig") }},
		"the admin secret":             {"GET", "/api/admin/pins", "", byAdmin},
		"the cron secret":              {"GET", "/api/admin/resolve-signals?secret=" + cronSecret, "", func() header { return with("X-Nothing", "") }},
		"the agent endpoint and a key": {"POST", agentPath, toolCall("my_record", `{}`), b.freshKey},
	} {
		for i := range 5 {
			if w := b.send(c.method, c.target, c.body, c.who()); w.Code >= 400 {
				t.Errorf("%s, request %d: %d %.200s", name, i+1, w.Code, w.Body)
			}
		}
	}
	want(t, b.send("GET", "/api/network/field-record/me", "", unknownKey(1)), 401, "unauthenticated")
	b.requireLimited(1, "/api/network/field-record/me", unknownKey(2))
	want(t, b.send("GET", "/api/m/"+marketID, ""), 200, "")
	b.requireLimited(1, "/api/m/"+marketID)
}

// TestAppsCostTheAddressNothing checks that the IP address is not charged for requests of an authenticated app or with its
// tokens.
func TestAppsCostTheAddressNothing(t *testing.T) {
	t.Parallel()
	b := withPages(t, limitPerMinute(100))
	a, public := b.register("confidential"), b.register("public")
	access, _, _ := b.connect(a)
	b.clock.Advance(time.Minute)
	for i := range 100 {
		want(t, b.post(tokenPath, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {"x"}}, basic(fmt.Sprint("app_", i), "x")), 401, "invalid_client")
	}
	b.requireLimited(100, mePath, bearer(access)) // a token requires a query, so the address is charged first
	b.clock.Advance(time.Minute)
	for range 99 {
		want(t, b.send("GET", mePath, "", unknownKey(0)), 401, "unauthenticated")
	}
	for range 10 {
		want(t, b.send("GET", mePath, "", bearer(access)), 200, "")
		want(t, b.post(lookPath, url.Values{"token": {access}}, basic(a.ID, a.Secret)), 200, "")
	}
	want(t, b.post(revokePath, url.Values{"token": {"x"}}, basic(public.ID, "")), 200, "") // not authenticated without a secret
	want(t, b.post(lookPath, url.Values{"token": {access}}, basic(a.ID, a.Secret)), 429, "rate_limited")
}

// TestSessionBeyondItsLimit checks that a session over its rate limit still gets pages until both rate limits of the IP address
// are reached.
func TestSessionBeyondItsLimit(t *testing.T) {
	t.Parallel()
	b := withPages(t, limitPerMinute(5))
	for range caller.SessionLimit + 2*5 {
		want(t, b.send("GET", "/feed", "", b.bySession()), 200, "")
	}
	b.requireLimited(5, "/feed", b.bySession())
	want(t, b.send("GET", "/api/m/"+marketID+"/crowd", "", b.bySession()), 429, "rate_limited")
}

// TestFloodWithoutCredentials checks that a flood of requests without credentials does not affect authenticated requests from the
// same IP address, or requests from other addresses.
func TestFloodWithoutCredentials(t *testing.T) {
	t.Parallel()
	b := withPages(t, limitPerMinute(perMinute))
	for i := range perMinute {
		target := []string{"/api/wire", "/api/m/" + marketID, "/nothing", "/feed"}[i%4]
		if w := b.send([]string{"GET", "OPTIONS"}[i/4%2], target, ""); w.Code == 429 {
			t.Fatalf("request %d: %s", i+1, w.Body)
		}
	}
	for _, target := range []string{"/api/wire", "/api/m/" + marketID, "/nothing", "/feed", "/api/network/field-record/me"} {
		b.requireLimited(perMinute, target)
	}
	want(t, b.send("GET", "/api/network/field-record/me", "", b.freshKey()), 200, "")
	want(t, b.send("GET", "/api/m/"+marketID+"/crowd", "", b.bySession()), 200, "")
	want(t, b.send("GET", "/feed", "", b.bySession()), 200, "")
	want(t, b.send("GET", "/api/wire", "", b.bySession()), 200, "")
	want(t, b.send("GET", "/api/admin/pins", "", byAdmin()), 200, "")
	want(t, b.send("GET", "/api/wire", "", byAdmin()), 200, "")
	want(t, b.send("GET", "/api/admin/resolve-signals?secret="+cronSecret, ""), 200, "")
	want(t, b.send("GET", "/api/dev/whoami", "", byLogin("mara_k")), 200, "")
	elsewhere := func(r *http.Request) { r.RemoteAddr = "192.0.2.77:1" }
	want(t, b.send("GET", "/api/wire", "", elsewhere), 200, "")
	b.clock.Advance(time.Minute)
	want(t, b.send("GET", "/api/wire", ""), 200, "")
}

// TestFloodOfInvalidKeys checks that the number of lookups of unknown keys per minute is bounded by the limit of the IP address.
// Requests with verified credentials and without credentials are still served.
func TestFloodOfInvalidKeys(t *testing.T) {
	t.Parallel()
	b := withPages(t, limitPerMinute(perMinute))
	known, fresh := bearer(b.knownKey()), b.freshKey()
	asked := b.ledger.Count("VerifyKey")
	var taken atomic.Int64
	var wg sync.WaitGroup
	for worker := range 40 {
		wg.Go(func() {
			for i := range 5 {
				switch w := b.send("GET", "/api/network/field-record/me", "", unknownKey(5*worker+i)); w.Code {
				case 401:
					taken.Add(1)
				case 429:
				default:
					t.Errorf("%d %s", w.Code, w.Body)
				}
			}
		})
	}
	wg.Wait()
	if n := b.ledger.Count("VerifyKey") - asked; taken.Load() != perMinute || n != perMinute {
		t.Errorf("%d guesses were answered and %d looked up, want %d", taken.Load(), n, perMinute)
	}
	asked = b.ledger.Count("VerifyKey")
	for _, who := range []header{unknownKey(1), unknownKey(9999), fresh, byAdmin(), byLogin("mara_k"), with("Cookie", "db_uid=a.1.0; db_sig=bbbb")} {
		b.requireLimited(perMinute, "/api/wire", who)
		b.requireLimited(perMinute, "/api/network/field-record/me", who)
	}
	equal(t, b.ledger.Count("VerifyKey")-asked, 0)
	for range 50 {
		want(t, b.send("GET", "/api/network/field-record/me", "", known), 200, "")
		want(t, b.send("GET", "/api/m/"+marketID+"/crowd", "", b.bySession()), 200, "")
		want(t, b.send("GET", "/feed", "", b.bySession()), 200, "")
	}
	want(t, b.send("HEAD", "/api/network/field-record/me", "", known), 200, "")
	want(t, b.send("GET", "/api/wire", "", known), 200, "") // charged to the limit of the key
	for range perMinute {
		want(t, b.send("GET", "/api/wire", ""), 200, "")
	}
	b.requireLimited(perMinute, "/api/wire")
	b.clock.Advance(time.Minute)
	want(t, b.send("GET", "/api/network/field-record/me", "", fresh), 200, "")
}

// TestRejectedCredentialsCountAgainstTheAddress checks that the IP address is charged for a credential that was valid and was
// then revoked, wherever the hub detects this.
func TestRejectedCredentialsCountAgainstTheAddress(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		code int
		try  func(b *fixture, key header) int
	}{
		"in the act":     {401, func(b *fixture, key header) int { return b.send("POST", "/api/predictions", `{}`, key).Code }},
		"before the act": {401, func(b *fixture, key header) int { return b.send("GET", "/api/network/field-record/me", "", key).Code }},
		"by an agent":    {401, func(b *fixture, key header) int { return b.sendMCP(agentPath, toolCall("my_record", `{}`), key).Code }},
		"an ended session": {401, func(b *fixture, _ header) int {
			return b.send("POST", "/api/predictions", `{}`, b.sessionOf(noOperator, 0)).Code
		}},
		"one on a read": {200, func(b *fixture, _ header) int {
			return b.send("GET", "/api/m/"+marketID+"/crowd", "", b.sessionOf(noOperator, 0)).Code
		}},
		"from another origin": {403, func(b *fixture, _ header) int {
			return b.send("POST", "/api/predictions", `{}`, b.bySession(), with("Origin", "https://evil.example")).Code
		}},
	} {
		b := setup(t, limitPerMinute(3))
		key := b.knownKey()
		b.revoke(key)
		for i, code := range []int{c.code, c.code, c.code, 429} {
			equal(t, c.try(b, bearer(key)), code, name, i+1)
		}
		b.requireLimited(3, "/api/network/field-record/me", unknownKey(1))
		want(t, b.send("GET", "/api/wire", ""), 200, "")
	}
}

// TestAddressLimitWithoutLedger checks that while the ledger is unavailable, the IP address is charged for unknown keys but not
// for verified credentials. Otherwise guesses would be unlimited.
func TestAddressLimitWithoutLedger(t *testing.T) {
	t.Parallel()
	b := setup(t, limitPerMinute(3))
	known := bearer(b.knownKey())
	b.ledger.Fail(apitest.ErrDB)
	for range 10 {
		want(t, b.send("GET", "/api/network/field-record/me", "", known), 503, "db_unavailable")
		want(t, b.send("POST", "/api/predictions", `{}`, b.bySession()), 503, "db_unavailable")
	}
	for range 3 {
		want(t, b.send("GET", "/api/network/field-record/me", "", unknownKey(1)), 503, "db_unavailable")
	}
	b.requireLimited(3, "/api/network/field-record/me", unknownKey(1))
}

// TestNoLimitOfAddresses checks that a limit of 0 means no limit.
func TestNoLimitOfAddresses(t *testing.T) {
	t.Parallel()
	b := setup(t, limitPerMinute(0))
	for i := range 610 { // more than the default limit
		want(t, b.send("GET", "/api/network/field-record/me", "", unknownKey(i)), 401, "unauthenticated")
		want(t, b.send("GET", "/api/m/"+marketID, ""), 200, "")
	}
}

// bypassAttempt is a series of requests that tries to avoid the rate limit of the IP address.
type bypassAttempt struct {
	method, target, body string
	headers              func(i int) []header
	most                 int // maximum number of accepted requests in a minute; 0: perMinute
}

// one returns the same header for each request number.
func one(h header) func(int) []header { return func(int) []header { return []header{h} } }

// raw sets all values of a header.
func raw(name string, values ...string) header {
	return func(r *http.Request) { r.Header[name] = values }
}

// bypassAttempts returns requests without a valid credential, and requests with a valid credential to routes that do not check
// it. A valid session on a page or public read may use both rate limits of the IP address.
func (b *fixture) bypassAttempts() map[string]bypassAttempt {
	const me, public, crowd, file = "/api/network/field-record/me", "/api/m/" + marketID, "/api/m/" + marketID + "/crowd", "/api/predictions"
	known, session := bearer(b.knownKey()), b.bySession()
	uid, _, _ := strings.Cut(b.cookie, ";")
	foreign := with("Origin", "https://evil.example")
	return map[string]bypassAttempt{
		"nothing":                            {target: public, headers: one(with("X-Nothing", ""))},
		"an Authorization without a word":    {target: me, headers: one(raw("Authorization", ""))},
		"one on a public read":               {target: public, headers: one(raw("Authorization", ""))},
		"two of them":                        {target: me, headers: one(raw("Authorization", "", "Bearer "+b.key))},
		"a good key twice":                   {target: me, headers: one(raw("Authorization", "Bearer "+b.key, "Bearer "+b.key))},
		"another scheme":                     {target: me, headers: one(basic("mara_k", b.key))},
		"another one in front of a good key": {target: me, headers: one(raw("Authorization", "Digest x", "Bearer "+b.key))},
		"the scheme alone":                   {target: me, headers: one(with("Authorization", "Bearer"))},
		"a small scheme":                     {target: me, headers: func(i int) []header { return []header{with("Authorization", fmt.Sprintf("bEaReR dk_%043d", i))} }},
		"the same wrong key":                 {target: me, headers: one(unknownKey(1))},
		"a new wrong key each time":          {target: me, headers: func(i int) []header { return []header{unknownKey(i)} }},
		"one in the act":                     {method: "POST", target: file, body: `{}`, headers: func(i int) []header { return []header{unknownKey(i)} }},
		"an old key":                         {target: me, headers: func(i int) []header { return []header{bearer(fmt.Sprintf("db_live_%043d", i))} }},
		"a wrong login":                      {target: "/api/dev/whoami", headers: one(with("Authorization", "Bearer jwt.mara_k.gis"))},
		"a wrong token":                      {target: mePath, headers: func(i int) []header { return []header{bearer(fmt.Sprintf("dat_%043d", i))} }},
		"one on a path that is none":         {target: "/nothing", headers: one(known)},
		"one with a method that is none":     {method: "PATCH", target: file, headers: one(known)},
		"one with an invented method":        {method: "BREW", target: file, headers: one(known)},
		"one in a preflight":                 {method: "OPTIONS", target: file, headers: one(known)},
		"one on a retired path":              {target: "/api/channels/7", headers: one(known)},
		"one for an agent of another origin": {method: "POST", target: agentPath, body: toolCall("my_record", `{}`), headers: func(int) []header { return []header{known, foreign} }},
		"a head":                             {method: "HEAD", target: public, headers: one(unknownKey(1))},
		"cookies of others":                  {target: public, headers: func(i int) []header { return []header{with("Cookie", fmt.Sprintf("a=%d; uid=x", i))} }},
		"cookies that are none":              {target: public, headers: one(with("Cookie", ";;db_uid; =;"))},
		"half a session":                     {target: crowd, headers: one(with("Cookie", uid))},
		"a session without a word":           {target: crowd, headers: one(with("Cookie", "db_uid=; db_sig="))},
		"a wrong session":                    {target: crowd, headers: one(with("Cookie", uid+"; db_sig=AAAA"))},
		"one at a page without a session":    {target: "/feed", headers: one(with("Cookie", uid+"; db_sig=AAAA"))},
		"one in front of the right one":      {target: crowd, headers: one(raw("Cookie", "db_uid=x; db_sig=y", b.cookie))},
		"small names":                        {target: crowd, headers: one(with("Cookie", strings.ToUpper(uid)+"; DB_SIG=x"))},
		"a session from another origin":      {method: "POST", target: file, body: `{}`, headers: func(int) []header { return []header{with("Cookie", b.cookie), foreign} }},
		"one on a parameter that is broken":  {target: "/api/m/%00/crowd", headers: one(session)},
		"one after a wrong key":              {target: crowd, headers: func(i int) []header { return []header{session, unknownKey(i)} }},
		"a login in a cookie that is wrong":  {target: "/dev", headers: one(with("Cookie", "db_dev=jwt.mara_k.gis"))},
		"a session on a public read":         {target: public, headers: one(session), most: 2 * perMinute},
		"a session where nothing is":         {target: "/nothing", headers: one(session), most: 2 * perMinute},
		"a session in a preflight":           {method: "OPTIONS", target: crowd, headers: one(session), most: 2 * perMinute},
		"an admin secret without a word":     {target: public, headers: one(raw("X-Admin-Secret", ""))},
		"one on a ready page":                {target: "/api/wire", headers: one(with("X-Admin-Secret", "x"))},
		"a right one where none is taken":    {target: public, headers: one(byAdmin())},
		"a right one with a session":         {target: public, headers: func(int) []header { return []header{byAdmin(), session} }},
		"a cron secret on a read":            {target: public + "?secret=" + cronSecret, headers: one(with("X-Nothing", ""))},
		"an app that is none":                {method: "POST", target: tokenPath, body: `{}`, headers: func(i int) []header { return []header{basic(fmt.Sprint("app_", i), "x")} }},
		"a good key at a route of apps":      {method: "POST", target: revokePath, body: `{}`, headers: one(known)},
		"an address in a header": {target: public, headers: func(i int) []header {
			return []header{with("X-Forwarded-For", fmt.Sprint("192.0.2.", i%250)), unknownKey(i)}
		}},
		"a new port each time": {target: public, headers: func(i int) []header {
			return []header{func(r *http.Request) { r.RemoteAddr = fmt.Sprint("192.0.2.1:", i+1) }}
		}},
	}
}

// try sends request number i of an attempt and reports whether it was accepted.
func (b *fixture) try(c bypassAttempt, i int) (taken bool) {
	if c.method == "" {
		c.method = http.MethodGet
	}
	return b.send(c.method, c.target, c.body, c.headers(i)...).Code != http.StatusTooManyRequests
}

// TestAddressLimitCannotBeBypassed checks that each attempt gets at most as many requests as the limit of the IP address, and
// that each request is charged once.
func TestAddressLimitCannotBeBypassed(t *testing.T) {
	t.Parallel()
	b := withPages(t, limitPerMinute(perMinute))
	for name, c := range b.bypassAttempts() {
		b.clock.Advance(time.Minute)
		if c.most == 0 {
			c.most = perMinute
		}
		taken := 0
		for i := range c.most + 6 {
			if b.try(c, i) {
				taken++
			}
		}
		equal(t, taken, c.most, name)
	}
}

// TestBypassAttemptsShareTheLimits checks that all attempts together get at most the two limits of the IP address.
func TestBypassAttemptsShareTheLimits(t *testing.T) {
	t.Parallel()
	b := withPages(t, limitPerMinute(perMinute))
	tricks := b.bypassAttempts()
	taken := 0
	for i := range 10 {
		for _, c := range tricks {
			if b.try(c, i) {
				taken++
			}
		}
	}
	equal(t, taken, 2*perMinute)
}
