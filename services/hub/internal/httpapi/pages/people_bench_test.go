package pages_test

import (
	"context"
	"fmt"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/skill"
	boardv1 "github.com/signalcast/signalcast/proto/board/v1"
	operatorv1 "github.com/signalcast/signalcast/proto/operator/v1"
	recordv1 "github.com/signalcast/signalcast/proto/record/v1"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
	"github.com/signalcast/signalcast/services/hub/internal/federation"
	"github.com/signalcast/signalcast/services/hub/internal/follow"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/site"
	"github.com/signalcast/signalcast/services/hub/internal/identityclaim"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

type (
	followStore  = follow.Store
	claimStore   = identityclaim.Store
	networkStore = federation.Store
)

// memoryStore is a fake database of follows, claims and partner data. If fail is not nil, all reads return it.
type memoryStore struct {
	followStore
	claimStore
	networkStore
	mu        sync.Mutex
	fail      error
	claims    []identityclaim.Claim
	followers int64
	tapes     []federation.Tape
	operators []federation.Operator
	heard     map[string]time.Time
}

func (s *memoryStore) read(act func()) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail == nil {
		act()
	}
	return s.fail
}

func (s *memoryStore) FollowTotals(context.Context, operator.ID) (out follow.Totals, err error) {
	err = s.read(func() { out = follow.Totals{Followers: s.followers} })
	return out, err
}

func (s *memoryStore) ListClaims(context.Context, operator.ID) (out []identityclaim.Claim, err error) {
	err = s.read(func() { out = s.claims })
	return out, err
}

func (s *memoryStore) CopiedTapes(context.Context, time.Time) (out []federation.Tape, err error) {
	err = s.read(func() { out = s.tapes })
	return out, err
}

func (s *memoryStore) CopiedOperators(context.Context, time.Time) (out []federation.Operator, err error) {
	err = s.read(func() { out = append(out, s.operators...) })
	return out, err
}

func (s *memoryStore) LocalTapes(context.Context, int) ([]federation.Tape, error) { return nil, s.fail }

func (s *memoryStore) Views(_ context.Context, list []federation.Tape) ([]int64, error) {
	return make([]int64, len(list)), nil
}

func (s *memoryStore) Owners(context.Context, []federation.Proof) (map[federation.Proof]operator.ID, error) {
	return nil, nil
}

func (s *memoryStore) LastReads(context.Context) (out map[string]time.Time, err error) {
	err = s.read(func() { out = s.heard })
	return out, err
}

// wirePeople sets the dependencies of the profile and network pages.
func (b *fixture) wirePeople(d *site.Deps, conn grpc.ClientConnInterface) {
	b.store = &memoryStore{}
	ledger := ledgerclient.New(conn)
	accounts := identityclaim.Accounts{Ledger: ledger.Operators}
	d.People = site.People{
		Follows: follow.NewService(operator.Directory{Ledger: ledger.Operators}, b.store, b.clock.Now),
		Claims:  identityclaim.NewService([]identityclaim.Station{{Name: "partner", Profile: "https://partner.example/u/"}}, accounts, nil, b.store, b.clock.Now),
		Payouts: identityclaim.Payouts{Accounts: accounts},
	}
	d.Keep = 10 * time.Minute
	d.Network = federation.NewService(federation.Config{
		Origin: hubURL, People: hubURL + "/u/", Store: b.store, Ledger: ledger, Keep: d.Keep, Now: b.clock.Now,
	})
}

// reported returns the skill report of calls. Each element has a price in bps, a confidence, a number of calls and a number of
// wins.
func reported(t testingT, calls ...[4]int64) *recordv1.Report {
	var s skill.Sample
	for _, c := range calls {
		if err := s.AddTally(skill.Tally{Price: protocol.Bps(c[0]), Confidence: int(c[1]), Calls: c[2], Wins: c[3]}); err != nil {
			t.Fatal(err)
		}
	}
	r, _ := s.Report()
	out := &recordv1.Report{
		Calls: r.Calls, Wins: r.Wins, PriceBps: int32(r.PriceBps), EdgeBps: int32(r.EdgeBps), LowBps: int32(r.LowBps), HighBps: int32(r.HighBps),
		Above: r.Above, Below: r.Below, TwoSided: r.TwoSided, Needed: r.Needed, NeededSure: r.NeededSure,
	}
	if c := r.Calibration; c != nil {
		out.Calibration = &recordv1.Calibration{Calls: c.Calls, BrierBps: int32(c.BrierBps), MarketBrierBps: int32(c.MarketBrierBps)}
		for _, b := range c.Bins {
			out.Calibration.Bins = append(out.Calibration.Bins, &recordv1.Bin{
				From: int32(b.From), To: int32(b.To), Calls: b.Calls, Wins: b.Wins, ConfidenceBps: int32(b.ConfidenceBps),
				HitBps: int32(b.HitBps), LowBps: int32(b.LowBps), HighBps: int32(b.HighBps),
			})
		}
	}
	return out
}

type testingT interface{ Fatal(args ...any) }

const momentID = "0199f0d0-0000-7000-8000-000000000001"

// recorded stores a record of mara_k with content for every part of the profile page, and 60 won calls.
func (b *fixture) recorded() {
	now := b.clock.Now()
	b.ledger.Exec(`UPDATE users SET display_name = 'Mara K', bio = 'Rivers do not read polls.' WHERE handle = 'mara_k'`)
	for i := range 60 {
		b.addCalls(filedCall{
			ID: fmt.Sprintf("0199f0f0-0000-7000-8000-%012d", i), Owner: b.mara.GetId(), Market: fmt.Sprint(900_000 + i), Title: fmt.Sprintf("Will gauge %d fall?", i),
			Price: 6850, Status: "won", Score: 31, At: now.Add(time.Duration(i-90) * time.Hour),
		})
	}
	b.ledger.Lock()
	defer b.ledger.Unlock()
	b.ledger.Records = map[string]*recordv1.GetOperatorRecordResponse{"mara_k": {
		Stats: &recordv1.Stats{Total: 24, Won: 12, Lost: 6, Void: 1, Score: 48, Accuracy: 67, Streak: 2, AvgClvBps: proto.Int32(115)},
		Rank:  proto.Int64(4), Field: 41,
		Best: &recordv1.Best{SignalId: momentID, MarketId: "655000", MarketTitle: "Will the dam hold?", OddsBps: 1200},
		Recent: []*signalv1.Signal{{
			Id: callID, Handle: "mara_k", MarketId: gauge, Direction: "NO", PriceBps: 6850, ScoreBasisBps: 6850, PriceVerified: true, Rated: true, Status: "pending",
			TextTake: proto.String("The dam opened at noon."), CreatedAt: timestamppb.New(now.Add(-20 * time.Minute)),
		}},
		Moments: []*recordv1.Moment{{
			Id: momentID, Tier: "RARE", SignalId: momentID, MarketId: "655000", MarketTitle: "Will the dam hold?", Direction: "YES", OddsBps: 1200, Score: 88,
			MintedAt: timestamppb.New(now.AddDate(0, 0, -17)),
		}},
	}}
	whole := reported(b.t, [4]int64{5500, 70, 12, 9}, [4]int64{3000, 0, 6, 3})
	b.ledger.Skills = map[string]*recordv1.GetSkillResponse{"mara_k  all": {Report: whole, Lanes: []*recordv1.LaneReport{
		{Lane: "SCIENCE", Report: reported(b.t, [4]int64{5500, 0, 12, 9})}, {Lane: "MUSIC", Report: reported(b.t, [4]int64{3000, 0, 6, 3})},
	}}}
	steps, score := []*recordv1.Step{}, int64(0)
	for i, gain := range []int64{45, -55, 45, 70, -30, -30, 45, -55, 45, 45, -30, 45, -55, 3} {
		score += gain
		steps = append(steps, &recordv1.Step{At: timestamppb.New(now.AddDate(0, 0, 2*i-30)), Score: score, Calls: 1, Variance: 24_000_000})
	}
	b.ledger.Courses = map[string]*recordv1.GetCourseResponse{"mara_k": {Steps: steps, Whole: true}}
}

// ranked adds an operator to the ledger and returns a leaderboard row with the given rank and report.
func (b *fixture) ranked(place int32, handle string, report *recordv1.Report) *boardv1.Row {
	o := b.ledger.AddOperator(handle)
	r := &boardv1.Row{Rank: place, Operator: o, BroadcastScore: 600 - place, Score: int64(50 - 40*place), Total: 20, Won: 8, Lost: 6, Accuracy: 57}
	if report != nil {
		r.EdgeCalls, r.EdgeBps, r.EdgeLowBps, r.EdgeHighBps = report.GetCalls(), report.GetEdgeBps(), report.GetLowBps(), report.GetHighBps()
	}
	return r
}

// partnered stores four partner stations: river was read a minute ago and has data, silent was last read an hour ago, unread was
// never read, and paused is paused.
func (b *fixture) partnered() {
	now := b.clock.Now()
	for _, id := range []string{"river", "silent", "unread", "paused"} {
		status := "active"
		if id == "paused" {
			status = "paused"
		}
		b.ledger.Exec(`INSERT INTO stations (station_id, user_id, name, url, origin_url, status, description, tapes_url, lanes, created_at, updated_at)
			VALUES ($1::text, $2, 'Station ' || $1, 'https://' || $1 || '.example/hello', 'https://' || $1 || '.example', $3, 'All about <b>' || $1 || '</b>.',
				'https://' || $1 || '.example/tapes', '{SCIENCE,WORLD}', $4, $4)`, id, b.mara.GetId(), status, now)
	}
	b.ledger.Lock()
	defer b.ledger.Unlock()
	stance, length := "NO", int64(95)
	b.store.mu.Lock()
	defer b.store.mu.Unlock()
	b.store.heard = map[string]time.Time{"river": now.Add(-time.Minute), "silent": now.Add(-time.Hour)}
	b.store.tapes = []federation.Tape{{
		ID: "t1", Origin: "river", OriginURL: "https://river.example", Handle: "otto", URL: "https://video.example/a.m3u8", MarketID: gauge,
		Href: "https://river.example/u/otto", DurationS: &length, Views: 1, Stance: &stance, CreatedAt: now.Add(-time.Hour), Boosted: true,
	}}
	b.store.operators = []federation.Operator{{
		Origin: "river", OriginURL: "https://river.example", Handle: "otto", DisplayName: `Otto "O" <script>`, Score: 90, Accuracy: 75, Total: 9, Won: 6, Lost: 2, Resolved: 8,
		Href: "https://river.example/u/otto", Tier: "independent", OperatorType: "human",
	}}
	b.ledger.Ranked = []*recordv1.Ranked{{Rank: 1, Operator: &operatorv1.Operator{
		Id: "o-1", Handle: "mara_k", DisplayName: "Mara K", OperatorType: "human", Tier: "house",
	}, Stats: &recordv1.Stats{Total: 24, Won: 12, Lost: 6, Score: 48, Accuracy: 67}}}
}
