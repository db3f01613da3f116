package video

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalcast/signalcast/test/system/browser"
	"github.com/signalcast/signalcast/test/system/stack"
)

// The feed of the programme has a call, its take and its outcome once each, however it is cut into pages.
func TestBroadcastFeed(t *testing.T) {
	t.Parallel()
	s := system(t)
	o, market := s.NewOperator(t), s.NewNativeMarket(t, 5000, nil)
	events := "/api/signals/" + o.NewCall(t, market, "YES", 5000, nil) + "/events"
	for kind, text := range map[string]string{"take": "<b>dry</b> " + market, "note": "no take " + market} {
		o.Send(t, events, http.StatusCreated, stack.Bearer(o.Key), stack.JSON{"type": kind, "payload": stack.JSON{"text": text}})
	}
	s.Finalize(t, market, "NO")
	want := []string{"resolved Resolved NO", "take <b>dry</b> " + market, "signal <nil>"}
	stack.Eventually(t, browser.Within, "the call in the feed", func() bool { return cmp.Equal(itemsOf(t, s, market, 100), want) })
	if diff := cmp.Diff(want, itemsOf(t, s, market, 1)); diff != "" {
		t.Errorf("the feed in pages of one item (-want +got):\n%s", diff)
	}
	stack.Eventually(t, browser.Within, "bumpers of the next market and of the outcome", func() bool {
		a := read(t, s.Hub+"/api/broadcast/bumpers")
		return a.Contains(`"next_up"`) && a.Contains(market)
	})
}

// itemsOf reads the feed in pages of a size, up to three items of a market, and returns them as type and text.
func itemsOf(t *testing.T, s *stack.Stack, market string, size int) (items []string) {
	t.Helper()
	cursor := ""
	for range 400 {
		a := read(t, fmt.Sprintf("%s/api/broadcast/feed?types=signal,take,resolved&limit=%d&cursor=%s", s.Hub, size, cursor))
		for _, raw := range a.List("items") {
			item := raw.(map[string]any)
			if item["marketId"] != market {
				continue
			}
			items = append(items, fmt.Sprint(item["type"], " ", item["text"]))
			if item["title"] == nil || item["data"] == nil || !strings.HasPrefix(fmt.Sprint(item["href"]), s.Hub) {
				t.Errorf("an item without title, data or address: %v", item)
			}
		}
		if cursor = a.Member("next_cursor"); len(items) == 3 || cursor == "" {
			break
		}
	}
	return items
}
