package contract

import (
	"crypto/rand"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalcast/signalcast/test/system/stack"
)

// requireText fails the test unless the answer has status 200 and contains the text.
func requireText(t *testing.T, a stack.Answer, text string) {
	t.Helper()
	if !a.Require(http.StatusOK).Contains(text) {
		t.Errorf("the answer does not contain %s: %.500s", text, a.Body)
	}
}

func TestStations(t *testing.T) {
	t.Parallel()
	s := system(t)
	p := s.NewOperator(t)
	key, id := stack.Bearer(p.Key), "contract-"+strings.ToLower(strings.ReplaceAll(p.Handle, "_", "-"))
	stations, one := s.API+"/api/v1/stations", s.API+"/api/v1/stations/"+id
	post(t, stations, key, stack.Body(stack.JSON{
		"stationId": id, "name": "Station", "url": "https://" + id + ".example", "lanes": []string{"SCIENCE"},
	})).Require(http.StatusCreated)
	post(t, one+"/status", s.Admin(), stack.Body(stack.JSON{"status": "active"})).Require(http.StatusOK)
	stack.Send(t, http.MethodPut, one, key, stack.Body(stack.JSON{"name": "Station of the Odra"})).Require(http.StatusOK)
	get(t, one).Require(http.StatusOK).Expect(stack.JSON{"name": "Station of the Odra", "status": "active"})
	post(t, one+"/heartbeat", key).Require(http.StatusOK)
	get(t, one+"/program").Require(http.StatusOK)
	stack.Send(t, http.MethodDelete, one, s.Admin()).Require(http.StatusOK)
	get(t, one).Require(http.StatusNotFound)
}

func TestWebhooks(t *testing.T) {
	t.Parallel()
	s := system(t)
	key := stack.Bearer(s.NewOperator(t).Key)
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(receiver.Close)
	webhooks := s.API + "/api/v1/webhooks"
	draft := stack.Body(stack.JSON{"url": receiver.URL, "channels": []string{"me"}})
	id := post(t, webhooks, key, draft).Require(http.StatusCreated).Text("id")
	one := webhooks + "/" + id
	requireText(t, get(t, webhooks, key), id)
	stack.Send(t, http.MethodPatch, one, key, stack.Body(stack.JSON{"description": "the desk"})).Require(http.StatusOK).
		Expect(stack.JSON{"description": "the desk"})
	post(t, one+"/secret", key).Require(http.StatusOK)
	post(t, one+"/test", key).Require(http.StatusOK)
	stack.Eventually(t, 15*time.Second, "the test delivery in the list of deliveries", func() bool {
		return len(get(t, one+"/deliveries", key).Require(http.StatusOK).List("deliveries")) > 0
	})
	stack.Send(t, http.MethodDelete, one, key).Require(http.StatusOK)
	get(t, one, key).Require(http.StatusNotFound)
}

// TestFailedDeliveriesAreSentAgain lets an endpoint fail, and requests the delivery again when it works. The endpoint must receive
// the same delivery before its next attempt is due, and the log must name both results in words.
func TestFailedDeliveriesAreSentAgain(t *testing.T) {
	t.Parallel()
	s := system(t)
	p := s.NewOperator(t)
	key := stack.Bearer(p.Key)
	var works atomic.Bool
	var failures atomic.Int64
	bodies := make(chan string, 100)
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !works.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			failures.Add(1)
			return
		}
		body, _ := io.ReadAll(r.Body)
		bodies <- string(body)
	}))
	t.Cleanup(receiver.Close)
	draft := stack.Body(stack.JSON{"url": receiver.URL, "channels": []string{"me"}})
	one := s.API + "/api/v1/webhooks/" + post(t, s.API+"/api/v1/webhooks", key, draft).Require(http.StatusCreated).Text("id")
	p.NewCall(t, s.NewNativeMarket(t, 5000, nil), "YES", 5000, nil)
	log := func() stack.Answer { return get(t, one+"/deliveries", key).Require(http.StatusOK) }
	stack.Eventually(t, time.Minute, "a third attempt, after which the next one is due in a minute", func() bool {
		return failures.Load() >= 3 && len(log().List("deliveries")) >= 3
	})
	log().Expect(stack.JSON{"deliveries.0.status": 503, "deliveries.0.message": "the endpoint answered 503; 2xx accepts a delivery"})
	works.Store(true)
	id := log().Text("deliveries.0.id")
	other := stack.Bearer(s.NewOperator(t).Key)
	post(t, one+"/deliveries/"+id+"/resend", other).RequireError(http.StatusNotFound, "not_found")
	again := post(t, one+"/deliveries/"+id+"/resend", key)
	for again.Status == http.StatusTooManyRequests { // the last attempt was less than five seconds ago
		time.Sleep(time.Duration(again.Int("retryAfterMs")) * time.Millisecond)
		again = post(t, one+"/deliveries/"+id+"/resend", key)
	}
	again.Require(http.StatusAccepted).Expect(stack.JSON{"nextAttemptAt": nil})
	select {
	case body := <-bodies:
		if !strings.Contains(body, id) || !strings.Contains(body, `"attempt":4`) {
			t.Errorf("the endpoint received %.300s; want the fourth attempt of %s", body, id)
		}
	case <-time.After(40 * time.Second): // the attempt without a request follows later
		t.Fatal("the endpoint received nothing in 40 s")
	}
	stack.Eventually(t, 15*time.Second, "the accepted attempt in the log", func() bool { return len(log().List("deliveries")) == 4 })
	log().Expect(stack.JSON{"deliveries.0.error": nil, "deliveries.0.message": nil})
	post(t, one+"/deliveries/"+id+"/resend", key).RequireError(http.StatusConflict, "delivery_not_pending")
}

func TestCallsAndMarkets(t *testing.T) {
	t.Parallel()
	s := system(t)
	p := s.NewOperator(t)
	key, market := stack.Bearer(p.Key), s.NewNativeMarket(t, 5000, nil)
	id := p.File(t, stack.Call(market, "YES", 5000).With("textTake", "The gauge is broken.")).Require(http.StatusOK).Text("id")
	events := s.Hub + "/api/signals/" + id + "/events"
	post(t, events, key, stack.Body(stack.JSON{"type": "reaffirm"})).Require(http.StatusCreated)
	requireText(t, get(t, s.API+"/api/v1/users/"+p.Handle+"/signals", key), id)
	get(t, s.API+"/api/v1/users/"+p.Handle+"/stats", key).Require(http.StatusOK)
	items := stack.JSON{"items": []stack.JSON{{"title": "Will the Odra gauge read above 6 m?"}}}
	post(t, s.API+"/api/v1/signals/categorize", key, stack.Body(items)).Require(http.StatusOK)
	report := stack.Body(stack.JSON{"kind": "signal", "id": id, "reason": "spam"})
	post(t, s.Hub+"/api/reports", key, report).Require(http.StatusCreated)
	stream := stack.JSON{"url": "https://video.example/index.m3u8", "label": "gauge"}
	post(t, s.Hub+"/api/m/"+market+"/streams", key, stack.Body(stream)).Require(http.StatusOK)
	stack.Send(t, http.MethodDelete, s.Hub+"/api/m/"+market+"/streams", key).Require(http.StatusOK)
}

func TestAdministration(t *testing.T) {
	t.Parallel()
	s := system(t)
	p := s.NewOperator(t)
	venue := s.NewVenueMarket(t, "polymarket", 0.5, nil)
	p.File(t, stack.Call(venue.ID, "YES", 5000)).Require(http.StatusOK)
	market := s.NewNativeMarket(t, 5000, nil)
	id := p.File(t, stack.Call(market, "YES", 5000).With("textTake", "The gauge is broken.")).Require(http.StatusOK).Text("id")
	as := func(method, path string, body stack.JSON) stack.Answer {
		t.Helper()
		a := stack.Send(t, method, s.Hub+path, s.Admin(), stack.Body(body))
		if a.Status != http.StatusOK && a.Status != http.StatusCreated {
			t.Fatalf("%s %s: %v; want 200 or 201", method, path, a)
		}
		return a
	}
	stack.Send(t, http.MethodPut, s.API+"/api/v1/markets/"+market+"/lane", s.Admin(),
		stack.Body(stack.JSON{"lane": "WORLD"})).Require(http.StatusOK)
	as(http.MethodPost, "/api/admin/pins", stack.JSON{"marketId": venue.ID, "label": "Tonight"})
	requireText(t, get(t, s.Hub+"/api/admin/pins", s.Admin()), venue.ID)
	stack.Send(t, http.MethodDelete, s.Hub+"/api/admin/pins?marketId="+venue.ID, s.Admin()).Require(http.StatusOK)
	planned := as(http.MethodPost, "/api/broadcast/preempt", stack.JSON{
		"marketId": venue.ID, "lane": "sports", "startsAt": stack.Stamp(time.Now().Add(5 * time.Hour)), "reason": "the gauge",
	})
	as(http.MethodPost, "/api/broadcast/preempt", stack.JSON{"action": "cancel", "id": planned.Text("item.id")})
	as(http.MethodPost, "/api/admin/markets/"+market, stack.JSON{"rated": false, "reason": "ambiguous"})
	as(http.MethodPost, "/api/admin/moderation", stack.JSON{"kind": "signal", "id": id, "action": "hide", "reason": "spam"})
	as(http.MethodPost, "/api/admin/operators", stack.JSON{"handle": p.Handle, "house": true})
	as(http.MethodPost, "/api/admin/clips", stack.JSON{"id": p.StoreClip(t, market), "boosted": true})
	as(http.MethodPost, "/api/resolution/dispute", stack.JSON{"marketId": market, "disputed": true})
	as(http.MethodPost, "/api/resolution/dispute", stack.JSON{"marketId": market, "disputed": false})
	s.Finalize(t, market, "YES")
	s.Scan(t)
	get(t, s.Hub+"/api/admin/resolve-signals", s.Admin()).Require(http.StatusOK)
	post(t, s.Hub+"/api/admin/daily-digest?dry=1", s.Admin()).Require(http.StatusOK)
}

func TestSessionsAndPeople(t *testing.T) {
	t.Parallel()
	s := system(t)
	p, other := s.NewOperator(t), s.NewOperator(t)
	key, session := stack.Bearer(p.Key), p.Session(t)
	as := func(method, path string, body stack.JSON) stack.Answer {
		t.Helper()
		if body == nil {
			return stack.Send(t, method, s.Hub+path, session)
		}
		return stack.Send(t, method, s.Hub+path, session, stack.Body(body))
	}
	as(http.MethodPost, "/api/user/follow", stack.JSON{"handle": other.Handle}).Require(http.StatusOK)
	as(http.MethodDelete, "/api/user/follow?handle="+other.Handle, nil).Require(http.StatusOK)
	wallet := stack.NewWallet()
	p.LinkWallet(t, wallet)
	as(http.MethodPost, "/api/identity/claim", stack.JSON{"address": wallet}).Require(http.StatusOK)
	as(http.MethodDelete, "/api/identity/claim?station=partner", nil).Require(http.StatusOK)
	as(http.MethodPost, "/api/streamer/profile", stack.JSON{"bio": "Rivers do not read polls."}).Require(http.StatusOK)
	as(http.MethodPost, "/api/streamer/register", stack.JSON{"displayName": "Mara K"}).Require(http.StatusCreated)
	p.SetStreamer(t, "approved")
	post(t, s.Hub+"/api/streamer/stream", stack.Bearer(p.Login), stack.Body(stack.JSON{"label": "desk"})).Require(http.StatusCreated)
	post(t, s.Hub+"/api/streamer/heartbeat", key, stack.Body(stack.JSON{"state": "live"})).Require(http.StatusOK)
	market := s.NewNativeMarket(t, 5000, nil)
	post(t, s.Hub+"/api/streamer/signal", key, stack.Body(stack.JSON{"marketId": market, "name": "Ostrava"})).Require(http.StatusOK)
	post(t, s.Hub+"/api/live/"+p.Handle+"/view", stack.Body(stack.JSON{"viewerId": "v"})).Require(http.StatusOK)
	stack.Send(t, http.MethodDelete, s.Hub+"/api/streamer/signal", key).Require(http.StatusOK)
	as(http.MethodDelete, "/api/auth/privy", nil).Require(http.StatusOK)
}

func TestKeysAndApplications(t *testing.T) {
	t.Parallel()
	s := system(t)
	p := s.NewOperator(t)
	login := stack.Bearer(p.Login)
	_, id := p.Mint(t, stack.JSON{"label": "to be revoked"})
	stack.Send(t, http.MethodDelete, s.Hub+"/api/dev/keys?id="+id, login).Require(http.StatusOK)
	made := post(t, s.API+"/api/v1/agent/keys", login, stack.Body(stack.JSON{"label": "agent"})).Require(http.StatusCreated)
	if !strings.HasPrefix(made.Text("key"), "db_live_") || made.Header.Get("Deprecation") != "true" {
		t.Errorf("prefix %.8s, Deprecation %q; want db_live_, true", made.Text("key"), made.Header.Get("Deprecation"))
	}
	call := stack.Body(stack.Call(s.NewNativeMarket(t, 5000, nil), "NO", 5000))
	post(t, s.Hub+"/api/predictions", stack.Bearer(made.Text("key")), call).Require(http.StatusOK)

	app := p.NewApp(t, "confidential", "profile:read")
	one := s.Hub + "/api/dev/apps/" + app.ID
	stack.Send(t, http.MethodPatch, one, login, stack.Body(stack.JSON{"name": "Tide desk"})).Require(http.StatusOK)
	app.Secret = post(t, one+"/secret", login, stack.Body(stack.JSON{"immediate": true})).Require(http.StatusOK).Text("clientSecret")
	token := app.Grant(t, p.Session(t), "profile:read")
	own := url.Values{"client_id": {app.ID}, "client_secret": {app.Secret}, "token": {token.Access}}
	app.OAuth(t, "introspect", own).Require(http.StatusOK).Expect(stack.JSON{"active": true})
	app.OAuth(t, "revoke", own).Require(http.StatusOK)
	app.OAuth(t, "introspect", own).Require(http.StatusOK).Expect(stack.JSON{"active": false})
	stack.Send(t, http.MethodDelete, one, login).Require(http.StatusOK)
}

func TestMessagesAndGrants(t *testing.T) {
	t.Parallel()
	s := system(t)
	p := s.NewOperator(t)
	session, base := p.Session(t), s.Issuer()
	app := p.NewApp(t, "public", "profile:read", "signal:create", "signer:create")
	token := app.Grant(t, session, "profile:read signal:create signer:create")
	access := stack.Bearer(token.Access)
	signer := p.NewSigner(t)
	signer.App = app.ID
	signer.Register(t, access, "signal:create")
	message := signer.Message("signal.create", stack.JSON{
		"marketId": s.NewNativeMarket(t, 5000, nil), "position": "YES",
		"priceBps": 5000,
	})
	post(t, base+"/messages/verify", stack.Body(message)).Require(http.StatusOK).Expect(stack.JSON{"valid": true})
	post(t, base+"/messages", stack.Body(message)).Require(http.StatusCreated)
	post(t, base+"/signals", access, stack.Body(stack.JSON{
		"marketId": s.NewNativeMarket(t, 5000, nil), "position": "YES", "priceBps": 5000,
	})).Require(http.StatusOK)
	requireText(t, get(t, base+"/signers?denpaId="+p.ID), signer.PublicKey)
	get(t, base+"/signers/"+signer.PublicKey).Require(http.StatusOK).Expect(stack.JSON{"status": "active"})
	stack.Send(t, http.MethodDelete, base+"/signers/"+signer.PublicKey, access).Require(http.StatusOK)
	get(t, base+"/signers/"+signer.PublicKey).Require(http.StatusOK).Expect(stack.JSON{"status": "revoked"})
	second := p.NewSigner(t)
	second.App = app.ID
	second.Register(t, access, "signal:create")
	stack.Send(t, http.MethodDelete, s.Hub+"/api/user/signers/"+second.PublicKey, session).Require(http.StatusOK)
	stack.Send(t, http.MethodDelete, base+"/grants/"+token.Grant, access).Require(http.StatusOK)
	get(t, base+"/me", access).RequireError(http.StatusUnauthorized, "unauthenticated")
	again := app.Grant(t, session, "profile:read")
	stack.Send(t, http.MethodDelete, s.Hub+"/api/user/grants/"+again.Grant, session).Require(http.StatusOK)
	get(t, base+"/me", stack.Bearer(again.Access)).RequireError(http.StatusUnauthorized, "unauthenticated")
}

func TestAgents(t *testing.T) {
	t.Parallel()
	s := system(t)
	p := s.NewOperator(t)
	agents := s.Issuer() + "/mcp"
	token := p.NewApp(t, "public", "profile:read").Grant(t, p.Session(t), "profile:read", "resource", agents)
	for address, credential := range map[string]string{s.Hub + "/api/mcp": p.Key, agents: token.Access} {
		a := post(t, address, stack.Bearer(credential), stack.Header("Accept", "application/json, text/event-stream"),
			stack.Header("Mcp-Protocol-Version", "2025-06-18"),
			stack.Body(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)).Require(http.StatusOK)
		if len(a.List("result.tools")) == 0 {
			t.Errorf("the answer of %s contains no tools", address)
		}
	}
}

// TestForms checks that the forms of the pages for people and developers are accepted.
func TestForms(t *testing.T) {
	t.Parallel()
	s := system(t)
	p, other := s.NewOperator(t), s.NewOperator(t)
	session, developer := p.Session(t), stack.Header("Cookie", "db_dev="+p.Login)
	as := func(who stack.Set, path string, status int, members ...string) stack.Answer {
		t.Helper()
		return post(t, s.Hub+path, who, form(members...)).Require(status)
	}
	as(session, "/u/"+other.Handle+"/follow", http.StatusSeeOther)
	as(session, "/u/"+other.Handle+"/mute", http.StatusSeeOther)
	as(session, "/u/"+other.Handle+"/mute", http.StatusSeeOther, "kinds", "yes", "calls", "yes")
	as(session, "/u/"+other.Handle+"/unmute", http.StatusSeeOther)
	as(session, "/u/"+other.Handle+"/unfollow", http.StatusSeeOther)
	as(other.Session(t), "/u/"+p.Handle+"/follow", http.StatusSeeOther)
	news := stack.Get(t, s.Hub+"/api/user/notifications", session).Require(http.StatusOK).Text("notifications.0.id")
	as(session, "/notifications/read", http.StatusSeeOther, "upTo", news)
	post(t, s.Hub+"/api/user/notifications/read", session, stack.Body(stack.JSON{"upTo": news})).Require(http.StatusOK)
	post(t, s.Hub+"/api/user/notifications/read", stack.Bearer(p.Key), stack.Body(stack.JSON{"upTo": news})).Require(http.StatusOK)
	as(session, "/settings/notifications", http.StatusSeeOther, "calls", "on")
	as(session, "/studio", http.StatusSeeOther, "displayName", "Mara K", "lanes", "SCIENCE")
	as(session, "/profile", http.StatusSeeOther, "displayName", "Mara K", "bio", "", "avatarUrl", "", "formerAvatarUrl", "", "links", "", "payoutAddress", "")
	filed := as(session, "/m/"+s.NewNativeMarket(t, 5000, nil)+"/call", http.StatusSeeOther, "direction", "NO", "price", "5000,5000",
		"idempotencyKey", "form")
	as(session, filed.Header.Get("Location")+"/events", http.StatusSeeOther, "type", "reaffirm", "idempotencyKey", "form")
	as(session, "/m/"+s.NewNativeMarket(t, 5000, nil)+"/watch", http.StatusSeeOther, "watch", "yes")
	wallet := stack.NewWallet()
	p.LinkWallet(t, wallet)
	as(session, "/profile/claims", http.StatusSeeOther, "address", wallet)
	as(session, "/profile/claims/drop", http.StatusSeeOther, "station", "partner")
	app := p.NewApp(t, "public", "profile:read")
	token := app.Grant(t, session, "profile:read")
	as(session, "/apps/revoke", http.StatusSeeOther, "grant", token.Grant)

	started := as(func(*http.Request) {}, "/dev/session", http.StatusSeeOther, "token", p.Login, "state", "x")
	cookies := stack.Header("Cookie", "db_dev_next="+p.Login+"; db_dev_state=x")
	get(t, s.Hub+started.Header.Get("Location"), cookies).Require(http.StatusSeeOther)
	as(developer, "/dev/keys", http.StatusOK, "label", "desk", "permission", "read")
	_, key := p.Mint(t, stack.JSON{"label": "to be revoked"})
	as(developer, "/dev/keys/revoke", http.StatusSeeOther, "id", key)
	as(developer, "/dev/apps", http.StatusOK, "name", "Tide", "type", "confidential", "redirectUris", stack.AppRedirect,
		"scope", "profile:read")
	mine := p.NewApp(t, "confidential", "profile:read").ID
	as(developer, "/dev/apps/change", http.StatusSeeOther, "app", mine, "name", "Tide desk", "redirectUris",
		stack.AppRedirect, "scope", "profile:read")
	as(developer, "/dev/apps/secret", http.StatusOK, "app", mine, "immediate", "yes")
	as(developer, "/dev/apps/disable", http.StatusSeeOther, "app", mine, "sure", "yes")
	signer := p.NewSigner(t)
	signer.Register(t, stack.Bearer(p.Key), "signal:create")
	as(developer, "/dev/signers/revoke", http.StatusSeeOther, "key", signer.PublicKey)
	p.SetStreamer(t, "approved")
	as(developer, "/dev/stream", http.StatusOK, "label", "desk")
	as(func(*http.Request) {}, "/settings/theme", http.StatusSeeOther, "theme", "dark")
	as(session, "/report", http.StatusOK, "subject", "profile:"+other.Handle, "reason", "The name is that of another person.")
	as(session, "/settings/sessions/revoke", http.StatusSeeOther, "session", "1")
	as(session, "/settings/push", http.StatusSeeOther, "session", "1")
	as(session, "/settings/email", http.StatusSeeOther, "address", p.Handle+"@hub.example", "digest", "daily")
	other.AddEmail(t)
	as(func(*http.Request) {}, "/email/confirm", http.StatusOK, "t", other.EmailToken())
	oneClick := stack.Form(url.Values{"List-Unsubscribe": {"One-Click"}})
	post(t, s.Hub+"/unsubscribe?t="+other.UnsubscribeToken(t), oneClick).Require(http.StatusOK)
	as(session, "/settings/export", http.StatusSeeOther)
	as(session, "/welcome", http.StatusSeeOther, "skip", "1")
	as(other.Session(t), "/settings/handle", http.StatusSeeOther, "handle", strings.ToLower(rand.Text()))
	as(session, "/settings/delete", http.StatusSeeOther, "handle", p.Handle)
	as(session, "/settings/delete/cancel", http.StatusSeeOther)
	as(session, "/sign-out", http.StatusSeeOther)
	as(other.Session(t), "/settings/sessions/revoke-all", http.StatusSeeOther)
}

// TestFeedsOpen checks that websockets and event streams can be opened.
func TestFeedsOpen(t *testing.T) {
	t.Parallel()
	s := system(t)
	upgrade := func(r *http.Request) {
		for name, value := range map[string]string{
			"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
			"Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
		} {
			r.Header.Set(name, value)
		}
	}
	for name, open := range map[string]struct {
		url    string
		set    stack.Set
		status int
	}{
		"websocket": {s.API + "/ws", upgrade, http.StatusSwitchingProtocols},
		"stream":    {s.API + "/api/v1/feed/stream?channels=signals", func(*http.Request) {}, http.StatusOK},
	} {
		t.Run(name, func(t *testing.T) {
			if status := stack.Opened(t, open.url, open.set); status != open.status {
				t.Errorf("opening the feed was answered with status %d; want %d", status, open.status)
			}
		})
	}
}
