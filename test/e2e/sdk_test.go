package e2e

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/testkit"
	sdk "github.com/signalcast/signalcast/sdk/go/feed"
)

// insist files a call until it is taken, while the ledger comes and goes. It gives no
// id when it never is.
func (p *person) insist(t testing.TB, market string) (id string) {
	testkit.Eventually(t, time.Minute, func() bool {
		a, err := try(t, http.MethodPost, p.s.Hub+"/api/predictions", p.auth(t), payload(obj{"marketId": market, "direction": "NO", "priceAtPrediction": 5000}))
		if err != nil || a.status != http.StatusOK && a.status != http.StatusConflict {
			return false
		}
		id = a.str("id")
		return true
	})
	return id
}

// TestSDKThroughKills: the library reads everything once and in order while calls are
// filed and the ledger is killed under it, and so does one that goes on from what
// another had seen.
func TestSDKThroughKills(t *testing.T) {
	s := up(t)
	market := s.native(t, 5000)
	names := []string{"signals", "market:" + market}
	client := openFeed(t, sdk.Options{URL: s.API + "/ws", Channels: names})
	first := s.person(t).call(t, market, "YES", 5000)
	seen := collect(t, client, market, first)
	callers := make([]*person, 14)
	for i := range callers {
		callers[i] = s.person(t)
		callers[i].auth(t) // has a key before anything breaks
	}
	filed := map[string]bool{first: true}
	done := make(chan string, len(callers))
	go func() {
		defer close(done)
		for _, p := range callers {
			done <- p.insist(t, market)
		}
	}()
	for range 2 {
		pid := up(t).PIDs["api"]
		filed[<-done] = true
		s.kill(t, "api")
		s.back(t, "api", pid)
	}
	last := first
	for id := range done {
		filed[id], last = true, id
	}
	seen.add(collect(t, client, market, last))
	seen.whole(t, filed)
	stats := client.Stats()
	if stats.Connections < 2 || stats.Lost != 0 {
		t.Errorf("%+v", stats)
	}
	t.Logf("%d calls, %+v", len(seen.ids), stats)

	since := map[string]int64{names[0]: seen.seqs[names[0]][0], names[1]: seen.seqs[names[1]][0]}
	again := collect(t, openFeed(t, sdk.Options{URL: s.API + "/ws", Channels: names, Since: since}), market, last)
	if got, want := len(again.ids), len(seen.ids)-1; got != want {
		t.Errorf("%d calls by one who goes on, want %d", got, want)
	}
}

func openFeed(t *testing.T, o sdk.Options) *sdk.Client {
	t.Helper()
	c, err := sdk.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// reading is what came of calls on a market, by channel.
type reading struct {
	seqs map[string][]int64
	ids  map[string]int // how often each call came on the market's channel
}

// collect reads until a call has come on both channels.
func collect(t *testing.T, c *sdk.Client, market, last string) *reading {
	t.Helper()
	r := &reading{seqs: map[string][]int64{}, ids: map[string]int{}}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for ended := 0; ended < 2; {
		m, err := c.Next(ctx)
		if err != nil {
			t.Fatalf("after %d calls: %v, %+v", len(r.ids), err, c.Stats())
		}
		e, ok := m.(*sdk.Event)
		if !ok || e.Type != "signal.created" {
			continue
		}
		var data struct{ ID, MarketID string }
		if err := json.Unmarshal(e.Data, &data); err != nil {
			t.Fatal(err)
		}
		if data.MarketID != market {
			continue
		}
		r.seqs[e.Channel] = append(r.seqs[e.Channel], e.Seq)
		if e.Channel != "signals" {
			r.ids[data.ID]++
		}
		if data.ID == last {
			ended++
		}
	}
	return r
}

func (r *reading) add(more *reading) {
	for channel, seqs := range more.seqs {
		r.seqs[channel] = append(r.seqs[channel], seqs...)
	}
	for id, n := range more.ids {
		r.ids[id] += n
	}
}

// whole demands every call that was filed, once, and rising numbers.
func (r *reading) whole(t *testing.T, filed map[string]bool) {
	t.Helper()
	for id := range filed {
		if r.ids[id] != 1 {
			t.Errorf("%s came %d times", id, r.ids[id])
		}
	}
	n := 0
	for channel, seqs := range r.seqs {
		if n == 0 {
			n = len(seqs)
		}
		if len(seqs) != n {
			t.Errorf("%d calls on %s, %d on the other", len(seqs), channel, n)
		}
		for i := 1; i < len(seqs); i++ {
			if seqs[i] <= seqs[i-1] {
				t.Errorf("%s: %d after %d", channel, seqs[i], seqs[i-1])
			}
		}
	}
}
