package postgres

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/search"
)

// offered is a market of a test of the list of all markets. move is -1 if the change of its price is unknown.
type offered struct {
	id       protocol.MarketID
	provider protocol.Provider
	lane     protocol.Lane
	status   protocol.MarketStatus
	end      *time.Time
	created  time.Time
	volume   *float64
	calls    int
	move     int
}

// offer stores n random markets with many equal values and returns them.
func (b *bundle) offer(n int) []offered {
	b.t.Helper()
	r := rand.New(rand.NewPCG(7, 7))
	all := make([]offered, n)
	moves := map[protocol.MarketID]int{}
	for i := range all {
		p := protocol.Providers[r.IntN(len(protocol.Providers))]
		m := offered{
			id: protocol.MarketID(p.Prefix() + fmt.Sprint(1000+i)), provider: p, lane: []protocol.Lane{protocol.LaneSport, protocol.LaneWorld}[r.IntN(2)],
			status:  []protocol.MarketStatus{protocol.MarketOpen, protocol.MarketClosed, protocol.MarketResolved, protocol.MarketUnknown}[r.IntN(4)],
			created: noon.Add(-time.Duration(r.IntN(40)) * time.Hour), calls: max(0, r.IntN(8)-4), move: r.IntN(6)*100 - 100,
		}
		if r.IntN(5) > 0 {
			end := noon.Add(time.Duration(r.IntN(20)-10) * time.Hour)
			m.end = &end
		}
		if r.IntN(5) > 0 {
			m.volume = new(float64(r.IntN(6) * 400))
		}
		if m.move >= 0 {
			moves[m.id] = m.move
		}
		all[i] = m
		var verdict, initial any
		if m.status == protocol.MarketResolved {
			verdict = "NO"
		}
		if p == protocol.Manual {
			initial = 5000
		}
		b.exec(`INSERT INTO api.market_quotes (market_id, yes_bps, at, volume_usd) VALUES ($1, 5000, $2, $3)`, string(m.id), noon, m.volume)
		b.exec(`INSERT INTO api.markets (market_id, provider, title, status, resolution_value, end_date, lane, initial_yes_bps, created_at, updated_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9)`, string(m.id), string(p), []string{"A gauge", "Some gauges"}[i%2], string(m.status),
			verdict, m.end, string(m.lane), initial, m.created)
		if m.calls > 0 || r.IntN(2) == 0 {
			b.exec(`INSERT INTO api.market_totals (market_id, yes, no) VALUES ($1, $2, 0)`, string(m.id), m.calls)
		}
	}
	if err := b.StoreMoves(b.t.Context(), moves, nil, true); err != nil {
		b.t.Fatal(err)
	}
	return all
}

// value returns the place of the market in an order, the first place having the smallest value.
func (m *offered) value(s search.Sort) float64 {
	switch s {
	case search.ByEndDate:
		if m.end == nil {
			return math.Inf(1)
		}
		return float64(m.end.Unix())
	case search.ByNewest:
		return -float64(m.created.Unix())
	case search.ByCalls:
		return -float64(m.calls)
	case search.ByMove:
		if m.move < 0 {
			return math.Inf(1)
		}
		return -float64(m.move)
	}
	if m.volume == nil {
		return math.Inf(1)
	}
	return -*m.volume
}

// matches reports whether a query without text selects the market.
func (m *offered) matches(q *search.Query) bool {
	status := q.Status == search.StatusAny || string(q.Status) == string(m.status) ||
		q.Status == search.StatusEnded && m.status != protocol.MarketOpen
	f := &q.Filter
	return status && m.status != protocol.MarketUnknown && (q.Provider == "" || q.Provider == m.provider) && (q.Lane == "" || q.Lane == m.lane) &&
		(f.EndAfter.IsZero() || m.end != nil && m.end.After(f.EndAfter)) && (f.EndBefore.IsZero() || m.end != nil && m.end.Before(f.EndBefore)) &&
		(f.MinVolume <= 0 || m.volume != nil && *m.volume >= f.MinVolume) && (len(f.IDs) == 0 || slices.Contains(f.IDs, m.id))
}

// listPages returns the ids of all pages of a query. The function between runs after each page.
func (b *bundle) listPages(q search.Query, between func()) []protocol.MarketID {
	b.t.Helper()
	s := search.NewService(b.Store, b.clock.Now)
	defer s.Close()
	var all []protocol.MarketID
	for range 1000 {
		ids, next, err := s.Find(b.t.Context(), q)
		if err != nil {
			b.t.Fatal(err)
		}
		if all = append(all, ids...); next == "" {
			return all
		}
		if between != nil {
			between()
		}
		q.Cursor = next
	}
	b.t.Fatal("the list does not end")
	return nil
}

// TestFindMarketsOfEveryStatus compares each order and filter of the list of all markets with a sort in memory.
func TestFindMarketsOfEveryStatus(t *testing.T) {
	t.Parallel()
	b := setup(t)
	all := b.offer(300)
	some := []protocol.MarketID{all[0].id, all[9].id, all[33].id, all[34].id, all[35].id, all[120].id, all[299].id, "404"}
	filters := []search.Filter{
		{},
		{EndAfter: noon.Add(-2 * time.Hour)},
		{EndBefore: noon.Add(3 * time.Hour)},
		{EndAfter: noon, EndBefore: noon.Add(3 * time.Hour), MinVolume: 400},
		{MinVolume: 800},
		{IDs: some},
		{IDs: some, MinVolume: 1, EndAfter: noon.Add(-9 * time.Hour)},
	}
	sorts := []search.Sort{search.ByVolume, search.ByEndDate, search.ByNewest, search.ByCalls, search.ByMove}
	for _, order := range sorts {
		for _, status := range []search.Status{search.StatusAny, search.StatusOpen, search.StatusClosed, search.StatusResolved, search.StatusEnded} {
			for i, f := range filters {
				q := search.Query{Sort: order, Status: status, Filter: f, Limit: 13}
				if i == 4 {
					q.Provider, q.Lane = protocol.Kalshi, protocol.LaneSport
				}
				var want []protocol.MarketID
				list := slices.DeleteFunc(slices.Clone(all), func(m offered) bool { return !m.matches(&q) })
				slices.SortFunc(list, func(x, y offered) int {
					return cmp.Or(cmp.Compare(x.value(order), y.value(order)), strings.Compare(string(x.id), string(y.id)))
				})
				for _, m := range list {
					want = append(want, m.id)
				}
				if got := b.listPages(q, nil); !slices.Equal(got, want) {
					t.Fatalf("%s %s filter %d: %d markets, want %d\n got %v\nwant %v", order, status, i, len(got), len(want), got, want)
				}
				q.Text = "gauge" // whole words before beginnings of words, and the same order in both classes
				got := b.listPages(q, nil)
				whole := slices.DeleteFunc(slices.Clone(want), func(id protocol.MarketID) bool { return placeOf(all, id)%2 == 1 })
				begun := slices.DeleteFunc(slices.Clone(want), func(id protocol.MarketID) bool { return placeOf(all, id)%2 == 0 })
				if !slices.Equal(got, append(whole, begun...)) {
					t.Fatalf("%s %s filter %d with a word:\n got %v\nwant %v", order, status, i, got, append(whole, begun...))
				}
			}
		}
	}
}

func placeOf(all []offered, id protocol.MarketID) int {
	return slices.IndexFunc(all, func(m offered) bool { return m.id == id })
}

// TestFindMarketsWhileTheyChange checks that a market whose values do not change is listed exactly once while other markets
// open, close, resolve, and change their values between two pages.
func TestFindMarketsWhileTheyChange(t *testing.T) {
	t.Parallel()
	b := setup(t)
	all := b.offer(200)
	for _, order := range []search.Sort{search.ByVolume, search.ByEndDate, search.ByNewest, search.ByCalls, search.ByMove} {
		r, added := rand.New(rand.NewPCG(1, 1)), 0
		change := func() {
			for range 5 {
				id := string(all[r.IntN(50)].id) // the others keep their values
				b.exec(`UPDATE api.market_quotes SET volume_usd = $2, at = at + interval '1 second' WHERE market_id = $1`, id, float64(r.IntN(3000)))
				b.exec(`UPDATE api.markets SET end_date = $2 WHERE market_id = $1 AND status <> 'resolved'`, id, noon.Add(time.Duration(r.IntN(20)-10)*time.Hour))
				b.exec(`INSERT INTO api.market_totals (market_id, yes) VALUES ($1, 1) ON CONFLICT (market_id) DO UPDATE SET yes = market_totals.yes + 1`, id)
				if err := b.StoreMoves(t.Context(), map[protocol.MarketID]int{protocol.MarketID(id): r.IntN(500)}, nil, false); err != nil {
					t.Fatal(err)
				}
			}
			added++
			m := gauge(fmt.Sprint(500_000+int(order[0])*1000+added), "A gauge", "", float64(r.IntN(3000)))
			b.list(m)
			closing := all[50+r.IntN(150)]
			b.exec(`UPDATE api.markets SET status = 'closed' WHERE market_id = $1 AND status = 'open'`, string(closing.id)) // keeps its place
		}
		got := b.listPages(search.Query{Sort: order, Status: search.StatusAny, Limit: 7}, change)
		for _, m := range all[50:] {
			n := 0
			for _, id := range got {
				if id == m.id {
					n++
				}
			}
			if want := map[bool]int{true: 0, false: 1}[m.status == protocol.MarketUnknown]; n != want {
				t.Errorf("%s: %s was listed %d times, want %d", order, m.id, n, want)
			}
		}
	}
}
