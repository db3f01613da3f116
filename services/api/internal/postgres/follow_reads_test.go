package postgres

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/feed"
	"github.com/signalcast/signalcast/services/api/internal/signal"
)

// TestFeedOfOperators checks that the pages of several operators have their events of the given types, newest first.
func TestFeedOfOperators(t *testing.T) {
	t.Parallel()
	b := setup(t)
	all := b.fill(120)
	ids := map[string]string{}
	for _, e := range all {
		ids[e.Handle] = e.Operator
	}
	for _, handles := range [][]string{{"mara_k"}, {"mara_k", "tide"}} {
		q := feed.Query{Types: []feed.Type{feed.SignalCreated, feed.MarketDisputed}, Limit: 7}
		for _, h := range handles {
			q.Operators = append(q.Operators, ids[h])
		}
		var want []int64
		for _, e := range all {
			if e.Type == feed.SignalCreated && slices.Contains(handles, e.Handle) {
				want = append(want, e.Seq)
			}
		}
		slices.Reverse(want)
		if diff := cmp.Diff(want, b.pages(q)); len(want) == 0 || diff != "" {
			t.Errorf("%q (-want +got):\n%s", handles, diff)
		}
	}
}

// TestCallers checks the pages of the operators with a call on a market, and the numbers of their calls.
func TestCallers(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.venueMarket("1", 5000)
	b.venueMarket("2", 5000)
	want := map[string]int64{}
	for _, name := range []string{"mara_k", "tide", "otto"} {
		id, hash := b.operator(name)
		want[id] = 1
		b.file(hash, "1", protocol.Yes, 5000)
		if name == "tide" {
			b.file(hash, "2", protocol.No, 5000)
			want[id] = 2
		}
	}
	var got []string
	for after := uuid.Nil.String(); ; after = got[len(got)-1] {
		page := must(b.ListCallers(t.Context(), "1", after, 2))(t)
		if got = append(got, page...); len(page) < 2 {
			break
		}
	}
	ids := slices.Sorted(maps.Keys(want))
	if !slices.Equal(got, ids) {
		t.Errorf("callers: %v, want %v", got, ids)
	}
	if counts := must(b.CountCalls(t.Context(), append(ids, uuid.NewString())))(t); !maps.Equal(counts, want) {
		t.Errorf("calls: %v, want %v", counts, want)
	}
	now := b.clock.Now()
	b.exec("UPDATE api.markets SET end_date = $1 WHERE market_id = '2'", now.Add(48*time.Hour))
	closing := must(b.ListClosingMarkets(t.Context(), ids[:2], []string{"1", "2", "3"}, now, now.Add(24*time.Hour)))(t)
	for i, c := range []signal.Closing{{MarketID: "1"}, {MarketID: "1", Operator: ids[0]}, {MarketID: "1", Operator: ids[1]}} {
		if len(closing) != 3 || !slices.Contains(closing, c) {
			t.Errorf("closing: %v, want %d: %v", closing, i, c)
		}
	}
	if list := must(b.ListOperatorsByID(t.Context(), append(ids, uuid.NewString())))(t); len(list) != len(ids) {
		t.Errorf("%d operators, want %d", len(list), len(ids))
	}
}
