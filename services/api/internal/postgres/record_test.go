package postgres

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/board"
	"github.com/signalcast/signalcast/services/api/internal/operator"
	"github.com/signalcast/signalcast/services/api/internal/record"
	"github.com/signalcast/signalcast/services/api/internal/resolution"
	"github.com/signalcast/signalcast/services/api/internal/signal"
)

// plainRecord is a record that is computed in Go from stored calls and results only.
type plainRecord struct {
	stats   record.Stats
	best    *record.Best
	recent  []string
	moments []string
	rank    *int64
	field   int64
	cast    int
}

// plainCall is a stored call and its result, if it has one.
type plainCall struct {
	id, market, title, status string
	basis                     protocol.Bps
	counted, line             bool
	score                     int64
	clv                       *int64
	filed, resolved           time.Time
}

func (b *bundle) plainCalls(handle string) []plainCall {
	b.t.Helper()
	rows, err := b.admin.Query(b.t.Context(), `SELECT s.id, s.market_id, s.market_title, coalesce(r.status, 'pending'), coalesce(r.basis_bps, s.score_basis_bps), coalesce(r.counted, false), s.market_id NOT LIKE 'native-%',
		coalesce(r.score, 0), r.clv_bps, s.created_at, coalesce(r.resolved_at, 'epoch')
		FROM api.signals s JOIN api.users u ON u.id = s.user_id LEFT JOIN api.signal_results r ON r.signal_id = s.id WHERE u.handle = $1`, handle)
	if err != nil {
		b.t.Fatal(err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (plainCall, error) {
		var c plainCall
		err := row.Scan(&c.id, &c.market, &c.title, &c.status, &c.basis, &c.counted, &c.line, &c.score, &c.clv, &c.filed, &c.resolved)
		return c, err
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return list
}

func plain(calls []plainCall) plainRecord {
	var p plainRecord
	var clv, clvs int64
	slices.SortFunc(calls, func(a, b plainCall) int { return cmp.Or(b.filed.Compare(a.filed), cmp.Compare(b.id, a.id)) })
	for _, c := range calls[:min(len(calls), 5)] {
		p.recent = append(p.recent, c.id)
	}
	slices.SortFunc(calls, func(a, b plainCall) int {
		return cmp.Or(b.resolved.Compare(a.resolved), b.filed.Compare(a.filed), cmp.Compare(b.id, a.id))
	})
	running := true
	var minted []plainCall
	for _, c := range calls {
		p.stats.Total++
		if c.counted {
			p.stats.Score += c.score
		}
		switch c.status {
		case "void":
			p.stats.Void++
		case "lost":
			p.stats.Lost++
			running = running && !c.counted
		case "won":
			p.stats.Won++
			if !c.counted {
				break
			}
			if running {
				p.stats.Streak++
			}
			if p.best == nil || c.basis < p.best.Odds || c.basis == p.best.Odds && c.id < p.best.SignalID {
				p.best = &record.Best{SignalID: c.id, MarketID: c.market, MarketTitle: c.title, Odds: c.basis}
			}
			if c.basis <= 5000 {
				minted = append(minted, c)
			}
		}
		if c.clv != nil && c.counted && c.line {
			clv, clvs = clv+*c.clv, clvs+1
		}
	}
	if clvs > 0 {
		// Rounds half away from zero, in tenths. This suffices for the numbers of this test.
		tenths, away := clv*10/clvs, int64(5)
		if clv < 0 {
			away = -5
		}
		mean := int((tenths + away) / 10)
		p.stats.AvgCLV = &mean
	}
	slices.SortFunc(minted, func(a, b plainCall) int { return cmp.Or(b.resolved.Compare(a.resolved), cmp.Compare(b.id, a.id)) })
	for _, c := range minted[:min(len(minted), 4)] {
		p.moments = append(p.moments, c.id)
	}
	return p
}

// records returns a record.Service that uses the store.
func (l *ledger) records() *record.Service {
	return record.NewService(l.Store, board.NewService(l.Store, l.clock.Now), operator.NewService(l.Store, maskSecret, l.clock.Now), l.clock.Now)
}

// compareRecords compares every record, and the number of ranked operators, with a computation in Go.
func (l *ledger) compareRecords(when string) {
	l.t.Helper()
	svc := l.records()
	all := l.naive("")
	var field []naiveRow
	for _, r := range all {
		if r.tier != "automated" && r.counted > 0 {
			field = append(field, r)
		}
	}
	slices.SortFunc(field, func(a, b naiveRow) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.won+b.lost, a.won+a.lost), cmp.Compare(b.accuracy, a.accuracy), cmp.Compare(a.handle, b.handle))
	})
	list := must(svc.Ranked(l.t.Context(), 100))(l.t)
	if len(list) != len(field) {
		l.t.Fatalf("%s: %d operators are ranked, want %d", when, len(list), len(field))
	}
	for _, name := range l.people {
		want := plain(l.plainCalls(name))
		minutes := l.count(`SELECT coalesce(sum(v.viewer_seconds), 0)::bigint FROM api.viewer_reports v JOIN api.users u ON u.id = v.user_id
			WHERE u.handle = $1 AND v.at >= $2`, name, l.month()) / 60
		want.field, want.cast = int64(len(field)), castScore(0, 0, 0, 0, int64(minutes))
		for i, r := range field {
			if r.handle == name {
				rank := int64(i + 1)
				want.rank = &rank
				if got := list[i]; got.Operator.Handle != name || fmt.Sprint(got.Stats.Score, got.Stats.Streak, got.Stats.Won, got.Stats.Lost, show(got.Stats.AvgCLV)) !=
					fmt.Sprint(want.stats.Score, want.stats.Streak, want.stats.Won, want.stats.Lost, show(want.stats.AvgCLV)) {
					l.t.Fatalf("%s: place %d is %s %+v, want %s %+v", when, i+1, got.Operator.Handle, got.Stats, name, want.stats)
				}
			}
		}
		for _, r := range all {
			if r.handle == name {
				want.cast = r.castAll
			}
		}
		got := must(svc.Record(l.t.Context(), name, "", 5, 4))(l.t)
		var recent, moments []string
		for _, s := range got.Recent {
			recent = append(recent, s.ID)
		}
		for _, m := range got.Moments {
			moments = append(moments, m.SignalID)
		}
		shown := func(s record.Stats, b *record.Best, rank *int64, more ...any) string {
			clv := show(s.AvgCLV)
			s.AvgCLV = nil
			return fmt.Sprintf("%+v clv %s accuracy %d best %s rank %s %v", s, clv, resolution.Accuracy(s.Won, s.Lost), show(b), show(rank), more)
		}
		a, b := shown(got.Stats, got.Best, got.Rank, got.Field, got.Broadcast, recent, moments), shown(want.stats, want.best, want.rank, want.field, want.cast, want.recent, want.moments)
		if a != b {
			l.t.Fatalf("%s: record of %s:\n got %s\nwant %s", when, name, a, b)
		}
	}
}

func show[T any](v *T) string {
	if v == nil {
		return "none"
	}
	return fmt.Sprintf("%+v", *v)
}

// TestRecordsEqualPlainOnes checks after each random act that all records equal those computed in Go from stored calls and
// results.
func TestRecordsEqualPlainOnes(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			l := newLedger(t, 20+seed, 9)
			s := l.service()
			for i := range 300 {
				l.step(s)
				if i%5 == 4 {
					l.compareRecords(fmt.Sprint("step ", i))
				}
			}
			l.settle()
			l.compareRecords("settled")
			l.compareCourses()
			l.compareSkill()
		})
	}
}

// compareSkill compares the skill statistics of every operator with statistics computed from the results. All results must
// be in the feed.
func (l *ledger) compareSkill() {
	l.t.Helper()
	svc := l.records()
	for _, name := range l.people {
		for _, lane := range append([]string{""}, boardLanes...) {
			got := must(svc.Skill(l.t.Context(), name, lane, "all"))(l.t)
			want, some := l.sampleOf(name, lane).Report()
			if (got.Report != nil) != some || some && fmt.Sprintf("%+v", plainReport(*got.Report)) != fmt.Sprintf("%+v", plainReport(want)) {
				l.t.Fatalf("report of %s in lane %q: %+v, want %+v", name, lane, got.Report, want)
			}
			var calls int64
			for _, r := range got.Lanes {
				calls += r.Report.Calls
			}
			if lane == "" && calls != want.Calls {
				l.t.Fatalf("%s: lanes have %d calls of %d", name, calls, want.Calls)
			}
			month := must(svc.Skill(l.t.Context(), name, lane, "28d"))(l.t)
			n := l.count(`SELECT count(*) FROM api.signal_results r JOIN api.users u ON u.id = r.user_id WHERE u.handle = $1 AND ($2 = '' OR r.scoring_vertical = $2)
				AND r.counted AND r.resolved_at >= $3 AND EXISTS (SELECT FROM api.signals s WHERE s.id = r.signal_id AND s.market_id NOT LIKE 'native-%')`, name, lane, l.month())
			if (month.Report != nil) != (n > 0) || n > 0 && month.Report.Calls != int64(n) {
				l.t.Fatalf("report of %s in lane %q over 28 days: %+v, want %d calls", name, lane, month.Report, n)
			}
		}
	}
}

// compareCourses compares the course of points of every operator with its calls, both complete and limited. It also checks
// that the pages of a record contain every call once.
func (l *ledger) compareCourses() {
	l.t.Helper()
	svc := l.records()
	for _, name := range l.people {
		calls := l.plainCalls(name)
		l.comparePages(svc, name, calls)
		id := l.text(`SELECT id FROM api.users WHERE handle = $1`, name)
		slices.SortFunc(calls, func(a, b plainCall) int { return cmp.Or(b.filed.Compare(a.filed), cmp.Compare(b.id, a.id)) })
		for _, most := range []int{record.MaxHistoryCalls, len(calls) + 1, max(1, len(calls)/2)} {
			var end, seen int64
			for _, c := range calls {
				if c.counted {
					end += c.score
				}
			}
			looked := slices.DeleteFunc(slices.Clone(calls[:min(most, len(calls))]), func(c plainCall) bool { return !c.counted })
			slices.SortFunc(looked, func(a, b plainCall) int { return cmp.Or(a.resolved.Compare(b.resolved), cmp.Compare(a.id, b.id)) })
			before := end
			for _, c := range looked {
				before -= c.score
			}
			for _, steps := range []int{record.MaxSteps, 3} {
				got := must(l.ReadScoreHistory(l.t.Context(), id, most, steps))(l.t)
				if got.Before != before && len(looked) > 0 || got.Whole != (len(calls) < most) && len(looked) > 0 || len(got.Steps) != min(steps, len(looked)) {
					l.t.Fatalf("%s, newest %d: %+v of %d calls", name, most, got, len(looked))
				}
				at := before
				for seen = 0; len(got.Steps) > 0; got.Steps = got.Steps[1:] {
					p, variance := got.Steps[0], int64(0)
					for range p.Calls {
						at += looked[seen].score
						price := int64(min(max(looked[seen].basis, 1), 9999))
						variance += price * (10_000 - price)
						seen++
					}
					if p.Variance != variance || p.Score != at || !p.At.Equal(looked[seen-1].resolved) {
						l.t.Fatalf("%s, newest %d: %+v after %d calls, want %d", name, most, p, seen, at)
					}
				}
				if int(seen) != len(looked) || seen > 0 && at != end {
					l.t.Fatalf("%s: %d calls of %d, ends at %d of %d", name, seen, len(looked), at, end)
				}
			}
		}
	}
}

func (l *ledger) comparePages(svc *record.Service, name string, calls []plainCall) {
	l.t.Helper()
	seen, after := map[string]bool{}, protocol.Cursor{}
	for {
		p := must(svc.Calls(l.t.Context(), signal.CallQuery{Handle: name, Limit: 4, After: after}))(l.t)
		if len(p.Signals) > 4 || len(p.Signals) == 0 && len(calls) > 0 {
			l.t.Fatalf("%s: %d calls on a page", name, len(p.Signals))
		}
		for _, s := range p.Signals {
			seen[s.ID] = true
		}
		next, ok := protocol.DecodeCursor(p.Next, 1)
		if !ok {
			break
		}
		after = next
	}
	if len(seen) != len(calls) {
		l.t.Fatalf("%s: %d calls on the pages, want %d", name, len(seen), len(calls))
	}
}
