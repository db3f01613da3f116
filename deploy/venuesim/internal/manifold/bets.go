package manifold

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/signalcast/signalcast/deploy/venuesim/internal/reply"
	"github.com/signalcast/signalcast/deploy/venuesim/internal/world"
)

const (
	mostBets = 1000
	// aLife is about how many bets a market sees from its start to its end.
	aLife     = 3000
	leastStep = 120 // seconds between bets
)

// bets gives bets of a market. With an id in before that is not one of its
// bets, the first page comes again: the venue does that.
func (s *Service) bets(w http.ResponseWriter, r *http.Request) {
	v := r.URL.Query()
	if unknown(w, v, "contractId", "order", "limit", "before") {
		return
	}
	if !v.Has("contractId") {
		refuse(w, "contractId", "Required")
		return
	}
	order, ok := choice(w, v, "order", "desc", []string{"asc", "desc"})
	if !ok {
		return
	}
	limit, ok := whole(w, v, "limit", mostBets, mostBets)
	if !ok {
		return
	}
	out := []bet{}
	m, ok := s.Find(v.Get("contractId"))
	if !ok || kind(&m) != kindBinary {
		reply.JSON(w, http.StatusOK, out)
		return
	}
	moments := s.moments(&m)
	end := len(moments)
	if text, known := strings.CutPrefix(v.Get("before"), s.Key(&m)+"x"); known {
		if at, err := strconv.ParseInt(text, 36, 64); err == nil {
			if i, found := slices.BinarySearch(moments, at); found {
				end = i
			}
		}
	}
	moments = moments[:end]
	if order == "asc" {
		moments = moments[:min(len(moments), int(limit))]
	} else {
		moments = moments[max(len(moments)-int(limit), 0):]
	}
	for i, at := range moments {
		before := m.Start.Unix()
		if i > 0 {
			before = moments[i-1]
		} else if at > before {
			before = at - 1
		}
		out = append(out, s.bet(&m, before, at))
	}
	if order == "desc" {
		slices.Reverse(out)
	}
	reply.JSON(w, http.StatusOK, out)
}

// moments are the seconds at which somebody bet, rising: at an even step, and
// whenever a test moved the price.
func (s *Service) moments(m *world.Market) (out []int64) {
	now := s.world.Now()
	last := min(now.Unix(), m.Until(now).Unix())
	if ms, ok := closes(m); ok {
		last = min(last, ms/1000)
	}
	start := m.Start.Unix()
	step := max(leastStep, (max(m.End.Unix(), last)-start)/aLife)
	for t := start; t <= last; t += step {
		out = append(out, t)
	}
	for _, at := range m.Moves {
		if at >= start && at <= last {
			out = append(out, at)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// bet is the bet that took the price to where it is at a moment. A few rows are
// not trades: redemptions, and orders that nobody has taken.
func (s *Service) bet(m *world.Market, before, at int64) bet {
	from, to := m.Path(before).Float(), m.Path(at).Float()
	ms := at * 1000
	b := bet{
		ID: s.Key(m) + "x" + strconv.FormatInt(at, 36), UserID: "u2Invented0000000000", ContractID: s.Key(m), CreatedTime: ms, UpdatedTime: ms + 1000,
		Amount: 10, Outcome: "YES", Shares: 24.1, ProbBefore: from, ProbAfter: to, Fees: fees{PlatformFee: 0.1}, IsFilled: true, OrderAmount: 10,
		Fills: []fill{{Amount: 10, Shares: 24.1, Timestamp: ms}}, Visibility: "public",
	}
	if to < from {
		b.Outcome = "NO"
	}
	if slices.Contains(m.Moves, at) || at == m.Start.Unix() {
		return b
	}
	switch world.Draw("bet", uint64(at)) % 16 {
	case 0:
		b.IsRedemption, b.Amount, b.Shares, b.ProbAfter = true, 0, -3.2, from
	case 1:
		limit := from / 2
		b.IsFilled, b.Amount, b.Shares, b.OrderAmount, b.Fills, b.LimitProb, b.ProbAfter = false, 0, 0, 50, []fill{}, &limit, from
	}
	return b
}
