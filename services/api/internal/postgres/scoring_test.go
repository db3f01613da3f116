package postgres

import (
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/resolution"
)

// This file computes scores in Go from the definition in docs/scores.md. Other tests compare the results of the SQL
// with it.

// confirmWithin is the longest time after a call at which its second quote may be dated.
const confirmWithin = 10 * time.Minute

// reasonLate is the reason of a void call that was filed at or after the closing time.
const reasonLate = "late"

// scoredCall contains the facts of a filed call on which its score depends.
type scoredCall struct {
	Side      protocol.Side
	Basis     protocol.Bps  // scoring price at filing
	MarketYes *protocol.Bps // the YES price of the market at the call
	Verified  bool
	Rated     bool // the market was rated at the call
	Creator   bool // the operator of the call created the market
	CreatedAt time.Time
}

// scoredClaim contains the facts of a resolution and its market on which the scores of calls depend.
type scoredClaim struct {
	Verdict      protocol.Verdict
	CloseAt      time.Time
	CloseYes     *protocol.Bps // closing price
	Rated        bool          // the market was rated at its resolution
	Native       bool
	ConfirmAfter time.Duration  // from a call to its second quote; 0 means second quotes are off
	Quotes       []market.Quote // quotes of the market, oldest first
}

// scoredResult is the result of one call after a resolution.
type scoredResult struct {
	Status  protocol.SignalStatus
	Score   int            // won 0..99, lost -100..-1, void 0
	Outcome *protocol.Side // nil for a void call
	CLV     *int           // closing line value in bps, -10000..10000; nil without a closing price and for a void call

	Basis       protocol.Bps // scoring price
	ConfirmedAt *time.Time   // time of the second quote
	Reason      string       // reasonLate, or empty
	Counted     bool         // the score counts in the points
	BeatCrowd   bool         // won, verified, and called at a market price below 5000 bps of the side
}

// score returns the result of a call under the claim. A call at or after the closing time is void under every verdict.
func (c *scoredClaim) score(call scoredCall) scoredResult {
	verdict, basis := c.Verdict, call.Basis
	late := !call.CreatedAt.Before(c.CloseAt)
	if late {
		verdict = protocol.VerdictInvalid
	}
	second := c.second(call)
	if second != nil {
		basis = max(basis, second.Of(call.Side))
	}
	r := scoreOf(call.Side, basis, verdict, c.CloseYes)
	r.Basis = basis
	if second != nil {
		r.ConfirmedAt = &second.At
	}
	if late {
		r.Reason = reasonLate
	}
	r.Counted = r.Status != protocol.Void && call.Verified && call.Rated && c.Rated && !call.Creator &&
		(c.Native || c.ConfirmAfter == 0 || second != nil)
	r.BeatCrowd = r.Status == protocol.Won && call.Verified && call.MarketYes != nil && call.MarketYes.Of(call.Side) < 5000
	return r
}

// second returns the second quote of a verified call, or nil if there is none. It is the first quote that is dated at least
// ConfirmAfter and at most confirmWithin after the call, and before the closing time.
func (c *scoredClaim) second(call scoredCall) *market.Quote {
	if c.Native || c.ConfirmAfter == 0 || !call.Verified {
		return nil
	}
	from, to := call.CreatedAt.Add(c.ConfirmAfter), call.CreatedAt.Add(confirmWithin)
	for i := range c.Quotes {
		if q := &c.Quotes[i]; !q.At.Before(from) && !q.At.After(to) && q.At.Before(c.CloseAt) {
			return q
		}
	}
	return nil
}

// scoreOf returns the result of a call on a side. basis is the scoring price of that side in bps. closeYes is the closing
// YES price of the market, or nil. The score is the profit of one contract in cents, rounded against the operator, so that a
// call at the true probability never has a positive expectation.
func scoreOf(side protocol.Side, basis protocol.Bps, verdict protocol.Verdict, closeYes *protocol.Bps) scoredResult {
	outcome, decided := verdict.Side()
	if !decided {
		return scoredResult{Status: protocol.Void}
	}
	r := scoredResult{Status: protocol.Lost, Outcome: &outcome}
	profit := -max(int(basis), 1)
	if side == outcome {
		r.Status, profit = protocol.Won, profit+10_000
	}
	r.Score = int(math.Floor(float64(profit) / 100))
	if closeYes != nil {
		r.CLV = new(int(closeYes.Of(side)) - int(basis))
	}
	return r
}

// cellBps returns the price in bps in a cell of a table, or nil if the cell is not a number, such as `none`.
func cellBps(cell string) *protocol.Bps {
	n, err := strconv.Atoi(cell)
	if err != nil {
		return nil
	}
	return new(protocol.Bps(n))
}

// tables maps the header of each table in docs/scores.md to a function. The function computes the last cells of a row from
// the first cells.
var tables = map[string]func(c []string) []string{
	"called|at, bps|outcome|status|score": func(c []string) []string {
		r := scoreOf(protocol.Side(c[0]), *cellBps(c[1]), protocol.Verdict(c[2]), nil)
		return []string{string(r.Status), strconv.Itoa(r.Score)}
	},
	"called|stated|price of YES|price of NO|second quote of the side|scoring price": func(c []string) []string {
		side := protocol.Side(c[0])
		price := map[protocol.Side]*protocol.Bps{protocol.Yes: cellBps(c[2]), protocol.No: cellBps(c[3])}[side]
		basis := scoringPrice(*cellBps(c[1]), price, 0)
		if second := cellBps(c[4]); second != nil {
			basis = max(basis, *second)
		}
		return []string{strconv.Itoa(int(basis))}
	},
	"figure|made of": func([]string) []string { return nil }, // no numbers
	"called|scoring price|close, YES|clvBps": func(c []string) []string {
		return []string{strconv.Itoa(*scoreOf(protocol.Side(c[0]), *cellBps(c[1]), protocol.VerdictYes, cellBps(c[2])).CLV)}
	},
	"points|counted calls|calls, 28 days|takes, 28 days|viewer minutes|skill|activity|reach|broadcast score": func(c []string) []string {
		var n [5]int64
		for i := range n {
			n[i], _ = strconv.ParseInt(c[i], 10, 64)
		}
		return []string{strconv.Itoa(castScore(n[0], n[1], n[2], n[3], n[4]))}
	},
	"won|lost|accuracy": func(c []string) []string {
		return []string{strconv.Itoa(resolution.Accuracy(int64(*cellBps(c[0])), int64(*cellBps(c[1]))))}
	},
}

// TestExamplesOfThePage checks the last cells of each row in the tables of docs/scores.md against the results of the code.
func TestExamplesOfThePage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../../docs/scores.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]int{}
	head := ""
	for line := range strings.Lines(string(page)) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") {
			head = ""
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch compute := tables[head]; {
		case head == "":
			head = strings.Join(cells, "|")
		case strings.HasPrefix(cells[0], "--"):
		case compute == nil:
			t.Errorf("no test for the table %s", head)
		default:
			rows[head]++
			got := compute(cells)
			if want := cells[len(cells)-len(got):]; strings.Join(got, " ") != strings.Join(want, " ") {
				t.Errorf("%s: the code computes %v", line, got)
			}
		}
	}
	for head := range tables {
		if rows[head] < 3 {
			t.Errorf("%d rows of %s", rows[head], head)
		}
	}
}

func TestScoresOfPrices(t *testing.T) {
	t.Parallel()
	for _, v := range []struct{ basis, won, lost int }{
		{0, 99, -1},
		{40, 99, -1},
		{100, 99, -1},
		{150, 98, -2},
		{1250, 87, -13},
		{3333, 66, -34},
		{5000, 50, -50},
		{6400, 36, -64},
		{9900, 1, -99},
		{9960, 0, -100},
		{10000, 0, -100},
	} {
		won := scoreOf(protocol.Yes, protocol.Bps(v.basis), protocol.VerdictYes, nil)
		lost := scoreOf(protocol.No, protocol.Bps(v.basis), protocol.VerdictYes, nil)
		if won.Score != v.won || lost.Score != v.lost {
			t.Errorf("at %d: %+v, %+v, want %d and %d", v.basis, won, lost, v.won, v.lost)
		}
	}
	for p := 1; p < 10000; p++ {
		won := scoreOf(protocol.Yes, protocol.Bps(p), protocol.VerdictYes, nil).Score
		lost := scoreOf(protocol.Yes, protocol.Bps(p), protocol.VerdictNo, nil).Score
		if p*won+(10000-p)*lost > 0 {
			t.Fatalf("price %d: expectation of a call at the true price is positive", p)
		}
	}
}
