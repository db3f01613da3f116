package edge_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	operatorv1 "github.com/signalcast/signalcast/proto/operator/v1"

	"github.com/signalcast/signalcast/pkg/limit"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
	"github.com/signalcast/signalcast/services/hub/internal/edge"
	"github.com/signalcast/signalcast/services/hub/internal/memledger"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// perMinute is the limit of an address as it is set where nobody sets another.
const perMinute = 600

// limited gives each address n requests a minute.
func limited(n int) option {
	return func(_ *edge.Config, d *edge.Deps) { d.Addresses = limit.NewLocal("hub", n, time.Minute, d.Now) }
}

// stranger is the key of that number, which nobody has.
func stranger(i int) header { return bearer(fmt.Sprintf("dk_%043d", i)) }

// freshKey is a key that this front door has not seen.
func (b *bench) freshKey() header { return bearer(b.ledger.AddKey(b.mara.GetId())) }

// sessionOf is a session of that version as our own page would send it.
func (b *bench) sessionOf(id operator.ID, version int64) header {
	cookies := b.signIn(&operatorv1.Operator{Id: string(id), SessionVersion: version})
	return func(r *http.Request) {
		r.Header.Set("Cookie", cookies)
		r.Header.Set("Origin", hubURL)
	}
}

func basic(id, secret string) header {
	return with("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(id+":"+secret)))
}

// refused checks a 429 of the address.
func (b *bench) refused(n int, target string, headers ...header) {
	b.t.Helper()
	w := b.send("GET", target, "", headers...)
	want(b.t, w, 429, "rate_limited")
	if field(w, "limit") != fmt.Sprint(n) || field(w, "retryAfterMs") != "60000" || w.Header().Get("Retry-After") != "60" ||
		w.Header().Get("RateLimit") != `"hub";r=0;t=60` || w.Header().Get("RateLimit-Policy") != fmt.Sprintf(`"hub";q=%d;w=60`, n) {
		b.t.Errorf("%s: %v %s", target, w.Header(), w.Body)
	}
}

// TestKeysBehindOneAddress: fourteen operators behind one address, each within its own
// limit, are all served.
func TestKeysBehindOneAddress(t *testing.T) {
	t.Parallel()
	b := setup(t, limited(perMinute))
	var wg sync.WaitGroup
	for range 14 {
		key := b.freshKey()
		wg.Go(func() {
			for i := range 55 {
				if w := b.send("GET", "/api/network/field-record/me", "", key); w.Code != 200 {
					t.Errorf("request %d: %d %s", i+1, w.Code, w.Body)
					return
				}
			}
		})
	}
	wg.Wait()
}

// TestSomebodyCostsTheAddressNothing: what was taken before the look-up comes back.
func TestSomebodyCostsTheAddressNothing(t *testing.T) {
	t.Parallel()
	b := setup(t, limited(1))
	b.mountPages()
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
	want(t, b.send("GET", "/api/network/field-record/me", "", stranger(1)), 401, "unauthenticated")
	b.refused(1, "/api/network/field-record/me", stranger(2))
	want(t, b.send("GET", "/api/m/"+marketID, ""), 200, "")
	b.refused(1, "/api/m/"+marketID)
}

// TestAppsCostTheAddressNothing: an app that has proved itself, and the tokens it holds.
func TestAppsCostTheAddressNothing(t *testing.T) {
	t.Parallel()
	b, _ := withDatabase(t, limited(100))
	a, public := b.register("confidential"), b.register("public")
	access, _, _ := b.connect(a)
	b.clock.Advance(time.Minute)
	for i := range 100 {
		want(t, b.post(tokenPath, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {"x"}}, basic(fmt.Sprint("app_", i), "x")), 401, "invalid_client")
	}
	b.refused(100, mePath, bearer(access)) // a look-up, and nobody is known by a token before
	b.clock.Advance(time.Minute)
	for range 99 {
		want(t, b.send("GET", mePath, "", stranger(0)), 401, "unauthenticated")
	}
	for range 10 {
		want(t, b.send("GET", mePath, "", bearer(access)), 200, "")
		want(t, b.post(lookPath, url.Values{"token": {access}}, basic(a.ID, a.Secret)), 200, "")
	}
	want(t, b.post(revokePath, url.Values{"token": {"x"}}, basic(public.ID, "")), 200, "") // anybody can say a name
	want(t, b.post(lookPath, url.Values{"token": {access}}, basic(a.ID, a.Secret)), 429, "rate_limited")
}

// TestSessionBeyondItsLimit: pages are shown to a session that has used up its limit,
// on the budgets of the address.
func TestSessionBeyondItsLimit(t *testing.T) {
	t.Parallel()
	b := setup(t, limited(5))
	b.mountPages()
	for range caller.SessionLimit + 2*5 {
		want(t, b.send("GET", "/feed", "", b.bySession()), 200, "")
	}
	b.refused(5, "/feed", b.bySession())
	want(t, b.send("GET", "/api/m/"+marketID+"/crowd", "", b.bySession()), 429, "rate_limited")
}

// TestFloodOfNobody: what comes without a credential shuts out nobody who has one.
func TestFloodOfNobody(t *testing.T) {
	t.Parallel()
	b := setup(t, limited(perMinute))
	b.mountPages()
	for i := range perMinute {
		target := []string{"/api/wire", "/api/m/" + marketID, "/nothing", "/feed"}[i%4]
		if w := b.send([]string{"GET", "OPTIONS"}[i/4%2], target, ""); w.Code == 429 {
			t.Fatalf("request %d: %s", i+1, w.Body)
		}
	}
	for _, target := range []string{"/api/wire", "/api/m/" + marketID, "/nothing", "/feed", "/api/network/field-record/me"} {
		b.refused(perMinute, target)
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

// TestFloodOfGuesses: wrong keys are looked up as often as the address has requests in
// a minute and no more; who is known is served, and who brings nothing.
func TestFloodOfGuesses(t *testing.T) {
	t.Parallel()
	b := setup(t, limited(perMinute))
	b.mountPages()
	known, fresh := bearer(b.knownKey()), b.freshKey()
	asked := b.ledger.Count("VerifyKey")
	var taken atomic.Int64
	var wg sync.WaitGroup
	for worker := range 40 {
		wg.Go(func() {
			for i := range 50 {
				switch w := b.send("GET", "/api/network/field-record/me", "", stranger(50*worker+i)); w.Code {
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
	for _, who := range []header{stranger(1), stranger(9999), fresh, byAdmin(), byLogin("mara_k"), with("Cookie", "db_uid=a.1.0; db_sig=bbbb")} {
		b.refused(perMinute, "/api/wire", who)
		b.refused(perMinute, "/api/network/field-record/me", who)
	}
	if n := b.ledger.Count("VerifyKey") - asked; n != 0 {
		t.Errorf("%d look-ups of refused requests", n)
	}
	for range 50 {
		want(t, b.send("GET", "/api/network/field-record/me", "", known), 200, "")
		want(t, b.send("GET", "/api/m/"+marketID+"/crowd", "", b.bySession()), 200, "")
		want(t, b.send("GET", "/feed", "", b.bySession()), 200, "")
	}
	want(t, b.send("HEAD", "/api/network/field-record/me", "", known), 200, "")
	b.refused(perMinute, "/api/wire", known) // a read for everybody takes no key
	for range perMinute {
		want(t, b.send("GET", "/api/wire", ""), 200, "")
	}
	b.refused(perMinute, "/api/wire")
	b.clock.Advance(time.Minute)
	want(t, b.send("GET", "/api/network/field-record/me", "", fresh), 200, "")
}

// TestRefusedBehindTheGate: a credential that was known and is good no more is charged,
// wherever that comes out.
func TestRefusedBehindTheGate(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		code int
		try  func(b *bench, key header) int
	}{
		"in the act":     {401, func(b *bench, key header) int { return b.send("POST", "/api/predictions", `{}`, key).Code }},
		"before the act": {401, func(b *bench, key header) int { return b.send("GET", "/api/network/field-record/me", "", key).Code }},
		"by an agent":    {401, func(b *bench, key header) int { return b.say(agentPath, toolCall("my_record", `{}`), key).Code }},
		"an ended session": {401, func(b *bench, _ header) int {
			return b.send("POST", "/api/predictions", `{}`, b.sessionOf("nobody", 0)).Code
		}},
		"one on a read": {200, func(b *bench, _ header) int {
			return b.send("GET", "/api/m/"+marketID+"/crowd", "", b.sessionOf("nobody", 0)).Code
		}},
		"from another origin": {403, func(b *bench, _ header) int {
			return b.send("POST", "/api/predictions", `{}`, b.bySession(), with("Origin", "https://evil.example")).Code
		}},
	} {
		b := setup(t, limited(3))
		key := b.knownKey()
		b.revoke(key)
		for i, code := range []int{c.code, c.code, c.code, 429} {
			if got := c.try(b, bearer(key)); got != code {
				t.Errorf("%s, request %d: %d, want %d", name, i+1, got, code)
			}
		}
		b.refused(3, "/api/network/field-record/me", stranger(1))
		want(t, b.send("GET", "/api/wire", ""), 200, "")
	}
}

// TestLedgerAwayAndTheAddress: who is known is not charged for a ledger that does not
// answer; who is not known is, or guesses would be free for as long as it is away.
func TestLedgerAwayAndTheAddress(t *testing.T) {
	t.Parallel()
	b := setup(t, limited(3))
	known := bearer(b.knownKey())
	b.setBefore(func(context.Context, string) error { return memledger.ErrDB })
	for range 10 {
		want(t, b.send("GET", "/api/network/field-record/me", "", known), 503, "db_unavailable")
		want(t, b.send("POST", "/api/predictions", `{}`, b.bySession()), 503, "db_unavailable")
	}
	for range 3 {
		want(t, b.send("GET", "/api/network/field-record/me", "", stranger(1)), 503, "db_unavailable")
	}
	b.refused(3, "/api/network/field-record/me", stranger(1))
}

// TestNoLimitOfAddresses: zero is none, for whatever comes.
func TestNoLimitOfAddresses(t *testing.T) {
	t.Parallel()
	b := setup(t, limited(0))
	for i := range 700 {
		want(t, b.send("GET", "/api/network/field-record/me", "", stranger(i)), 401, "unauthenticated")
		want(t, b.send("GET", "/api/m/"+marketID, ""), 200, "")
	}
}
