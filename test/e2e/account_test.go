package e2e

import (
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func t0() time.Time { return time.Now().Add(4 * time.Minute) }

// TestFollowersShow: who is followed shows on the board, in the passport, and to
// everybody who asks.
func TestFollowersShow(t *testing.T) {
	t.Parallel()
	s := up(t)
	star, fan := s.person(t), s.person(t)
	star.call(t, s.native(t, 5000), "YES", 5000)
	post(t, s.Hub+"/api/admin/operators", s.admin(), payload(obj{"handle": star.user, "house": true})).is(http.StatusOK) // few are on that board
	cookies, _ := fan.signIn(t)
	here, url := with("Origin", s.Hub), s.Hub+"/api/user/follow"
	post(t, url, cookies, here, payload(obj{"handle": fan.user})).fails(http.StatusBadRequest, "invalid_handle")
	post(t, url, cookies, here, payload(obj{"handle": "nobody_" + runID})).fails(http.StatusNotFound, "not_found")
	for range 2 {
		post(t, url, cookies, here, payload(obj{"handle": strings.ToUpper(star.user)})).is(http.StatusOK).has(obj{"ok": true, "followers": 1, "following": 1, "isFollowing": true})
	}
	get(t, url+"?handle="+star.user).is(http.StatusOK).has(obj{"followers": 1, "following": 0, "isFollowing": false})
	get(t, s.Hub+"/api/protocol/v1/passports/"+star.user).is(http.StatusOK).has(obj{"stats.followers": 1, "stats.following": 0})
	get(t, s.Hub+"/api/protocol/v1/passports/"+fan.user).is(http.StatusOK).has(obj{"stats.followers": 0, "stats.following": 1})
	s.onBoard(t, star.user, 1)
	for range 2 {
		send(t, http.MethodDelete, url+"?handle="+star.user, cookies, here).is(http.StatusOK).has(obj{"followers": 0, "following": 0, "isFollowing": false})
	}
	s.onBoard(t, star.user, 0)
}

// onBoard waits until the board of the house shows somebody with so many followers.
func (s *stack) onBoard(t testing.TB, handle string, followers int) {
	t.Helper()
	var last string
	defer func() {
		if t.Failed() {
			t.Log(last)
		}
	}()
	deadline := time.Now().Add(15 * time.Second)
	for time.Now().Before(deadline) {
		a := get(t, s.Hub+"/api/operator/leaderboard?operators=house&limit=100").is(http.StatusOK)
		last = string(a.body)
		for _, row := range a.at("leaderboard").([]any) {
			if r, _ := row.(map[string]any); r["handle"] == handle && asInt(r["followers"]) == followers {
				return
			}
		}
		<-time.After(200 * time.Millisecond)
	}
	t.Errorf("the board does not show %s with %d followers", handle, followers)
}

func asInt(v any) int {
	n, ok := v.(interface{ Int64() (int64, error) })
	if !ok {
		return -1
	}
	i, err := n.Int64()
	if err != nil {
		return -1
	}
	return int(i)
}

// TestLoginLimit: a person's login is good for 120 calls a minute, on both hosts
// together; another person's is not touched by it.
func TestLoginLimit(t *testing.T) {
	t.Parallel()
	s := up(t)
	p := s.person(t)
	mint, who := s.API+"/api/v1/agent/keys", s.Hub+"/api/dev/whoami"
	for range 60 {
		post(t, mint, p.login(), payload(obj{})).fails(http.StatusBadRequest, "missing_label")
	}
	for range 60 {
		get(t, who, p.login()).is(http.StatusOK)
	}
	for _, a := range []*answer{get(t, who, p.login()), post(t, mint, p.login(), payload(obj{"label": "x"})), get(t, s.Hub+"/api/dev/keys", p.login())} {
		a.fails(http.StatusTooManyRequests, "rate_limited").has(obj{"limit": 120})
		if a.header.Get("Retry-After") == "" {
			t.Errorf("%s does not say when to come again", a.what)
		}
	}
	get(t, who, s.person(t).login()).is(http.StatusOK)
}

// TestDigestOfTheStack: one letter about yesterday, by mail, however often it is asked
// for; everything that was asked for is written down.
func TestDigestOfTheStack(t *testing.T) {
	t.Parallel()
	s := up(t)
	url := s.Hub + "/api/admin/daily-digest"
	day := time.Now().UTC().AddDate(0, 0, -1).Format(time.DateOnly)
	before := len(shared.mail.Kept())
	get(t, url, s.admin()).is(http.StatusMethodNotAllowed)
	post(t, url+"?dry=1").fails(http.StatusUnauthorized, "unauthenticated")
	post(t, url+"?dry=1&secret="+s.CronSecret, payload(obj{})).fails(http.StatusUnauthorized, "unauthenticated")
	dry := post(t, url+"?dry=1&secret="+s.CronSecret).is(http.StatusOK).has(obj{"ok": true, "dry": true, "sent": 0, "payload.date": day})
	for _, part := range []string{"window", "totals", "topCalls", "movers", "resolvingNext", "disputed", "pulse"} {
		dry.at("payload." + part)
	}
	if n := len(shared.mail.Kept()); n != before {
		t.Errorf("a dry run sent %d letters", n-before)
	}
	var sent atomic.Int32
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			if a := post(t, url, s.admin()).is(http.StatusOK); a.at("sent") != nil && asInt(a.at("sent")) == 2 {
				sent.Add(1)
			} else if a.at("already") != true {
				t.Errorf("%s", a.body)
			}
		})
	}
	wg.Wait()
	post(t, url+"?secret="+s.CronSecret).is(http.StatusOK).has(obj{"ok": true, "sent": 0, "already": true})
	kept := shared.mail.Kept()
	if len(kept) != 1 || len(kept[0].To) != 2 || !strings.Contains(kept[0].Text, "Subject: Signalcast, "+day) {
		t.Fatalf("%d letters: %+v", len(kept), kept)
	}
	if sent.Load() > 1 { // none says so when the one that did was asked for again
		t.Errorf("%d answers say that they sent it", sent.Load())
	}
	for name, secret := range map[string]string{"the admin secret": s.AdminSecret, "the cron secret": s.CronSecret, "a raw id": "did:idp:", "the database": "postgres://"} {
		if strings.Contains(kept[0].Text, secret) || strings.Contains(string(dry.body), secret) {
			t.Errorf("the letter holds %s", name)
		}
	}
	if s.row(t, `SELECT (count(*) FILTER (WHERE stage = 'asked') >= 8 AND count(*) FILTER (WHERE stage = 'answered' AND code = 'ok') >= 8)::text
		FROM hub.audit_log WHERE action = 'POST /api/admin/daily-digest' AND target = $1`, day) != "true" {
		t.Error("not everything that was asked for is written down")
	}
}

// TestClaimsOfAnotherChain: a Solana address counts as it is spelt, and an identity
// token beside the session has to be of the same person.
func TestClaimsOfAnotherChain(t *testing.T) {
	t.Parallel()
	s := up(t)
	p := s.person(t)
	identity := func(user string) option {
		t.Helper()
		return with("privy-id-token", post(t, s.IDP+"/mint", payload(obj{"user": user, "profile": "privy"})).is(http.StatusOK).str("identityToken"))
	}
	p.token = post(t, s.IDP+"/mint", payload(obj{"user": p.user, "profile": "privy"})).is(http.StatusOK).str("token")
	cookies, _ := p.signIn(t)
	const address = "7EcDhSYGxXyscszYEp35KHN8vvw3svAuLKTzXwCFLtV"
	claim := func(text string, opts ...option) *answer {
		t.Helper()
		return post(t, s.Hub+"/api/identity/claim", append(opts, cookies, with("Origin", s.Hub), payload(obj{"address": text}))...)
	}
	claim(address, identity(p.user)).fails(http.StatusForbidden, "wallet_not_linked")
	post(t, s.IDP+"/users/did:idp:"+p.user+"/wallets", payload(obj{"address": address, "chainType": "solana"})).is(http.StatusOK)
	for name, token := range map[string]option{
		"somebody else's": identity(s.person(t).user), "a login": with("privy-id-token", p.token), "broken": with("privy-id-token", "x.y.z"),
		"two": func(r *http.Request) { identity(p.user)(r); identity(p.user)(r) },
	} {
		if a := claim(address, token); a.status != http.StatusUnauthorized {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
	claim(strings.Replace(address, "c", "C", 1), identity(p.user)).fails(http.StatusForbidden, "wallet_not_linked")
	claim(address, identity(p.user)).is(http.StatusOK).has(obj{"claim.identity": address, "claim.profileUrl": "https://partner.example/u/" + address})
	get(t, s.Hub+"/api/protocol/v1/passports/"+p.user).is(http.StatusOK).has(obj{"wallets.0.chain": "solana", "wallets.0.address": address})
}
