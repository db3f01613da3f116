package postgres

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/clock/internal/program"
)

// fakeCalls is a fake ledger that counts seven calls for each market, or fails if down is true.
type fakeCalls struct {
	down     bool
	requests []string // market and length of the period of each request
}

func (c *fakeCalls) CountCalls(_ context.Context, id protocol.MarketID, from, to time.Time) (int64, error) {
	if c.down {
		return 0, errors.New("unavailable")
	}
	c.requests = append(c.requests, fmt.Sprint(id, " ", to.Sub(from)))
	return 7, nil
}

// studio is a fixture: a default channel with two lanes, its planner, and a Surveyor that measures the airings.
type studio struct {
	*bundle
	clock   *testkit.Clock
	copies  program.Copies
	list    []program.Market
	calls   fakeCalls
	planner *program.Planner
	survey  *program.Surveyor
}

func newStudio(t *testing.T) *studio {
	b := setup(t)
	s := &studio{bundle: b, clock: testkit.NewClock((b.slot + 3).Content().Add(2 * time.Second))}
	now := s.clock.Now()
	s.list = []program.Market{market(1, "sports", now), market(2, "crypto", now), market(3, "science", now), market(4, "tech", now), market(5, "tech", now)}
	s.planner = program.NewPlanner(b.Store, &s.copies, program.DefaultLanes(), s.clock.Now)
	s.newLeader()
	return s
}

// newLeader replaces the Surveyor with a new one, as if another replica became the leader.
func (s *studio) newLeader() {
	s.survey = program.NewSurveyor(s.Store, &s.copies, s.calls.CountCalls, s.clock.Now)
}

// tick fills the rundown, stores the airings and runs the Surveyor once.
func (s *studio) tick(t *testing.T) {
	t.Helper()
	s.copies.Markets.Store(program.NewPool(append([]program.Market(nil), s.list...), s.clock.Now(), uint64(s.clock.Now().UnixNano())))
	done, err := s.planner.Fill(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Publish(t.Context(), program.Publication{Airings: done.Airings, Now: s.clock.Now()}); err != nil {
		t.Fatal(err)
	}
	if err := s.survey.MeasureDue(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func (s *studio) influence(t *testing.T, window time.Duration, limit int) program.Influence {
	t.Helper()
	got, err := s.Influence(t.Context(), s.clock.Now().Add(-window), limit)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// TestSurvey checks that an airing is measured ten minutes after its end, even after a change of the leader. It is compared with
// markets that did not air in the same twenty minutes.
func TestSurvey(t *testing.T) {
	s := newStudio(t)
	k := program.SlotAt(s.clock.Now())
	s.tick(t)
	s.clock.Advance(5 * time.Second)
	s.list[0].Viewers = 12
	s.tick(t)
	s.list[0].Viewers = 40
	s.tick(t)
	s.newLeader()
	s.list[0].Viewers = 3
	s.tick(t)
	s.list[0].Yes, s.list[1].Yes = 3400, 3050                      // moves of +250 and -100 bps
	s.list[2].Yes, s.list[3].Yes, s.list[4].Yes = 3151, 3120, 3150 // moves of 1, 30 and 0 bps
	s.list[3].Status = protocol.MarketClosed                       // no longer airable
	s.clock.Advance((k + 1).End().Add(-20 * time.Second).Sub(s.clock.Now()))
	s.tick(t) // half a minute too early
	if got := s.influence(t, 24*time.Hour, 50); got.Airings != 0 || len(got.Items) != 0 || got.MeanMove != nil || got.BaselineMove != nil {
		t.Fatalf("influence before the measurement is due: %+v; want none", got)
	}
	if got := fmt.Sprint(s.survey.Needed()); got != "[1 2 3 4 5]" {
		t.Errorf("needed %s", got)
	}
	s.clock.Advance(11 * time.Second)
	s.tick(t)
	seven := int64(7)
	item := func(lane program.Lane, id protocol.MarketID, after protocol.Bps, viewers int32) program.Moved {
		return program.Moved{
			SegmentID: program.SegmentID("default", lane, k, program.Content), Market: id, Title: "Will " + string(id) + "?", Lane: lane,
			AiredAt: k.Content(), EndedAt: k.End(), Before: 3150, After: after, Signals: &seven, ViewersPeak: viewers, MeasuredAt: s.clock.Now(),
		}
	}
	got := s.influence(t, 24*time.Hour, 50)
	mean, baseline := 175.0, (1.0+30)/3
	want := program.Influence{
		Items: []program.Moved{item("sports", "1", 3400, 40), item("crypto", "2", 3050, 0)}, Airings: 2, MeanMove: &mean, BaselineMove: &baseline,
	}
	near := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-9 })
	if diff := cmp.Diff(want, got, near, cmp.Comparer(time.Time.Equal)); diff != "" {
		t.Errorf("influence (-want +got):\n%s", diff)
	}
	if got := fmt.Sprint(s.calls.requests); got != "[2 10m0s 1 10m0s]" && got != "[1 10m0s 2 10m0s]" {
		t.Errorf("requests for counts of calls: %s", got)
	}
	if got := s.influence(t, 24*time.Hour, 1); len(got.Items) != 1 || got.Airings != 2 {
		t.Errorf("a limit of one: %d of %d", len(got.Items), got.Airings)
	}
	if got := s.influence(t, 15*time.Minute, 9); got.Airings != 0 || got.BaselineMove != nil {
		t.Errorf("within 15 minutes: %+v", got)
	}
	// Measurements cannot be changed or deleted.
	for _, stmt := range []string{
		"UPDATE airings SET viewers_peak = 99 WHERE measured_at IS NOT NULL", "DELETE FROM airings",
		"UPDATE baselines SET measured = 1 WHERE measured_at IS NOT NULL", "DELETE FROM baselines",
	} {
		if _, err := s.pool.Exec(t.Context(), stmt); !refused(err) {
			t.Errorf("%s: %v", stmt, err)
		}
	}
	if _, err := s.admin.Exec(t.Context(), "TRUNCATE clock.airings, clock.baselines"); !refused(err) {
		t.Errorf("truncate: %v", err)
	}
}

// TestSurveyCountsMarketOnce checks that the calls of a market that airs on several channels in the same slot are counted with
// one request.
func TestSurveyCountsMarketOnce(t *testing.T) {
	s := newStudio(t)
	k := program.SlotAt(s.clock.Now())
	stations := []program.Station{{ID: "a"}, {ID: "b"}, {ID: "c", Lanes: []string{"SCIENCE"}}}
	n := &network{
		bundle: s.bundle, clock: s.clock, copies: &s.copies,
		fakeLedger: &fakeLedger{published: map[string]string{}, stations: stations},
	}
	s.tick(t)
	if err := n.planner().FillAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.list[0].Yes = 3250
	s.clock.Advance(k.End().Add(program.MeasureAfter).Sub(s.clock.Now()))
	s.tick(t)
	got := s.influence(t, 24*time.Hour, 50)
	var ids []string
	for _, m := range got.Items {
		ids = append(ids, m.SegmentID)
	}
	want := []string{fmt.Sprintf("default:sports:%d:c", k), fmt.Sprintf("default:crypto:%d:c", k), fmt.Sprintf("station.c:science:%d:c", k)}
	if diff := cmp.Diff(want, ids); diff != "" || got.Airings != 3 {
		t.Errorf("%d airings (-want +got):\n%s", got.Airings, diff)
	}
	if len(s.calls.requests) != 3 {
		t.Errorf("requests for counts of calls: %v; want 3", s.calls.requests)
	}
	// The science market airs on a station, so it is not part of the sample.
	if got.BaselineMove == nil || rowsOf(t, s.bundle, "SELECT measured FROM baselines WHERE slot = $1", int64(k)) != 2 {
		t.Errorf("baseline %v", got.BaselineMove)
	}
}

// TestSurveyTooLate checks that an airing that cannot be measured in time is stored without a result.
func TestSurveyTooLate(t *testing.T) {
	s := newStudio(t)
	k := program.SlotAt(s.clock.Now())
	s.tick(t)
	s.calls.down = true
	s.clock.Advance(k.End().Add(program.MeasureAfter).Sub(s.clock.Now()))
	s.tick(t) // the price is known, but the calls cannot be counted yet
	if got := s.influence(t, 24*time.Hour, 50); got.Airings != 0 {
		t.Fatalf("an airing was measured without a count of calls: %+v", got.Items)
	}
	s.clock.Advance(6 * time.Minute)
	s.tick(t)
	if n := rowsOf(t, s.bundle, "SELECT count(*) FROM airings WHERE slot = $1 AND measured_at IS NOT NULL AND yes_bps_after IS NULL AND signals_during IS NULL", int64(k)); n != 2 {
		t.Errorf("%d airings are stored without a result; want 2", n)
	}
	if got := s.influence(t, 24*time.Hour, 50); got.Airings != 0 {
		t.Errorf("influence contains airings without a measured price: %+v", got.Items)
	}
	if n := rowsOf(t, s.bundle, "SELECT count(*) FROM airings WHERE measured_at IS NULL AND ended_at < $1", s.clock.Now().Add(-20*time.Minute)); n != 0 {
		t.Errorf("%d airings are still unmeasured after 20 minutes; want 0", n)
	}
}

// TestSample checks that all replicas take the same sample, which has at most 200 markets and no market that airs.
func TestSample(t *testing.T) {
	s := newStudio(t)
	now := s.clock.Now()
	for i := range 1000 {
		s.list = append(s.list, market(1000+i, "economy", now))
	}
	s.tick(t)
	s.newLeader()
	s.tick(t)
	list, err := s.OpenSamples(t.Context(), program.SlotAt(now))
	if err != nil || len(list) != 1 || len(list[0].Markets) != program.MaxSample {
		t.Fatalf("%d samples, %v", len(list), err)
	}
	for i, id := range list[0].Markets {
		if id == "1" || id == "2" || list[0].Prices[i] != 3150 {
			t.Errorf("market %s with price %d is in the sample; want only markets that do not air, at 3150", id, list[0].Prices[i])
		}
	}
}

// TestDeleteOld checks that slots are deleted after one day, and airings and samples after eight days.
func TestDeleteOld(t *testing.T) {
	s := newStudio(t)
	now := s.now
	day := s.slot
	s.apply(t, 3, put("sports", day-200, "1", ""), put("sports", day-100, "2", ""), put("sports", day-1300, "3", ""))
	for _, k := range []program.Slot{day - 200, day - 1300} {
		a := program.Airing{
			SegmentID: program.SegmentID("default", "sports", k, program.Content), Channel: "default", Lane: "sports", Slot: k, Market: "1",
			StartedAt: k.Content(), EndedAt: k.End(), Yes: 3150,
		}
		if _, err := s.Publish(t.Context(), program.Publication{Airings: []program.Airing{a}, Now: now}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.AddSample(t.Context(), program.Sample{Slot: day - 1300}); err != nil {
		t.Fatal(err)
	}
	s.tick(t)
	if n := rowsOf(t, s.bundle, "SELECT count(*) FROM program_slots WHERE slot < $1", int64(day)); n != 1 {
		t.Errorf("%d old slots remain; want 1, the slot that is less than a day old", n)
	}
	if n := rowsOf(t, s.bundle, "SELECT count(*) FROM airings WHERE slot < $1", int64(day)); n != 1 {
		t.Errorf("%d old airings remain; want 1", n)
	}
	if n := rowsOf(t, s.bundle, "SELECT count(*) FROM baselines WHERE slot < $1", int64(day)); n != 0 {
		t.Errorf("%d old samples remain; want 0", n)
	}
	if err := s.DeleteOld(t.Context(), day+1000, now.Add(time.Hour)); err != nil { // the caller's clock is ahead
		t.Fatal(err)
	}
	if n := rowsOf(t, s.bundle, "SELECT count(*) FROM program_slots WHERE slot = $1", int64(day-100)); n != 1 {
		t.Error("a slot that is less than a day old was deleted")
	}
}
