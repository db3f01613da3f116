package postgres

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/feed"
)

// TestTakeFacts checks that facts of other services are stored once, and then get sequence numbers and channels in the given
// order.
func TestTakeFacts(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.venueMarket("701122", 3150)
	b.operator("mara_k")
	ids := []string{newUUID(), newUUID(), newUUID(), newUUID()}
	facts := []feed.Fact{
		{ID: ids[0], Type: feed.StreamBound, At: noon, MarketID: "701122", Handle: "mara_k", Data: []byte(`{"approved":true,"marketId":"701122"}`)},
		{ID: ids[1], Type: feed.SegmentStarted, At: noon, MarketID: "701122", Topic: "program:hot", Data: []byte(`{"n":1}`)},
		{ID: ids[2], Type: feed.OperatorLive, At: noon, Handle: "nobody_yet", Data: []byte(`{}`)},
		{ID: ids[3], Type: feed.StreamUnbound, At: noon.Add(time.Second), MarketID: "701122", Handle: "mara_k", Data: []byte(`{}`)},
	}
	for range 2 { // a sender repeats facts when the answer was lost
		if err := b.StoreFacts(t.Context(), facts[:3], nil); err != nil {
			t.Fatal(err)
		}
	}
	if n := b.market("701122").Streams; n != 1 {
		t.Errorf("%d streams", n)
	}
	if err := b.StoreFacts(t.Context(), facts, nil); err != nil {
		t.Fatal(err)
	}
	if n := b.market("701122").Streams; n != 0 {
		t.Errorf("%d streams", n)
	}
	b.number()
	events := b.events()
	var got [][]feed.Channel
	for i := range events {
		got = append(got, events[i].Channels())
	}
	want := [][]feed.Channel{{"market:701122"}, {"program:hot"}, {"live"}, {"market:701122"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	heads, err := b.FeedHeads(context.Background(), 4, []feed.Channel{"market:701122", "program:hot", "program:close", "live", "wire", "operator:mara_k", "me:mara_k"})
	if diff := cmp.Diff(map[feed.Channel]int64{"market:701122": 4, "program:hot": 2, "live": 3}, heads); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	for channel, n := range map[feed.Channel]int{"market:701122": 2, "program:hot": 1, "program:close": 0, "live": 1, "wire": 0, "me:mara_k": 0} {
		list, through, err := b.ListFeedChannel(t.Context(), channel, 0, 4, 10)
		if err != nil || len(list) != n || through != 4 {
			t.Errorf("%s: %d events through %d, %v", channel, len(list), through, err)
		}
	}
	if err := b.SweepPublished(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := b.count(`SELECT count(*) FROM api.published`); n != 4 {
		t.Errorf("%d ids are stored", n)
	}
}

// TestViewersOfMarkets checks that the viewers of a stream count for every market to which the stream is bound, until their
// report is too old. An older report changes nothing.
func TestViewersOfMarkets(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, id := range []string{"7", "8", "9"} {
		b.venueMarket(id, 3150)
	}
	var facts []feed.Fact
	for _, bound := range [][2]string{{"7", "mara_k"}, {"8", "mara_k"}, {"7", "tidewatch"}, {"9", "otto"}} {
		facts = append(facts, feed.Fact{ID: newUUID(), Type: feed.StreamBound, At: noon, MarketID: bound[0], Handle: bound[1], Data: []byte(`{"approved":true}`)})
	}
	facts = append(facts, feed.Fact{ID: newUUID(), Type: feed.StreamUnbound, At: noon.Add(time.Second), MarketID: "9", Handle: "otto", Data: []byte(`{}`)})
	if err := b.StoreFacts(t.Context(), facts, nil); err != nil {
		t.Fatal(err)
	}
	tell := func(at time.Time, list ...feed.Watching) {
		t.Helper()
		for i := range list {
			list[i].At = at
		}
		if err := b.StoreViewers(t.Context(), list); err != nil {
			t.Fatal(err)
		}
	}
	watched := func(since time.Time) map[string]int {
		t.Helper()
		return must(b.ListWatched(t.Context(), since))(t)
	}
	tell(noon, feed.Watching{Handle: "mara_k", Viewers: 37}, feed.Watching{Handle: "tidewatch", Viewers: 5}, feed.Watching{Handle: "otto", Viewers: 9}, feed.Watching{Handle: "unknown", Viewers: 1})
	if diff := cmp.Diff(map[string]int{"7": 42, "8": 37}, watched(noon.Add(-time.Minute))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	tell(noon.Add(-time.Second), feed.Watching{Handle: "mara_k", Viewers: 1})
	tell(noon.Add(time.Minute), feed.Watching{Handle: "tidewatch", Viewers: 1 << 40})
	if diff := cmp.Diff(map[string]int{"7": 2147483647, "8": 37}, watched(noon.Add(-time.Minute))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	tell(noon.Add(2*time.Minute), feed.Watching{Handle: "tidewatch"})
	if diff := cmp.Diff(map[string]int{}, watched(noon)); diff != "" { // the report about mara_k is too old
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestTapesOfMarkets checks that the newest report of the tapes of a market applies, also if reports arrive in another order.
func TestTapesOfMarkets(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.venueMarket("7", 3150)
	b.venueMarket("8", 3150)
	report := func(id protocol.MarketID, tapes int64, at time.Time) feed.Tapes {
		return feed.Tapes{MarketID: id, Tapes: tapes, At: at}
	}
	for _, step := range []struct {
		list []feed.Tapes
		want map[protocol.MarketID]int64
	}{
		{nil, map[protocol.MarketID]int64{"7": 0, "8": 0}},
		{[]feed.Tapes{report("7", 3, noon), report("unknown", 1, noon)}, map[protocol.MarketID]int64{"7": 3, "8": 0}},
		{[]feed.Tapes{report("7", 9, noon.Add(-time.Second)), report("8", 1<<40, noon)}, map[protocol.MarketID]int64{"7": 3, "8": 1 << 40}},
		{[]feed.Tapes{report("7", 1, noon.Add(3*time.Second)), report("7", 2, noon.Add(2*time.Second))}, map[protocol.MarketID]int64{"7": 1, "8": 1 << 40}},
		{[]feed.Tapes{report("7", 0, noon.Add(time.Minute))}, map[protocol.MarketID]int64{"7": 0, "8": 1 << 40}},
	} {
		if err := b.StoreTapes(t.Context(), step.list); err != nil {
			t.Fatal(err)
		}
		for _, m := range must(b.ListMarkets(t.Context(), []string{"7", "8"}))(t) {
			if m.Tapes != step.want[m.ID] {
				t.Errorf("after %v: market %s has %d tapes, want %d", step.list, m.ID, m.Tapes, step.want[m.ID])
			}
		}
	}
}

// TestMarketStreams checks the number of streams of a market after bound and unbound events, some of which are repeated.
func TestMarketStreams(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.venueMarket("7", 3150)
	b.venueMarket("8", 3150)
	tell := func(kind feed.Type, market, handle string) {
		t.Helper()
		f := feed.Fact{ID: newUUID(), Type: kind, At: noon, MarketID: market, Handle: handle, Data: []byte(`{"approved":true}`)}
		if err := b.StoreFacts(t.Context(), []feed.Fact{f}, nil); err != nil {
			t.Fatal(err)
		}
	}
	for _, handle := range []string{"mara", "tide", "tide"} { // the second event of tide has another label
		tell(feed.StreamBound, "7", handle)
	}
	tell(feed.StreamUnbound, "8", "mara") // the stream was never bound to market 8
	unapproved := feed.Fact{ID: newUUID(), Type: feed.StreamBound, At: noon, MarketID: "8", Handle: "otto", Data: []byte(`{"approved":false}`)}
	if err := b.StoreFacts(t.Context(), []feed.Fact{unapproved}, nil); err != nil {
		t.Fatal(err)
	}
	list, err := b.ListMarkets(t.Context(), []string{"7", "8"})
	if err != nil || len(list) != 2 {
		t.Fatal(list, err)
	}
	for _, m := range list {
		if want := map[protocol.MarketID]int32{"7": 2, "8": 0}[m.ID]; m.Streams != want {
			t.Errorf("%s has %d streams, want %d", m.ID, m.Streams, want)
		}
	}
	tell(feed.StreamUnbound, "7", "tide")
	tell(feed.StreamUnbound, "7", "tide")
	tell(feed.StreamBound, "7", "tide")
	tell(feed.StreamUnbound, "7", "mara")
	airable, err := b.ListAirable(t.Context(), noon, "", 0)
	if err != nil || len(airable) != 2 || airable[0].Streams+airable[1].Streams != 1 {
		t.Errorf("airable %+v, %v", airable, err)
	}
}

// TestChannelCopies checks that the newest copy of a channel remains stored, even if an older copy arrives later.
func TestChannelCopies(t *testing.T) {
	t.Parallel()
	b := setup(t)
	keep := func(at time.Time, data string) {
		t.Helper()
		if err := b.StoreFacts(t.Context(), nil, []feed.Copy{{Channel: "live", At: at, Data: []byte(data)}, {Channel: "live", At: at.Add(-time.Hour), Data: []byte(`{}`)}}); err != nil {
			t.Fatal(err)
		}
	}
	if got, found, err := b.FindCopy(t.Context(), "live"); found || err != nil {
		t.Errorf("copy before the first one was stored: %s %v", got, err)
	}
	keep(noon, `{"n":1}`)
	keep(noon.Add(time.Second), `{"n":2}`)
	keep(noon, `{"n":3}`)
	if got, _, err := b.FindCopy(t.Context(), "live"); string(got.Data) != `{"n":2}` || err != nil {
		t.Errorf("newest copy: %s %v", got, err)
	}
}
