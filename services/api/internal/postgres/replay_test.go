package postgres

import (
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/board"
	"github.com/signalcast/signalcast/services/api/internal/signal"
)

// question is a real question with its outcome and its YES price some time before the resolution.
type question struct {
	market   string
	yes      protocol.Bps
	won      bool
	resolved string
}

// questions returns the resolved questions in the directory shared, which is next to the repository, ordered by resolution.
// It returns nil if the directory does not exist.
func questions(t *testing.T) (list []question) {
	t.Helper()
	path := filepath.Join("..", "..", "..", "..", "..", "shared", "data", "resolved-questions.csv")
	f, err := os.Open(path)
	if err != nil {
		t.Logf("no resolved questions at %s; the test is skipped", path)
		return nil
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil || len(rows) < 2 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	column := map[string]int{}
	for i, name := range rows[0] {
		column[name] = i
	}
	for i, row := range rows[1:] {
		yes := must(strconv.Atoi(row[column["yes_bps"]]))(t)
		list = append(list, question{fmt.Sprint(10_000 + i), protocol.Bps(yes), row[column["outcome_yes"]] == "1", row[column["resolved_on"]]})
	}
	slices.SortStableFunc(list, func(a, b question) int { return strings.Compare(a.resolved, b.resolved) })
	return list
}

// style is a rule by which a simulated operator chooses the side of a call.
type style func(rnd *rand.Rand, q question) protocol.Side

func sideIf(yes bool) protocol.Side {
	if yes {
		return protocol.Yes
	}
	return protocol.No
}

var styles = map[string]style{
	"favourite": func(_ *rand.Rand, q question) protocol.Side { return sideIf(q.yes >= 5000) },
	"coin":      func(rnd *rand.Rand, _ question) protocol.Side { return sideIf(rnd.IntN(2) == 0) },
	"longshot":  func(_ *rand.Rand, q question) protocol.Side { return sideIf(q.yes < 5000) },
	// Selects the outcome of every fourth question, and a random side of the others.
	"informed": func(rnd *rand.Rand, q question) protocol.Side {
		if rnd.IntN(4) == 0 {
			return sideIf(q.won)
		}
		return sideIf(rnd.IntN(2) == 0)
	},
}

const (
	ofEachStyle = 6
	callsOfEach = 200
)

// replay files calls of all styles on all questions, resolves the questions, and updates the read models.
func replay(t *testing.T, list []question) *ledger {
	l := newLedger(t, 712, 0)
	l.rules.ConfirmAfter, l.rules.QuoteMaxAge = 0, ageless // each question has only one price
	for i, q := range list {
		l.venueMarket(q.market, int(q.yes))
		l.exec(`UPDATE api.markets SET lane = $2, end_date = $3 WHERE market_id = $1`, q.market, boardLanes[i%3], l.clock.Now().AddDate(1, 0, 0))
		l.markets = append(l.markets, q.market)
	}
	for name, call := range styles {
		for i := range ofEachStyle {
			handle := fmt.Sprint(name, i)
			_, hash := l.operator(handle)
			l.people, l.hashes = append(l.people, handle), append(l.hashes, hash)
			rnd := rand.New(rand.NewPCG(uint64(i), uint64(len(name))))
			calls := make([]signal.Call, 0, callsOfEach)
			for _, n := range rnd.Perm(len(list))[:callsOfEach] {
				side := call(rnd, list[n])
				d := newDraft(list[n].market, side, int(list[n].yes.Of(side)))
				if i == 0 {
					sure := 1 + rnd.IntN(100)
					d.Confidence = &sure
				}
				calls = append(calls, signal.Call{Caller: signal.Caller{KeyHash: hash}, Draft: d})
			}
			filed, errs := l.FileMany(t.Context(), calls)
			for i, f := range filed {
				if f.Verdict != signal.VerdictFiled || errs[i] != nil {
					t.Fatalf("%s on %s: %+v, %v", handle, calls[i].Draft.MarketID, f, errs[i])
				}
			}
		}
	}
	for _, q := range list {
		l.clock.Advance(time.Minute)
		verdict := protocol.VerdictNo
		if q.won {
			verdict = protocol.VerdictYes
		}
		l.claim(q.market, verdict)
		for more := true; more; {
			_, more, _ = l.DrainOnce(t.Context(), q.market)
		}
	}
	l.settle()
	return l
}

// TestReplayOfRealQuestions replays the resolved questions. Every read model must equal an independent computation. The
// operators that know outcomes must lead the board by edge.
func TestReplayOfRealQuestions(t *testing.T) {
	t.Parallel()
	list := questions(t)
	if list == nil {
		return
	}
	l := replay(t, list)
	l.verify("replayed")
	l.compare("replayed")
	l.compareRecords("replayed")
	l.compareEdges()
	l.compareSkill()
	l.comparePulse("replayed")
	svc := board.NewService(l.Store, l.clock.Now)
	rows := must(svc.Board(t.Context(), board.ByEdge, board.All, "", 100))(t)
	if len(rows) != len(styles)*ofEachStyle {
		t.Fatalf("%d rows", len(rows))
	}
	for i, r := range rows {
		if informed := strings.HasPrefix(r.Operator.Handle, "informed"); r.Edge.Calls != callsOfEach || i < ofEachStyle/2 && !informed {
			t.Errorf("place %d: %s with %+v", r.Rank, r.Operator.Handle, r.Edge)
		}
	}
	// By accuracy, an operator who only calls favourites leads.
	byAccuracy := slices.MaxFunc(rows, func(a, b board.Row) int { return a.Accuracy - b.Accuracy })
	if !strings.HasPrefix(byAccuracy.Operator.Handle, "favourite") {
		t.Errorf("%s leads by accuracy with %d %%; want a favourite, so that the comparison with the edge is meaningful", byAccuracy.Operator.Handle, byAccuracy.Accuracy)
	}
}
