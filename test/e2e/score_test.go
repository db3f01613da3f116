package e2e

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/testkit"
)

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// masked is how an operator of the primary issuer is shown in public.
func (s *stack) masked(subject string) string {
	raw, err := os.ReadFile(filepath.Join(s.dir, "secrets.json"))
	if err != nil {
		return err.Error()
	}
	var secrets struct {
		Mask string `json:"maskSecret"`
	}
	if err := json.Unmarshal(raw, &secrets); err != nil {
		return err.Error()
	}
	mac := hmac.New(sha256.New, []byte(secrets.Mask))
	_, _ = mac.Write([]byte(subject))
	return "op_" + hex.EncodeToString(mac.Sum(nil))[:16]
}

// basis is the price that was scored, from the event of the result.
func basis(t testing.TB, s *stack, id string) any {
	t.Helper()
	a := get(t, s.Hub+"/api/signals/"+id+"/events").is(http.StatusOK)
	for i, e := range a.list("events") {
		if e.(map[string]any)["type"] == "resolved" {
			a.has(obj{"events." + strconv.Itoa(i) + ".payload.scoringVersion": "1.1", "events." + strconv.Itoa(i) + ".payload.scoringVertical": "SCIENCE"})
			return a.at("events." + strconv.Itoa(i) + ".payload.scoreBasisBps")
		}
	}
	t.Fatalf("no result: %s", a.body)
	return nil
}

// TestScoreVectors: what each price earns and costs.
func TestScoreVectors(t *testing.T) {
	t.Parallel()
	s := up(t)
	right, wrong := s.person(t), s.person(t)
	for _, v := range []struct{ price, won, lost int }{
		{0, 99, -1},
		{40, 99, -1},
		{100, 99, -1},
		{150, 98, -2},
		{1250, 87, -13},
		{3333, 66, -34},
		{5000, 50, -50},
		{6400, 36, -64},
		{9900, 1, -99},
		{9960, 0, -100},
		{10000, 0, -100},
	} {
		yes := min(max(v.price, 100), 9900) // the lowest price that the call can be scored with
		up, down := s.native(t, yes), s.native(t, yes)
		won, lost := right.call(t, up, "YES", v.price), wrong.call(t, down, "YES", v.price)
		s.finalize(t, up, "YES")
		s.finalize(t, down, "NO")
		s.signal(t, won).has(obj{"status": "won", "score": v.won, "outcome": "YES"})
		s.signal(t, lost).has(obj{"status": "lost", "score": v.lost, "outcome": "NO"})
		if got := basis(t, s, won); !same(got, max(v.price, yes)) {
			t.Errorf("%d was scored as %v", v.price, got)
		}
	}
}

// TestPriceVectors checks that a NO call that carries the price of YES is converted, and that a
// price better than the market's is not what is scored.
func TestPriceVectors(t *testing.T) {
	t.Parallel()
	s := up(t)
	p := s.person(t)
	for _, v := range []struct {
		side                 string
		price, stored, basis int
	}{
		{"NO", 3000, 7000, 7000},
		{"NO", 7100, 7100, 7100},
		{"NO", 6900, 6900, 7000},
		{"NO", 5000, 5000, 7000},
		{"YES", 100, 100, 3000},
		{"YES", 3400, 3400, 3400},
		{"YES", 7000, 7000, 7000},
	} {
		market := s.native(t, 3000)
		id := p.call(t, market, v.side, v.price)
		s.signal(t, id).has(obj{"priceAtPrediction": v.stored, "direction": v.side})
		s.finalize(t, market, "YES")
		if got := basis(t, s, id); !same(got, v.basis) {
			t.Errorf("%s at %d is scored as %v, want %d", v.side, v.price, got, v.basis)
		}
	}
}

// TestClosingLine checks the closing line value of calls at prices worse than the market's.
func TestClosingLine(t *testing.T) {
	t.Parallel()
	s := up(t)
	market, void := s.venue(t, 0.71), s.venue(t, 0.71)
	type line struct {
		side  string
		price int
		clv   int
		id    string
	}
	lines := []line{{"YES", 8010, -910, ""}, {"NO", 3810, -910, ""}, {"NO", 3300, -400, ""}}
	for i := range lines {
		lines[i].id = s.person(t).call(t, market, lines[i].side, lines[i].price)
	}
	nothing := s.person(t).call(t, void, "YES", 6190)
	for _, f := range []obj{{"marketId": market, "outcome": "YES"}, {"marketId": void, "outcome": "INVALID"}} {
		post(t, s.Hub+"/api/admin/resolve-signals", s.admin(), payload(f)).is(http.StatusOK).has(obj{"mode": "force", "outcome.resolver": "admin", "outcome.source": "admin"})
	}
	for _, l := range lines {
		s.signal(t, l.id).has(obj{"closePrice": 7100, "clvBps": l.clv})
	}
	s.signal(t, nothing).has(obj{"status": "void", "score": 0, "clvBps": nil, "outcome": nil})
}

// TestSampleOperator: twelve won and six lost at 64 cents, one void, five open.
func TestSampleOperator(t *testing.T) {
	t.Parallel()
	s := up(t)
	p := s.person(t)
	for i := range 24 {
		market := s.native(t, 6400)
		p.call(t, market, "YES", 6400)
		switch {
		case i < 12:
			s.finalize(t, market, "YES")
		case i < 18:
			s.finalize(t, market, "NO")
		case i == 18:
			s.finalize(t, market, "INVALID").has(obj{"void": 1, "scored": 1})
		}
	}
	var row map[string]any
	testkit.Eventually(t, 20*time.Second, func() bool {
		for _, r := range get(t, s.API+"/api/v1/signals/leaderboard?limit=200&operators=all").is(http.StatusOK).list("leaderboard") {
			if m := r.(map[string]any); m["callsign"] == p.user {
				row = m
			}
		}
		return row != nil && same(row["pending"], 5) && same(row["won"], 12) && same(row["lost"], 6)
	})
	for name, want := range map[string]any{"score": 48, "accuracy": 67, "total": 24, "isAi": false, "tier": "independent"} {
		if !same(row[name], want) {
			t.Errorf("%s is %v, want %v", name, row[name], want)
		}
	}
	// 0.5 + 48 / (50 * 28) of skill, 24 of 28 calls of activity, nobody watching.
	skill, activity := 0.5+48.0/(50*28), 24.0/28
	want := int(500*skill + 300*activity + 0.5)
	testkit.Eventually(t, 20*time.Second, func() bool {
		for _, r := range get(t, s.Hub+"/api/operator/leaderboard?limit=100&window=28d").is(http.StatusOK).list("leaderboard") {
			if m := r.(map[string]any); m["handle"] == p.user && same(m["pending"], 5) {
				if !same(m["broadcastScore"], want) {
					t.Errorf("broadcast score %v, want %d", m["broadcastScore"], want)
				}
				return true
			}
		}
		return false
	})
}

// TestNativePrice: the price of a market of our own is its smoothed crowd.
func TestNativePrice(t *testing.T) {
	t.Parallel()
	s := up(t)
	market := s.native(t, 5000)
	for i, v := range []struct {
		side string
		yes  int
	}{{"YES", 5556}, {"YES", 6000}, {"NO", 5455}, {"YES", 5833}} { // three of four
		s.person(t).call(t, market, v.side, 5000)
		get(t, s.Hub+"/api/m/"+market).is(http.StatusOK).has(obj{"yesBps": v.yes})
		get(t, s.Hub+"/api/m/"+market+"/crowd").is(http.StatusOK).has(obj{"totalSignals": i + 1})
	}
	get(t, s.Hub+"/api/m/"+market+"/signals?limit=2").is(http.StatusOK).has(obj{"count": 4, "yes": 3, "no": 1})
	pages(t, fmt.Sprintf("%s/api/m/%s/signals?limit=1", s.Hub, market), 4)
}

// pages walks a list by its cursor and counts what it gets, each row once.
func pages(t *testing.T, url string, want int) {
	t.Helper()
	seen, next := map[string]bool{}, ""
	for range want + 1 {
		a := get(t, url+"&cursor="+next).is(http.StatusOK)
		for _, row := range a.list("signals") {
			seen[row.(map[string]any)["id"].(string)] = true
		}
		if a.at("next_cursor") == nil {
			break
		}
		next = a.str("next_cursor")
	}
	if len(seen) != want {
		t.Errorf("%s: %d rows, want %d", url, len(seen), want)
	}
}
