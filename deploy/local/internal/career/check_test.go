package career

import (
	"fmt"
	"testing"
)

func ptr[T any](v T) *T { return &v }

var mara = Identity{Subject: "did:idp:mara", PublicID: "op_1", Handle: "mara", Tier: "independent"}

// answered is a call and the answers that fit it.
func answered() (Filed, Signal, Ledger, Outcome) {
	w := Expect(Call{Side: CallNo, Price: 3000, Confidence: 70, Take: "no"}, Question{YesBps: 3000, Verdict: No}, Tolerance)
	s := Signal{
		ID: "s1", PublicID: "op_1", Callsign: ptr("mara"), MarketID: "77", Direction: "NO", Price: ptr(7000), CrowdYes: ptr(3000),
		Confidence: ptr(70), Take: ptr("no"), Status: "won", Score: ptr(30), ResolvedAt: ptr("now"), Outcome: ptr("NO"),
		ClosePrice: ptr(3000), CLV: ptr(0),
	}
	l := Ledger{MarketID: "77", Count: 1, Yes: ptr(0), No: ptr(1), Signals: []LedgerEntry{
		{ID: "s1", Subject: "did:idp:mara", Direction: "NO", Price: 7000, Status: "won", Score: ptr(30)},
	}}
	o := Outcome{MarketID: "77", Record: &Record{Verdict: ptr("NO"), Resolver: ptr("oracle"), Source: ptr("polymarket"), ResolvedAt: ptr("now")}}
	return Filed{Want: w, ID: "s1", Who: mara}, s, l, o
}

func TestWhatFitsIsEqual(t *testing.T) {
	t.Parallel()
	f, s, l, o := answered()
	for what, diffs := range map[string][]string{
		"signal": CheckSignal("s1", "77", mara, f.Want, s), "ledger": CheckLedger("77", []Filed{f}, l), "outcome": CheckOutcome("77", No, o),
		"nobody called": CheckLedger("78", nil, Ledger{MarketID: "78"}),
	} {
		if len(diffs) > 0 {
			t.Errorf("%s: %v", what, diffs)
		}
	}
	void := Expect(f.Call, Question{YesBps: 3000, Verdict: Invalid}, Tolerance)
	s.Status, s.Score, s.Outcome, s.CLV = "void", ptr(0), nil, nil
	if diffs := CheckSignal("s1", "77", mara, void, s); len(diffs) > 0 {
		t.Error(diffs)
	}
}

func TestEveryDifferenceShows(t *testing.T) {
	t.Parallel()
	for i, spoil := range []func(*Signal){
		func(s *Signal) { s.ID = "s2" }, func(s *Signal) { s.PublicID = "op_2" }, func(s *Signal) { s.Callsign = nil },
		func(s *Signal) { s.MarketID = "78" }, func(s *Signal) { s.Direction = "YES" }, func(s *Signal) { s.Price = ptr(3000) },
		func(s *Signal) { s.CrowdYes = nil }, func(s *Signal) { s.Confidence = ptr(71) }, func(s *Signal) { s.Take = nil },
		func(s *Signal) { s.Status = "pending" }, func(s *Signal) { s.Score = ptr(29) }, func(s *Signal) { s.Score = nil },
		func(s *Signal) { s.ResolvedAt = nil }, func(s *Signal) { s.Outcome = ptr("YES") }, func(s *Signal) { s.ClosePrice = ptr(2999) },
		func(s *Signal) { s.ClosePrice = nil }, func(s *Signal) { s.CLV = ptr(1) }, func(s *Signal) { s.CLV = nil },
	} {
		f, s, _, _ := answered()
		spoil(&s)
		if len(CheckSignal("s1", "77", mara, f.Want, s)) == 0 {
			t.Errorf("signal %d: %+v passes", i, s)
		}
	}
	for i, spoil := range []func(*Ledger){
		func(l *Ledger) { l.MarketID = "78" }, func(l *Ledger) { l.Count = 2 }, func(l *Ledger) { l.Yes = ptr(1) }, func(l *Ledger) { l.No = nil },
		func(l *Ledger) { l.Signals = nil; l.Count = 0 }, func(l *Ledger) { l.Signals[0].ID = "s9" }, func(l *Ledger) { l.Signals[0].Price = 1 },
		func(l *Ledger) { l.Signals[0].Score = nil }, func(l *Ledger) { l.Signals[0].Subject = "x" }, func(l *Ledger) { l.Signals[0].Status = "lost" },
		func(l *Ledger) { l.Signals = append(l.Signals, l.Signals[0]) },
	} {
		f, _, l, _ := answered()
		spoil(&l)
		if len(CheckLedger("77", []Filed{f}, l)) == 0 {
			t.Errorf("ledger %d: %+v passes", i, l)
		}
	}
	for i, spoil := range []func(*Outcome){
		func(o *Outcome) { o.MarketID = "78" }, func(o *Outcome) { o.Record = nil }, func(o *Outcome) { o.Record.Verdict = ptr("YES") },
		func(o *Outcome) { o.Record.Verdict = nil }, func(o *Outcome) { o.Record.Resolver = ptr("admin") }, func(o *Outcome) { o.Record.Source = nil },
		func(o *Outcome) { o.Record.ResolvedAt = nil }, func(o *Outcome) { o.Record.Disputed = true }, func(o *Outcome) { o.Record.DisputedAt = ptr("now") },
	} {
		_, _, _, o := answered()
		spoil(&o)
		if len(CheckOutcome("77", No, o)) == 0 {
			t.Errorf("outcome %d: %+v passes", i, o)
		}
	}
}

// field gives three members and the rows that boards must show of them, with a
// stranger in second place.
func field() ([]Member, []ScoreRow, []CastRow) {
	var members []Member
	for i, m := range []struct {
		tier      string
		won, lost int
		score     int
	}{{"independent", 8, 2, 90}, {"house", 6, 4, 20}, {"automated", 6, 4, 20}} {
		members = append(members, Member{
			Identity: Identity{Subject: fmt.Sprint("did:", i), PublicID: fmt.Sprint("op_", i), Handle: fmt.Sprint("h", i), Tier: m.tier, IsAI: m.tier == "automated"},
			Tally:    Tally{Total: m.won + m.lost + 1, Won: m.won, Lost: m.lost, Void: 1, Score: m.score},
		})
	}
	stranger := ScoreRow{Subject: "did:x", Callsign: ptr("x"), Score: 50, Total: 3, Won: 3, Accuracy: 100, Tier: "independent"}
	scores := []ScoreRow{members[0].row(), stranger, members[1].row(), members[2].row()}
	for i := range scores {
		scores[i].Rank = i + 1
	}
	var cast []CastRow
	for i, m := range members {
		low, _ := Broadcast(m.Score, m.Resolved(), m.Total, m.Takes)
		cast = append(cast, CastRow{
			Rank: i + 1, Handle: m.Handle, PublicID: m.PublicID, Tier: m.Tier, IsAI: m.IsAI, Broadcast: low, Score: m.Score,
			Accuracy: Accuracy(m.Won, m.Lost), Total: m.Total, Won: m.Won, Lost: m.Lost,
		})
	}
	return members, scores, cast
}

func TestScoreBoard(t *testing.T) {
	t.Parallel()
	members, rows, _ := field()
	silent := append(members, Member{Identity: Identity{Subject: "did:9", Handle: "silent"}})
	if diffs, n := CheckScores(silent, rows, 200); len(diffs) > 0 || n != 3 {
		t.Error(diffs, n)
	}
	if diffs, n := CheckScores(members, rows[:3], 3); len(diffs) > 0 || n != 2 {
		t.Error("a board that is cut:", diffs, n)
	}
	for i, spoil := range []func([]ScoreRow) []ScoreRow{
		func(r []ScoreRow) []ScoreRow { r[0].Score++; return r }, func(r []ScoreRow) []ScoreRow { r[0].Rank = 2; return r },
		func(r []ScoreRow) []ScoreRow { r[2].Lost--; return r }, func(r []ScoreRow) []ScoreRow { r[2].Accuracy = 61; return r },
		func(r []ScoreRow) []ScoreRow { r[3].Tier = "independent"; return r }, func(r []ScoreRow) []ScoreRow { r[3].IsAI = false; return r },
		func(r []ScoreRow) []ScoreRow { r[3].Pending = 1; return r }, func(r []ScoreRow) []ScoreRow { return r[:3] },
		func(r []ScoreRow) []ScoreRow { r[2], r[3] = r[3], r[2]; r[2].Rank, r[3].Rank = 3, 4; return r },
	} {
		_, rows, _ := field()
		if diffs, _ := CheckScores(members, spoil(rows), 200); len(diffs) == 0 {
			t.Errorf("change %d passes", i)
		}
	}
}

func TestCastBoard(t *testing.T) {
	t.Parallel()
	members, _, rows := field()
	if diffs, n := CheckCast("all", members, rows, 100); len(diffs) > 0 || n != 3 {
		t.Error(diffs, n)
	}
	if diffs, n := CheckCast("independent", members, rows[:1], 100); len(diffs) > 0 || n != 1 {
		t.Error(diffs, n)
	}
	if diffs, _ := CheckCast("all", members, rows[:2], 2); len(diffs) > 0 {
		t.Error("a board that is cut:", diffs)
	}
	for i, spoil := range []func([]CastRow) []CastRow{
		func(r []CastRow) []CastRow { r[0].Broadcast++; return r }, func(r []CastRow) []CastRow { r[0].Rank = 7; return r },
		func(r []CastRow) []CastRow { r[1].Score--; return r }, func(r []CastRow) []CastRow { r[1].Tier = "independent"; return r },
		func(r []CastRow) []CastRow { r[1].PublicID = "op_7"; return r }, func(r []CastRow) []CastRow { r[2].Won++; return r },
		func(r []CastRow) []CastRow { return r[:2] }, func(r []CastRow) []CastRow { r[2].IsAI = false; return r },
		func(r []CastRow) []CastRow { r[0], r[1] = r[1], r[0]; r[0].Rank, r[1].Rank = 1, 2; return r },
		func(r []CastRow) []CastRow { r = append(r, r[2]); r[3].Rank = 4; return r },
	} {
		_, _, rows := field()
		if diffs, _ := CheckCast("all", members, spoil(rows), 100); len(diffs) == 0 {
			t.Errorf("change %d passes", i)
		}
	}
	if diffs, _ := CheckCast("house", members, rows, 100); len(diffs) == 0 {
		t.Error("others on the house's board pass")
	}
}
