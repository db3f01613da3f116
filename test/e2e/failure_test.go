package e2e

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/testkit"
)

// Tests of this file break parts of the stack and so run alone.

// alive waits until calls are filed, lists are whole and the feed moves again.
func (s *stack) alive(t testing.TB) {
	t.Helper()
	market, id := "", ""
	p := s.person0(t)
	testkit.Eventually(t, 30*time.Second, func() bool {
		a, err := try(t, http.MethodPost, s.Hub+"/api/admin/markets", s.admin(), payload(obj{
			"question": "Does it work again?", "cutoffAt": stamp(time.Now().AddDate(1, 0, 0)), "lane": "TECH",
		}))
		if err != nil || a.status != http.StatusCreated {
			return false
		}
		market = a.str("marketId")
		return true
	})
	testkit.Eventually(t, 30*time.Second, func() bool {
		a, err := try(t, http.MethodPost, s.Hub+"/api/predictions", p.auth(t), payload(obj{"marketId": market, "direction": "YES", "priceAtPrediction": 5000}))
		if err != nil || a.status != http.StatusOK {
			return false
		}
		id = a.str("id")
		return true
	})
	testkit.Eventually(t, 30*time.Second, func() bool {
		a, err := try(t, http.MethodGet, s.API+"/api/v1/feed?limit=50&handle="+p.user)
		return err == nil && a.status == http.StatusOK && a.header.Get("X-Degraded") == "" && strings.Contains(string(a.body), id)
	})
	for _, url := range []string{s.Hub + "/api/signals/feed?limit=3", s.Hub + "/api/operator/leaderboard?limit=3", s.API + "/api/v1/signals/leaderboard?limit=3", s.Clock + "/program/now"} {
		testkit.Eventually(t, 30*time.Second, func() bool {
			a, err := try(t, http.MethodGet, url)
			return err == nil && a.status == http.StatusOK && a.header.Get("X-Degraded") == ""
		})
	}
}

// person0 is a person whose key was minted while everything worked.
func (s *stack) person0(t testing.TB) *person {
	t.Helper()
	var p *person
	testkit.Eventually(t, 30*time.Second, func() bool {
		q := &person{s: s, user: "e2e_" + runID + "_" + itoa(people.Add(1))}
		a, err := try(t, http.MethodPost, s.IDP+"/mint", payload(obj{"user": q.user}))
		if err != nil || a.status != http.StatusOK {
			return false
		}
		q.token = a.str("token")
		a, err = try(t, http.MethodPost, s.Hub+"/api/dev/keys", q.login(), payload(obj{"label": "e2e"}))
		if err != nil || a.status != http.StatusCreated {
			return false
		}
		q.key, p = a.str("key"), q
		return true
	})
	return p
}

// TestVenueFails: a venue that is down, hangs, lies or refuses stops no call and
// no read but those of markets that nobody has seen yet.
func TestVenueFails(t *testing.T) {
	s := up(t)
	t.Cleanup(func() { s.fault(t, "none", 0) })
	for i, mode := range []string{"refuse", "hang", "garbage", "429"} {
		phantom := strconv.Itoa(888_000_700 + i) // no venue lists it
		held, fresh, called := s.venue(t, 0.4), s.venue(t, 0.6), s.venue(t, 0.6)
		first := s.person(t).call(t, held, "YES", 4100)
		p, q := s.person(t), s.person(t)
		p.auth(t)
		q.auth(t)
		s.fault(t, mode, 60)
		began := time.Now()
		s.signal(t, p.call(t, held, "NO", 5900)).has(obj{"crowdYesAtSignal": 4000, "priceAtPrediction": 5900})
		get(t, s.Hub+"/api/m/"+held).is(http.StatusOK).has(obj{"status": "open", "yesBps": 4000})
		get(t, s.Hub+"/api/m/"+held+"/crowd").is(http.StatusOK).has(obj{"totalSignals": 2})
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("%s: what is held took %v", mode, took)
		}
		if mode == "429" {
			// The venue is there and asks for time: so do we.
			a, err := try(t, http.MethodPost, s.Hub+"/api/predictions", p.auth(t), payload(obj{"marketId": called, "direction": "YES", "priceAtPrediction": 6100}))
			if err != nil {
				t.Fatal(err)
			}
			a.fails(http.StatusServiceUnavailable, "signal_service_unavailable")
		} else {
			// Accepted without a snapshot: the only call that has none.
			blind := p.call(t, called, "YES", 6100, obj{"marketTitle": "Will the bridge hold?"})
			s.signal(t, blind).has(obj{"crowdYesAtSignal": nil, "marketTitle": called, "priceVerified": false, "priceAtPrediction": 6100})
			get(t, s.Hub+"/api/m/"+called).is(http.StatusOK).has(obj{"status": "unknown", "question": called, "yesBps": nil})
			p.call(t, phantom, "YES", 6100)
		}
		get(t, s.Hub+"/api/m/"+fresh).is(http.StatusServiceUnavailable).has(obj{"error": "venue_unavailable"})
		if took := time.Since(began); took > 12*time.Second {
			t.Errorf("%s: everything took %v", mode, took)
		}
		s.fault(t, "none", 0)
		testkit.Eventually(t, 40*time.Second, func() bool { return get(t, s.Hub+"/api/m/"+fresh).status == http.StatusOK })
		testkit.Eventually(t, 40*time.Second, func() bool { return get(t, s.Hub+"/api/m/"+called).str("status") == "open" })
		s.signal(t, q.call(t, called, "NO", 4100)).has(obj{"crowdYesAtSignal": 6000})
		// What its venue does not know takes no more calls, whoever was there first.
		q.file(t, phantom, "YES", 6100).fails(http.StatusNotFound, "market_not_found")
		get(t, s.Hub+"/api/m/"+phantom).fails(http.StatusNotFound, "not_found")
		s.signal(t, first).has(obj{"status": "pending"})
	}
}

// TestRedisGone: with a Redis that hangs, and with one that is killed, everything
// works, limits are kept in the process, and sockets are fed from the database.
func TestRedisGone(t *testing.T) {
	s := up(t)
	p := s.person(t)
	market := s.native(t, 5000)
	channel := "market:" + market
	k := s.connect(t, nil)
	k.say(obj{"op": "subscribe", "channels": []string{channel}})
	id := p.call(t, market, "YES", 5000)
	k.event(channel, "signal.created")

	resume := testkit.Hang(t, s.PIDs["redis"])
	began := time.Now()
	post(t, s.Hub+"/api/signals/"+id+"/events", p.auth(t), payload(obj{"type": "reaffirm"})).is(http.StatusCreated)
	k.event(channel, "signal.event")
	later := s.connect(t, nil)
	later.say(obj{"op": "subscribe", "channels": []string{channel}, "since": obj{channel: 0}})
	later.event(channel, "signal.created")
	later.event(channel, "signal.event")
	for _, url := range []string{s.Hub + "/api/signals/feed?limit=7", s.Hub + "/api/operator/leaderboard?limit=7", s.API + "/api/v1/feed?limit=7", s.Clock + "/program/now"} {
		if a := get(t, url).is(http.StatusOK); a.header.Get("X-Degraded") != "" {
			t.Errorf("%s: %s", url, a.header.Get("X-Degraded"))
		}
	}
	fast, _ := s.person(t).mint(t, "fast") // a new key, counted here alone
	taken := 0
	for range 70 {
		if a := post(t, s.Hub+"/api/signals/"+id+"/events", bearer(fast), payload(obj{"type": "reaffirm"})); a.status == http.StatusForbidden {
			taken++
		}
	}
	if taken != 60 {
		t.Errorf("without Redis %d requests of a key were taken", taken)
	}
	if took := time.Since(began); took > 15*time.Second {
		t.Errorf("with a hanging Redis it took %v", took)
	}
	resume()

	old := s.PIDs["redis"]
	s.kill(t, "redis")
	other := s.native(t, 5000)
	s.finalize(t, market, "YES")
	k.event(channel, "market.resolved")
	k.event(channel, "signal.resolved")
	p.call(t, other, "NO", 5000)
	s.back(t, "redis", old)
	s.signal(t, id).has(obj{"status": "won", "score": 50})
	redis := s.redis(t)
	testkit.Eventually(t, 30*time.Second, func() bool { // it is used again
		s.person(t).call(t, s.native(t, 5000), "YES", 5000)
		n, err := redis.XLen(t.Context(), "sc:feed").Result()
		keys, err2 := redis.Keys(t.Context(), "sc:*").Result()
		return err == nil && err2 == nil && n > 0 && len(keys) > 1
	})
	s.alive(t)
}

// TestPostgresKilled: in the middle of writing. Refusals say so, and nothing that
// was acknowledged is lost.
func TestPostgresKilled(t *testing.T) {
	s := up(t)
	refused := func(a *answer) bool {
		return a.status == http.StatusServiceUnavailable && errorCode(a.body) == "db_unavailable"
	}
	st := s.begin(t, func(kind string, a *answer) bool {
		if kind == "file" || kind == "one" {
			return a.status == http.StatusOK || refused(a)
		}
		return a.status == http.StatusOK
	})
	testkit.Eventually(t, 10*time.Second, func() bool { return st.count("file 200 ") > 20 })
	old := s.PIDs["postgres"]
	s.kill(t, "postgres")
	testkit.Eventually(t, 10*time.Second, func() bool { return st.count("file 503 db_unavailable") > 0 })
	s.back(t, "postgres", old)
	testkit.Eventually(t, 10*time.Second, func() bool { return st.more("file 200 ", 5) })
	st.end()
	s.alive(t)
	st.settle()
	forward(t, s, 1)
}

// TestLedgerKilled: under load. Lists are empty and say so, writes are refused
// and say so, and a socket that comes back has missed nothing.
func TestLedgerKilled(t *testing.T) {
	s := up(t)
	p := s.person(t)
	market := s.native(t, 5000)
	channel := "market:" + market
	k := s.connect(t, nil)
	k.say(obj{"op": "subscribe", "channels": []string{channel}})
	id := p.call(t, market, "YES", 5000)
	seen := k.event(channel, "signal.created").Seq
	st := s.begin(t, func(kind string, a *answer) bool {
		if kind == "file" || kind == "one" {
			return a.status == http.StatusOK || a.status == http.StatusServiceUnavailable && errorCode(a.body) == "signal_service_unavailable"
		}
		return a.status == http.StatusOK
	})
	testkit.Eventually(t, 10*time.Second, func() bool { return st.count("file 200 ") > 20 })
	old := s.PIDs["api"]
	s.kill(t, "api")
	testkit.Eventually(t, 10*time.Second, func() bool { return st.count("file 503 signal_service_unavailable") > 0 })
	s.back(t, "api", old)
	testkit.Eventually(t, 15*time.Second, func() bool { return st.more("file 200 ", 5) })
	st.end()
	s.alive(t)
	st.settle()
	post(t, s.Hub+"/api/signals/"+id+"/events", p.auth(t), payload(obj{"type": "reaffirm"})).is(http.StatusCreated)
	again := s.connect(t, nil)
	again.last[channel] = seen
	again.say(obj{"op": "subscribe", "channels": []string{channel}, "since": obj{channel: seen}})
	again.event(channel, "signal.event")
	forward(t, s, 1)
}

// TestClockAndHubKilled: the programme is off or old while the clock is away; the
// other hosts serve while the hub is.
func TestClockAndHubKilled(t *testing.T) {
	s := up(t)
	st := s.begin(t, func(kind string, a *answer) bool { return a.status == http.StatusOK })
	testkit.Eventually(t, 10*time.Second, func() bool { return st.count("programme 200 ") > 5 })
	old := s.PIDs["clock"]
	s.kill(t, "clock")
	s.back(t, "clock", old)
	testkit.Eventually(t, 20*time.Second, func() bool {
		a, err := try(t, http.MethodGet, s.Clock+"/program/now")
		return err == nil && a.status == http.StatusOK && a.at("segment") != nil
	})
	st.end()
	testkit.Eventually(t, 60*time.Second, func() bool {
		a := get(t, s.Hub+"/api/broadcast/program?preset=close&limit=9").is(http.StatusOK)
		return strings.Contains(string(a.body), `"enabled":true`)
	})
	old = s.PIDs["hub"]
	s.kill(t, "hub")
	get(t, s.API+"/api/v1/feed?limit=3").is(http.StatusOK)
	get(t, s.Clock+"/program/now").is(http.StatusOK)
	s.back(t, "hub", old)
	s.alive(t)
	st.settle()
}
