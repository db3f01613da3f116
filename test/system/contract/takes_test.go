package contract

import (
	"net/http"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/signalcast/signalcast/test/system/stack"
)

// TestTextOfACallIsATake checks that a call with a text counts as one take of its market, like a later event of type take, and
// that a call without a text does not.
func TestTextOfACallIsATake(t *testing.T) {
	t.Parallel()
	s := system(t)
	market := s.NewNativeMarket(t, 5000, nil)
	with, without := s.NewOperator(t), s.NewOperator(t)
	call := stack.Call(market, "YES", 5000)
	call["textTake"] = "The gauge rises."
	id := with.File(t, call).Require(http.StatusOK).Text("id")
	empty := stack.Call(market, "NO", 5000)
	empty["textTake"] = ""
	without.File(t, empty).Require(http.StatusOK)
	takes := func(total, yes int) {
		t.Helper()
		stack.Eventually(t, 60*time.Second, "the takes of the market", func() bool {
			a := get(t, s.Hub+"/api/m/"+market+"/sentiment").Require(http.StatusOK)
			return a.Int("takes.total") == total && a.Int("takes.yes") == yes && a.Int("takes.no") == total-yes
		})
	}
	takes(1, 1)
	with.Send(t, "/api/signals/"+id+"/events", http.StatusCreated, stack.Bearer(with.Key),
		stack.JSON{"type": "take", "payload": stack.JSON{"text": "It still rises."}})
	takes(2, 2)
}

// TestCallsAfterATime checks the filters of the list of calls by time.
func TestCallsAfterATime(t *testing.T) {
	t.Parallel()
	s := system(t)
	o := s.NewOperator(t)
	first, second, third := s.NewNativeMarket(t, 5000, nil), s.NewNativeMarket(t, 5000, nil), s.NewNativeMarket(t, 5000, nil)
	o.File(t, stack.Call(first, "YES", 5000)).Require(http.StatusOK)
	id := o.File(t, stack.Call(second, "YES", 5000)).Require(http.StatusOK).Text("id")
	created := s.Signal(t, id).Text("createdAt")
	o.File(t, stack.Call(third, "YES", 5000)).Require(http.StatusOK)
	s.Finalize(t, first, "YES")
	s.Finalize(t, second, "NO")
	resolved := s.Signal(t, id).Text("resolvedAt")
	s.Finalize(t, third, "NO")
	for query, want := range map[string][]string{
		"":                         {third, second, first},
		"&createdAfter=" + created: {third},
		"&createdAfter=2020-01-01T00:00:00%2B02:00":               {third, second, first},
		"&createdAfter=yesterday":                                 {third, second, first},
		"&resolvedAfter=" + resolved:                              {third},
		"&resolvedAfter=2020-01-01T00:00:00Z&status=lost":         {third, second},
		"&resolvedAfter=2999-01-01T00:00:00Z":                     nil,
		"&createdAfter=" + created + "&resolvedAfter=" + resolved: {third},
	} {
		for _, list := range []string{
			s.API + "/api/v1/signals?limit=1&handle=" + url.QueryEscape(o.Handle), s.API + "/api/v1/users/" + o.Handle + "/signals?limit=1",
		} {
			var got []string
			cursor := ""
			for range 5 {
				var page struct {
					Signals []struct{ MarketID string }
					Next    string `json:"next_cursor"`
				}
				get(t, list+query+cursor, stack.Bearer(o.Key)).Require(http.StatusOK).Decode(&page)
				for _, one := range page.Signals {
					got = append(got, one.MarketID)
				}
				if page.Next == "" {
					break
				}
				cursor = "&cursor=" + page.Next
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s%s has the markets %v, want %v", list, query, got, want)
			}
		}
	}
}
