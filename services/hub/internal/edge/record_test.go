package edge_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	boardv1 "github.com/signalcast/signalcast/proto/board/v1"
	recordv1 "github.com/signalcast/signalcast/proto/record/v1"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"

	"github.com/signalcast/signalcast/services/hub/internal/memledger"
	"github.com/signalcast/signalcast/services/hub/internal/record"
)

const (
	atomPath  = "/api/operator/mara_k"
	fieldPath = "/api/network/field-record/mara_k"
	pulsePath = "/api/network/pulse"
)

// recorded is a bench with a record of mara_k and one of somebody without a call.
func recorded(t *testing.T) *bench {
	b := setup(t)
	b.ledger.AddOperator("quiet")
	call := func(id, status string, score *int32) *signalv1.Signal {
		return &signalv1.Signal{
			Id: "0199f0a4-0000-7000-8000-00000000000" + id, MarketId: marketID, MarketTitle: "Will it rise?", Direction: "NO", PriceBps: 6850,
			Status: status, Score: score, CreatedAt: at("2026-09-18T10:00:00Z"),
		}
	}
	b.ledger.Lock()
	defer b.ledger.Unlock()
	b.mara.AvatarUrl, b.mara.Bio = proto.String("https://img.example/m.png"), proto.String("Rivers do not read polls.")
	b.ledger.Records = map[string]*recordv1.GetOperatorRecordResponse{"mara_k": {
		Stats: &recordv1.Stats{Total: 24, Won: 12, Lost: 6, Void: 1, Score: 48, Accuracy: 67, Streak: 2, AvgClvBps: proto.Int32(115)},
		Rank:  proto.Int64(4), Field: 41, BroadcastScore: 515,
		Best:   &recordv1.Best{SignalId: "0199f0a4-0000-7000-8000-0000000000aa", MarketId: "655000", MarketTitle: "Will the dam hold?", OddsBps: 1200},
		Recent: []*signalv1.Signal{call("6", "pending", nil), call("5", "won", proto.Int32(31)), call("4", "lost", proto.Int32(-69)), call("3", "void", proto.Int32(0)), call("2", "won", proto.Int32(31)), call("1", "won", proto.Int32(31))},
		Moments: []*recordv1.Moment{{
			Id: "0199f0d0-0000-7000-8000-000000000001", Tier: "RARE", SignalId: "0199f0a4-0000-7000-8000-0000000000aa", MarketId: "655000",
			MarketTitle: "Will the dam hold?", Direction: "YES", OddsBps: 1200, Score: 88, MintedAt: at("2026-09-01T08:00:00Z"),
		}},
	}}
	report := &recordv1.Report{
		Calls: 18, Wins: 12, PriceBps: 6400, EdgeBps: 267, LowBps: -2263, HighBps: 2198, Above: 0.52, Below: 0.7, TwoSided: 1,
		Needed: proto.Int64(1200), NeededSure: proto.Int64(2460),
		Calibration: &recordv1.Calibration{
			Calls: 4, BrierBps: 1980, MarketBrierBps: 2070, ReliabilityBps: 100, ResolutionBps: 20, UncertaintyBps: 1875, WithinBps: 25,
			Bins: []*recordv1.Bin{{From: 71, To: 80, Calls: 4, Wins: 3, ConfidenceBps: 7500, HitBps: 7500, LowBps: 1941, HighBps: 9937}},
		},
	}
	b.ledger.Skills = map[string]*recordv1.GetSkillResponse{
		"mara_k  all":        {Report: report, Lanes: []*recordv1.LaneReport{{Lane: "SCIENCE", Report: report}}},
		"mara_k SCIENCE 28d": {Report: &recordv1.Report{Calls: 1, Wins: 1, PriceBps: 3100, EdgeBps: 6900, LowBps: -3100, HighBps: 6900, Above: 0.31, Below: 1, TwoSided: 0.62, Needed: proto.Int64(0)}},
	}
	b.ledger.Pulse = pulseOf()
	return b
}

func pulseOf() *recordv1.GetPulseResponse {
	return &recordv1.GetPulseResponse{
		Weeks: []*recordv1.Week{
			{Start: "2026-08-31", House: 4, Automated: 61},
			{Start: "2026-09-07", Independent: 14, House: 2, Automated: 18, ActiveIndependent: 5},
			{Start: "2026-09-14", Independent: 7, House: 2, Automated: 18, ActiveIndependent: 3},
		},
		Signals: 1840, IndependentSignals: 212, HouseSignals: 131, AutomatedSignals: 1497, Last7: 9, Prev7: 14, IndependentOperators: 41,
		IndependentActive28: 12, HouseOperators: 3, Registered: 390, Markets: 655, Won: 655, Lost: 549, Open: 611, ClvCount: 990, BeatLine: 512,
		LastIndependentWeek: "2026-09-14", Resolutions28: 88, GeneratedAt: at("2026-09-18T12:00:00Z"),
	}
}

// TestRecords: what the ledger keeps of somebody, as the atom and the field record show it.
func TestRecords(t *testing.T) {
	t.Parallel()
	b := recorded(t)
	b.followed(11, b.mara.GetId())
	for name, target := range map[string]string{
		"atom": "/api/operator/MARA_K", "atom_none": "/api/operator/quiet", "field": fieldPath, "field_none": "/api/network/field-record/quiet",
		"skill": atomPath + "/skill", "skill_lane": atomPath + "/skill?lane=science&window=28d", "skill_none": "/api/operator/quiet/skill?lane=moon&window=year",
		"pulse": pulsePath,
	} {
		w := b.send("GET", target, "")
		golden(t, "record/"+name, w)
		tag := w.Header().Get("Etag")
		if again := b.send("GET", target, "", with("If-None-Match", tag)); tag == "" || again.Code != http.StatusNotModified {
			t.Errorf("%s: tag %q then %d", target, tag, again.Code)
		}
	}
}

// TestOwnFieldRecord: a key of any permission shows its owner the same, and no cache keeps it.
func TestOwnFieldRecord(t *testing.T) {
	t.Parallel()
	b := recorded(t)
	const path = "/api/network/field-record/me"
	open := b.send("GET", fieldPath, "")
	w := b.send("GET", path, "", b.byKey())
	if w.Code != 200 || w.Body.String() != open.Body.String() || w.Header().Get("Cache-Control") != "no-store" || w.Header().Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
	}
	for _, who := range []header{with("X-Nothing", "x"), b.bySession(), byLogin("mara_k"), byAdmin(), with("Authorization", "Bearer dk_"+strings.Repeat("A", 43))} {
		want(t, b.send("GET", path, "", who), 401, "unauthenticated")
	}
	b.revoke(b.key)
	want(t, b.send("GET", path, "", b.byKey()), 401, "unauthenticated")
}

// TestRecordsWithoutTheirSources: a ledger that is away is said so, followers that nobody
// can count leave a record that no cache keeps.
func TestRecordsWithoutTheirSources(t *testing.T) {
	t.Parallel()
	b := recorded(t)
	b.people.mu.Lock()
	b.people.fail = memledger.ErrDB
	b.people.mu.Unlock()
	w := b.send("GET", atomPath, "")
	if w.Code != 200 || w.Header().Get("X-Degraded") != "follows" || w.Header().Get("Cache-Control") != "no-store" || !strings.Contains(w.Body.String(), `"followers":0`) {
		t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
	}
	b.setBefore(func(context.Context, string) error { return memledger.ErrDB })
	b.clock.Advance(time.Hour)
	want(t, b.send("GET", atomPath, ""), 503, "db_unavailable")
	want(t, b.send("GET", fieldPath, ""), 503, "db_unavailable")
	want(t, b.send("GET", atomPath+"/skill", ""), 503, "db_unavailable")
	w = b.send("GET", pulsePath, "")
	if want(t, w, 503, "pulse_unavailable"); w.Header().Get("Cache-Control") != "no-store" || w.Header().Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("%v", w.Header())
	}
}

// TestPulseIsKept: 300 seconds, and it begins with nothing.
func TestPulseIsKept(t *testing.T) {
	t.Parallel()
	b := setup(t)
	if w := b.send("GET", pulsePath, ""); w.Code != 200 || !strings.Contains(w.Body.String(), `"northStar":null`) || w.Header().Get("Cache-Control") != "public, s-maxage=300" {
		t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
	}
	for range 3 {
		b.clock.Advance(90 * time.Second)
		b.send("GET", pulsePath, "")
	}
	if n := b.ledger.Count("GetPulse"); n != 1 {
		t.Errorf("counted %d times in 270 seconds", n)
	}
	b.clock.Advance(31 * time.Second)
	b.send("GET", pulsePath, "")
	if n := b.ledger.Count("GetPulse"); n != 2 {
		t.Errorf("counted %d times in 301 seconds", n)
	}
}

// TestBoardByEdge: the order is one of two words, and over all of life when it is edge.
func TestBoardByEdge(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.ledger.Lock()
	b.ledger.Board = []*boardv1.Row{{Rank: 1, Operator: b.mara, EdgeCalls: 200, EdgeBps: 510, EdgeLowBps: 20, EdgeHighBps: 990}, {Rank: 2, Operator: b.mara}}
	b.ledger.Unlock()
	for query, said := range map[string][2]string{
		"?order=edge&window=28d&operators=all": {"edge", "all"}, "?order=EDGE&window=28d": {"score", "28d"}, "?order=score": {"score", "all"},
	} {
		w := b.send("GET", "/api/operator/leaderboard"+query, "")
		b.ledger.Lock()
		asked := [2]string{b.ledger.LastBoard.GetOrder(), b.ledger.LastBoard.GetWindow()}
		b.ledger.Unlock()
		if asked != said || field(w, "order") != said[0] || field(w, "window") != said[1] ||
			!strings.Contains(w.Body.String(), `"edge":{"calls":200,"edgeBps":510,"lowBps":20,"highBps":990}`) || !strings.Contains(w.Body.String(), `"edge":null`) {
			t.Errorf("%s: asked %v: %s", query, asked, w.Body)
		}
	}
}

func TestTitles(t *testing.T) {
	t.Parallel()
	for n, title := range map[int64]string{
		0: "RECRUIT", 4: "RECRUIT", 5: "OPERATOR", 14: "OPERATOR", 15: "FIELD OPERATOR", 49: "FIELD OPERATOR",
		50: "SENIOR OPERATOR", 199: "SENIOR OPERATOR", 200: "STATION CHIEF", 1_000_000: "STATION CHIEF",
	} {
		if got := record.Title(n); got != title {
			t.Errorf("%d decided calls: %s, want %s", n, got, title)
		}
	}
}
