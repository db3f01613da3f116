package e2e

import (
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/testkit"
)

// TestOneCallWins: of many calls at the same time one is filed, and the others
// name it.
func TestOneCallWins(t *testing.T) {
	t.Parallel()
	s := up(t)
	p := s.person(t)
	market, auth := s.native(t, 5000), p.auth(t)
	var mu sync.Mutex
	filed, ids := 0, map[string]int{}
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			side := []string{"YES", "NO"}[i%2]
			a := post(t, s.Hub+"/api/predictions", auth, payload(obj{"marketId": market, "direction": side, "priceAtPrediction": 5000}))
			mu.Lock()
			defer mu.Unlock()
			if a.status == http.StatusOK {
				filed++
			} else if !a.again {
				a.fails(http.StatusConflict, "already_predicted")
			}
			ids[a.str("id")]++
		})
	}
	wg.Wait()
	if filed != 1 || len(ids) != 1 {
		t.Errorf("%d were filed, %v", filed, ids)
	}
	get(t, s.Hub+"/api/m/"+market+"/crowd").is(http.StatusOK).has(obj{"totalSignals": 1})
}

// TestBeatTheCrowd: won against the side that most of the crowd held.
func TestBeatTheCrowd(t *testing.T) {
	t.Parallel()
	s := up(t)
	beat := map[string]bool{}
	for _, v := range []struct {
		side    string
		price   int
		verdict string
		beats   bool
	}{{"YES", 3000, "YES", true}, {"NO", 7000, "NO", false}, {"YES", 3000, "NO", false}} {
		market := s.native(t, 3000)
		s.person(t).call(t, market, v.side, v.price)
		s.finalize(t, market, v.verdict)
		beat[market] = v.beats
	}
	even := s.native(t, 5000) // half is not below half
	s.person(t).call(t, even, "YES", 5000)
	s.finalize(t, even, "YES")
	beat[even] = false
	testkit.Eventually(t, 15*time.Second, func() bool {
		rows := get(t, s.Hub+"/api/signals/feed?type=beat_crowd&limit=50").is(http.StatusOK).has(obj{"type": "beat_crowd"}).list("signals")
		for market, want := range beat {
			if holds(rows, "marketId", market) != want {
				return false
			}
		}
		return true
	})
}

// TestTopForecasters: the best quarter of those with ten results, by their mean
// score, and what they called here.
func TestTopForecasters(t *testing.T) {
	t.Parallel()
	s := up(t)
	var best, rest []*person
	for i := range 12 {
		if p := s.person(t); i < 3 {
			best = append(best, p)
		} else {
			rest = append(rest, p)
		}
	}
	for range 10 {
		long, safe := s.native(t, 100), s.native(t, 9000)
		for _, p := range best {
			p.call(t, long, "YES", 0) // a hundred to one
		}
		for _, p := range rest {
			p.call(t, safe, "YES", 9000)
		}
		s.finalize(t, long, "YES")
		s.finalize(t, safe, "YES")
	}
	market := s.native(t, 5000)
	for i, p := range best {
		p.call(t, market, []string{"YES", "NO", "YES"}[i], 5000)
	}
	for _, p := range rest {
		p.call(t, market, "NO", 5000)
	}
	eventually(t, func() bool {
		a := get(t, s.Hub+"/api/m/"+market+"/crowd").is(http.StatusOK).has(obj{"totalSignals": 12, "yesPercent": 17, "noPercent": 83})
		return a.at("topForecasters") != nil && same(a.at("topForecasters.sampleSize"), 3) && same(a.at("topForecasters.yesPercent"), 67)
	}, "the best quarter")
}

// TestEventLimit: two hundred events to one signal, and its record stays as it was.
func TestEventLimit(t *testing.T) {
	t.Parallel()
	s := up(t)
	p := s.person(t)
	id := p.call(t, s.native(t, 5000), "YES", 5000)
	before := string(s.signal(t, id).body)
	url := s.Hub + "/api/signals/" + id + "/events"
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 50 {
				post(t, url, p.auth(t), payload(obj{"type": "reaffirm"}))
			}
		})
	}
	wg.Wait()
	post(t, url, p.auth(t), payload(obj{"type": "note", "payload": obj{"text": "one more"}})).fails(http.StatusConflict, "event_limit_reached")
	if n := len(get(t, url).is(http.StatusOK).list("events")); n != 200 {
		t.Errorf("%d events", n)
	}
	if after := string(s.signal(t, id).body); after != before {
		t.Errorf("the signal changed:\n%s\n%s", before, after)
	}
}

// TestAdminGuessing: ten wrong secrets from an address are enough, for it alone.
func TestAdminGuessing(t *testing.T) {
	t.Parallel()
	s := up(t)
	from := &http.Transport{DialContext: (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 9, 1)}}).DialContext}
	t.Cleanup(from.CloseIdleConnections)
	client := &http.Client{Transport: &watcher{next: from}, Timeout: 10 * time.Second}
	ask := func(secret string) int {
		r, err := http.NewRequestWithContext(watched(t.Context(), t), http.MethodGet, s.Hub+"/api/admin/resolve-signals", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("x-admin-secret", secret)
		res, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		return res.StatusCode
	}
	for range 10 {
		if got := ask("guess"); got != http.StatusForbidden {
			t.Errorf("a wrong secret: %d", got)
		}
	}
	for _, secret := range []string{"guess", s.AdminSecret} {
		if got := ask(secret); got != http.StatusTooManyRequests {
			t.Errorf("after ten wrong secrets: %d", got)
		}
	}
	post(t, s.Hub+"/api/admin/markets", s.admin(), payload("{}")).fails(http.StatusBadRequest, "missing_question")
}

// TestSocketsOfAKey: five at a time.
func TestSocketsOfAKey(t *testing.T) {
	t.Parallel()
	s := up(t)
	key, _ := s.person(t).mint(t, "sockets")
	header := http.Header{"Authorization": {"Bearer " + key}}
	first := s.connect(t, header)
	for range 4 {
		s.connect(t, header)
	}
	handshake := func(r *http.Request) {
		for name, value := range map[string]string{"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="} {
			r.Header.Set(name, value)
		}
	}
	get(t, s.API+"/ws", bearer(key), handshake).is(http.StatusTooManyRequests).has(obj{"error": "rate_limited", "limit": 5})
	_ = first.conn.CloseNow()
	testkit.Eventually(t, 10*time.Second, func() bool {
		k, err := s.tryConnect(t, header)
		return err == nil && k != nil
	})
}
