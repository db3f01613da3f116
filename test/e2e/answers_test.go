package e2e

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
)

// Tests of this file ask the operations that no story of the others passes, so that every
// operation gives a good answer in this run.

func TestStationAnswers(t *testing.T) {
	t.Parallel()
	s := up(t)
	p := s.person(t)
	id := "answers-" + strings.ToLower(runID)
	stations, one := s.API+"/api/v1/stations", s.API+"/api/v1/stations/"+id
	post(t, stations, p.auth(t), payload(obj{"stationId": id, "name": "Answers", "url": "https://" + id + ".example", "lanes": []string{"SCIENCE"}})).is(http.StatusCreated)
	t.Cleanup(func() {
		send(t, http.MethodDelete, one, s.admin()).is(http.StatusOK)
		get(t, one).is(http.StatusNotFound)
	})
	post(t, one+"/status", s.admin(), payload(obj{"status": "active"})).is(http.StatusOK)
	send(t, http.MethodPut, one, p.auth(t), payload(obj{"name": "Answers of the Odra"})).is(http.StatusOK)
	get(t, one).is(http.StatusOK).has(obj{"name": "Answers of the Odra", "status": "active"})
	post(t, one+"/heartbeat", p.auth(t)).is(http.StatusOK)
	get(t, one+"/program").is(http.StatusOK)
}

func TestWebhookAnswers(t *testing.T) {
	t.Parallel()
	s := up(t)
	p := s.person(t)
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(receiver.Close)
	hooks := s.API + "/api/v1/webhooks"
	id := post(t, hooks, p.auth(t), payload(obj{"url": receiver.URL, "channels": []string{"me"}})).is(http.StatusCreated).str("id")
	one := hooks + "/" + id
	if list := get(t, hooks, p.auth(t)).is(http.StatusOK); !strings.Contains(string(list.body), id) {
		t.Errorf("it is not in the list: %s", list.body)
	}
	send(t, http.MethodPatch, one, p.auth(t), payload(obj{"description": "the desk"})).is(http.StatusOK).has(obj{"description": "the desk"})
	post(t, one+"/test", p.auth(t)).is(http.StatusOK)
	eventually(t, func() bool {
		return len(get(t, one+"/deliveries", p.auth(t)).is(http.StatusOK).list("deliveries")) > 0
	}, "the test among the deliveries")
	send(t, http.MethodDelete, one, p.auth(t)).is(http.StatusOK)
	get(t, one, p.auth(t)).is(http.StatusNotFound)
}

func TestOwnAnswers(t *testing.T) {
	t.Parallel()
	s := up(t)
	p := s.person(t)
	market := s.native(t, 5000)
	id := p.call(t, market, "YES", 5000)
	users := s.API + "/api/v1/users/"
	get(t, users+"me", p.auth(t)).is(http.StatusOK)
	get(t, users+p.user+"/stats", p.auth(t)).is(http.StatusOK)
	if own := get(t, users+p.user+"/signals", p.auth(t)).is(http.StatusOK); !strings.Contains(string(own.body), id) {
		t.Errorf("the own call is not there: %s", own.body)
	}
	post(t, s.API+"/api/v1/signals/categorize", p.auth(t), payload(obj{"items": []obj{{"title": "Will the Odra gauge read above 6 m?"}}})).is(http.StatusOK)
	send(t, http.MethodPut, s.API+"/api/v1/markets/"+market+"/lane", s.admin(), payload(obj{"lane": "WORLD"})).is(http.StatusOK)
	get(t, s.Hub+"/api/streamer/analytics", p.auth(t)).is(http.StatusOK)
	cookies, _ := p.signIn(t)
	get(t, s.Hub+"/api/identity/claim", cookies).is(http.StatusOK)
}

func TestDeskAnswers(t *testing.T) {
	t.Parallel()
	s := up(t)
	market := s.venue(t, 0.5)
	s.person(t).call(t, market, "YES", 5000)
	pins := s.Hub + "/api/admin/pins"
	post(t, pins, s.admin(), payload(obj{"marketId": market, "label": "Tonight"})).is(http.StatusOK)
	if all := get(t, pins, s.admin()).is(http.StatusOK); !strings.Contains(string(all.body), market) {
		t.Errorf("the pin is not there: %s", all.body)
	}
	send(t, http.MethodDelete, pins+"?marketId="+market, s.admin()).is(http.StatusOK)
	preempts := s.Hub + "/api/broadcast/preempt"
	planned := post(t, preempts, s.admin(), payload(obj{"marketId": market, "lane": "sports", "startsAt": stamp(time.Now().Add(5 * time.Hour)), "reason": "the gauge"}))
	if planned.status != http.StatusCreated && planned.status != http.StatusOK {
		t.Fatalf("%d %s", planned.status, planned.body)
	}
	get(t, preempts, s.admin()).is(http.StatusOK)
	post(t, preempts, s.admin(), payload(obj{"action": "cancel", "id": planned.str("item.id")})).is(http.StatusOK)
}

func TestAppAnswers(t *testing.T) {
	t.Parallel()
	s := up(t)
	p := s.person(t)
	apps, base := s.Hub+"/api/dev/apps", s.Hub+"/api/protocol/v1"
	made := post(t, apps, p.login(), payload(obj{"name": "Tide desk", "type": "confidential", "redirectUris": []string{"https://desk.example/cb"}, "scopes": []string{"profile:read"}})).is(http.StatusCreated)
	id := made.str("clientId")
	if own := get(t, apps, p.login()).is(http.StatusOK); !strings.Contains(string(own.body), id) {
		t.Errorf("the app is not there: %s", own.body)
	}
	secret := post(t, apps+"/"+id+"/secret", p.login(), payload(obj{"immediate": true})).is(http.StatusOK).str("clientSecret")
	own := url.Values{"client_id": {id}, "client_secret": {secret}, "token": {"dat_nobody"}}.Encode()
	post(t, base+"/oauth/introspect", formed(own)).is(http.StatusOK).has(obj{"active": false})
	post(t, base+"/oauth/revoke", formed(own)).is(http.StatusOK)
	send(t, http.MethodDelete, apps+"/"+id, p.login()).is(http.StatusOK)
}

func TestGrantAnswers(t *testing.T) {
	t.Parallel()
	s := up(t)
	p := s.person(t)
	cookies, _ := p.signIn(t)
	base := s.Hub + "/api/protocol/v1"
	get(t, base+"/schemas/signal.create").is(http.StatusOK)
	first := p.pen(t, "signal:create")
	signed := first.write(t, "signal.create", obj{"marketId": s.native(t, 5000), "position": "YES", "priceBps": 5000})
	post(t, base+"/messages/verify", payload(signed)).is(http.StatusOK).has(obj{"valid": true})
	if keys := get(t, base+"/signers?denpaId="+first.denpaID).is(http.StatusOK); !strings.Contains(string(keys.body), first.public) {
		t.Errorf("the signer is not there: %s", keys.body)
	}
	get(t, base+"/signers/"+first.public).is(http.StatusOK).has(obj{"status": "active"})
	send(t, http.MethodDelete, base+"/signers/"+first.public, bearer(first.access)).is(http.StatusOK)
	get(t, base+"/signers/"+first.public).is(http.StatusOK).has(obj{"status": "revoked"})
	second := p.pen(t, "signal:create")
	send(t, http.MethodDelete, s.Hub+"/api/user/signers/"+second.public, cookies, with("Origin", s.Hub)).is(http.StatusOK)
	grants := get(t, base+"/grants", bearer(first.access)).is(http.StatusOK)
	send(t, http.MethodDelete, base+"/grants/"+grants.str("grants.0.grantId"), bearer(first.access)).is(http.StatusOK)
	get(t, base+"/me", bearer(first.access)).is(http.StatusUnauthorized)
	mine := get(t, s.Hub+"/api/user/grants", cookies).is(http.StatusOK)
	send(t, http.MethodDelete, s.Hub+"/api/user/grants/"+mine.str("grants.0.grantId"), cookies, with("Origin", s.Hub)).is(http.StatusOK)
	get(t, base+"/me", bearer(second.access)).is(http.StatusUnauthorized)
}
