package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/testkit"
)

// TestAir: what the stack shows of the air beside the programme.
func TestAir(t *testing.T) {
	t.Parallel()
	s := up(t)

	// A call, what its owner says about it, and the outcome are in the feed, each once,
	// however the feed is cut into pages.
	market := s.native(t, 5000)
	p := s.person(t)
	signal := p.call(t, market, "YES", 5000)
	post(t, s.Hub+"/api/signals/"+signal+"/events", p.auth(t), payload(obj{"type": "take", "payload": obj{"text": "<b>dry</b> " + market}})).is(http.StatusCreated)
	post(t, s.Hub+"/api/signals/"+signal+"/events", p.auth(t), payload(obj{"type": "note", "payload": obj{"text": "no take " + market}})).is(http.StatusCreated)
	s.finalize(t, market, "NO")
	mine := func(limit int) (kinds []string) {
		cursor := ""
		for range 400 {
			a := get(t, fmt.Sprintf("%s/api/broadcast/feed?types=signal,take,resolved&limit=%d&cursor=%s", s.Hub, limit, cursor)).is(http.StatusOK)
			for _, raw := range a.list("items") {
				item, _ := raw.(map[string]any)
				if item["marketId"] == market {
					kinds = append(kinds, fmt.Sprint(item["type"], " ", item["text"]))
					if item["title"] == nil || item["data"] == nil || !strings.HasPrefix(fmt.Sprint(item["href"]), s.Hub) {
						t.Errorf("%v", item)
					}
				}
			}
			next := a.at("next_cursor")
			if len(kinds) == 3 || next == nil {
				break
			}
			cursor = fmt.Sprint(next)
		}
		return kinds
	}
	want := []string{"resolved Resolved NO", "take <b>dry</b> " + market, "signal <nil>"}
	eventually(t, func() bool { return slices.Equal(mine(100), want) }, "the call in the feed of the air")
	if got := mine(1); !slices.Equal(got, want) {
		t.Errorf("in pages of one: %v", got)
	}

	eventually(t, func() bool {
		a := get(t, s.Hub+"/api/broadcast/bumpers").is(http.StatusOK)
		return strings.Contains(string(a.body), `"next_up"`) && strings.Contains(string(a.body), market)
	}, "bumpers of what comes and of the outcome")
	eventually(t, func() bool { return get(t, s.Hub+"/api/broadcast/spotlight").is(http.StatusOK).at("spotlight") != nil }, "something in the spotlight")
	for _, cat := range []string{"sport", "crypto", "nonsense"} {
		buckets, _ := get(t, s.Hub+"/api/broadcast/schedule?cat="+cat).is(http.StatusOK).at("buckets").(map[string]any)
		for _, name := range []string{"ON AIR", "TODAY", "TOMORROW", "THIS WEEK", "THIS MONTH", "LATER"} {
			if _, there := buckets[name].([]any); !there || len(buckets) != 6 {
				t.Errorf("%s: no %s in %v", cat, name, buckets)
			}
		}
	}
	get(t, s.Hub+"/api/broadcast/influence?window=7d").is(http.StatusOK).has(obj{"window": "7d"})
}

// measured waits until what aired in a slot has its price of ten minutes later, with the
// clock's own time moved there.
func (s *stack) measured(t *testing.T, slot int64) {
	t.Helper()
	testkit.Eventually(t, time.Minute, func() bool {
		return s.row(t, fmt.Sprintf("SELECT (count(yes_bps_start) > 0)::text FROM clock.airings WHERE slot = %d", slot)) == "true"
	})
	end := time.Unix((slot+1)*int64(slotLength/time.Second), 0)
	s.moveClock(t, time.Until(end.Add(10*time.Minute+5*time.Second)))
	s.newClock(t)
	testkit.Eventually(t, 2*time.Minute, func() bool {
		a := get(t, s.Hub+"/api/broadcast/influence?window=1h&limit=200").is(http.StatusOK)
		return strings.Contains(string(a.body), fmt.Sprintf(":%d:c", slot)) && a.at("summary.baselineAbsMoveBps") != nil
	})
	var shown struct {
		Items []struct {
			YesBpsBefore, YesBpsAfter, MoveBps int
			SignalsDuring                      *int
			MeasuredAt                         time.Time
			EndedAt                            time.Time
		}
	}
	get(t, s.Hub+"/api/broadcast/influence?window=1h&limit=200").is(http.StatusOK).into(&shown)
	for _, one := range shown.Items {
		late := one.MeasuredAt.Sub(one.EndedAt)
		if one.MoveBps != one.YesBpsAfter-one.YesBpsBefore || one.SignalsDuring == nil || late < 10*time.Minute || late > 15*time.Minute {
			t.Errorf("%+v", one)
		}
	}
}
