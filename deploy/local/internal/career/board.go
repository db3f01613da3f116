package career

import (
	"cmp"
	"fmt"
	"slices"
)

// Member is an operator of the career with its identity and its record.
type Member struct {
	Identity
	Tally
}

func (m Member) row() ScoreRow {
	return ScoreRow{
		Subject: m.Subject, Callsign: &m.Handle, Score: m.Score, Total: m.Total, Won: m.Won, Lost: m.Lost,
		Accuracy: Accuracy(m.Won, m.Lost), Tier: m.Tier, IsAI: m.IsAI,
	}
}

// CheckScores compares the leaderboard of the api host, read with operators=all
// and the given limit, with the records of the career. Rows of strangers are
// taken as they are; where ours stand among them is not. checked counts ours.
func CheckScores(members []Member, got []ScoreRow, limit int) (diffs []string, checked int) {
	d := diff{what: "leaderboard"}
	ours := map[string]bool{}
	var want []ScoreRow
	for _, m := range members {
		ours[m.Subject] = true
		if m.Total > 0 {
			want = append(want, m.row())
		}
	}
	for _, r := range got {
		if !ours[r.Subject] {
			want = append(want, r)
		}
	}
	slices.SortStableFunc(want, byScore)
	want = want[:min(len(want), limit)]
	for i := range want {
		want[i].Rank = i + 1
	}
	same(&d, "number of rows", len(got), len(want))
	for i := range min(len(got), len(want)) {
		if ours[want[i].Subject] {
			checked++
		}
		if g, w := text(got[i]), text(want[i]); g != w {
			d.say("row %d is %s, must be %s", i+1, g, w)
		}
	}
	return d.list, checked
}

// byScore is the order of contract 4.8.4, and of 4.2.4 among equals.
func byScore(a, b ScoreRow) int {
	return cmp.Or(
		cmp.Compare(b.Score, a.Score), cmp.Compare(b.Won+b.Lost, a.Won+a.Lost), cmp.Compare(b.Accuracy, a.Accuracy),
		cmp.Compare(show(a.Callsign), show(b.Callsign)),
	)
}

// ByRecord is the same order for members.
func ByRecord(a, b Member) int { return byScore(a.row(), b.row()) }

func text(r ScoreRow) string {
	return fmt.Sprintf("%d. %s (%s, %s, ai %t) score %d, %d calls, %d won, %d lost, %d pending, accuracy %d",
		r.Rank, show(r.Callsign), r.Subject, r.Tier, r.IsAI, r.Score, r.Total, r.Won, r.Lost, r.Pending, r.Accuracy)
}

// Tiers of a broadcast board by the word that asks for it.
var Tiers = map[string][]string{
	"all": {"independent", "house", "automated"}, "human": {"independent", "house"},
	"independent": {"independent"}, "house": {"house"}, "automated": {"automated"},
}

// CheckCast compares one broadcast board of the hub, read for a word of Tiers
// with the given limit, with the records of the career.
func CheckCast(word string, members []Member, got []CastRow, limit int) (diffs []string, checked int) {
	d := diff{what: "broadcast board (" + word + ")"}
	missing := map[string]Member{}
	for _, m := range members {
		if m.Total > 0 && slices.Contains(Tiers[word], m.Tier) {
			missing[m.Handle] = m
		}
	}
	ours := map[string]Member{}
	for _, m := range members {
		ours[m.Handle] = m
	}
	for i, r := range got {
		same(&d, "rank of row "+fmt.Sprint(i+1), r.Rank, i+1)
		if i > 0 && r.Broadcast > got[i-1].Broadcast {
			d.say("row %d has %d, more than the row above it", i+1, r.Broadcast)
		}
		m, ok := ours[r.Handle]
		if !ok {
			continue
		}
		checked++
		if _, ok := missing[r.Handle]; !ok {
			d.say("%s stands there, which it must not, or twice", r.Handle)
		}
		delete(missing, r.Handle)
		d.castRow(m, r)
	}
	for _, m := range missing {
		low, _ := Broadcast(m.Score, m.Resolved(), m.Total, m.Takes)
		if len(got) < limit || low > got[len(got)-1].Broadcast {
			d.say("%s is missing, with %d", m.Handle, low)
		}
	}
	slices.Sort(d.list)
	return d.list, checked
}

func (d *diff) castRow(m Member, r CastRow) {
	row := diff{what: d.what + ", " + m.Handle}
	low, high := Broadcast(m.Score, m.Resolved(), m.Total, m.Takes)
	if r.Broadcast != low && r.Broadcast != high {
		row.say("broadcastScore is %d, must be %d", r.Broadcast, low)
	}
	same(&row, "operatorPublicId", r.PublicID, m.PublicID)
	same(&row, "tier", r.Tier, m.Tier)
	same(&row, "isAi", r.IsAI, m.IsAI)
	same(&row, "score", r.Score, m.Score)
	same(&row, "accuracy", r.Accuracy, Accuracy(m.Won, m.Lost))
	same(&row, "total", r.Total, m.Total)
	same(&row, "won", r.Won, m.Won)
	same(&row, "lost", r.Lost, m.Lost)
	same(&row, "pending", r.Pending, 0)
	d.list = append(d.list, row.list...)
}
