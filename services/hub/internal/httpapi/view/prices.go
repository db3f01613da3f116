package view

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/protocol"
	cataloguev1 "github.com/signalcast/signalcast/proto/catalogue/v1"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
)

// Price is the price of a side in bps at a Unix time.
type Price struct {
	At  int64
	Bps float64
}

// PricesOf returns the prices of a side between two times, sorted by time, with at most one price for each second. Invalid prices
// are left out, and the others limited to the range from 0 to 10,000 bps.
func PricesOf(points []*cataloguev1.HistoryPoint, side protocol.Side, from, to time.Time) []Price {
	list := make([]Price, 0, len(points))
	for _, p := range points {
		if p.GetT() > 0 && p.GetT() >= from.Unix() && p.GetT() <= to.Unix() && !math.IsNaN(p.GetP()) {
			bps := math.Round(float64(protocol.MaxBps) * min(max(p.GetP(), 0), 1))
			if side == protocol.No {
				bps = float64(protocol.MaxBps) - bps
			}
			list = append(list, Price{p.GetT(), bps})
		}
	}
	slices.SortStableFunc(list, func(a, b Price) int { return cmp.Compare(a.At, b.At) })
	out := list[:0]
	for i, p := range list {
		if i+1 == len(list) || list[i+1].At != p.At { // keep only the last price of each second
			out = append(out, p)
		}
	}
	return out
}

// CallPeriod returns the period of the price chart of a call: from one day before the call to its result, or to now while it is
// open. interval is the shortest interval of the history that contains the period.
func CallPeriod(call *signalv1.Signal, now time.Time) (from, to time.Time, interval protocol.Interval) {
	from, to, interval = ledgerclient.Time(call.GetCreatedAt()).AddDate(0, 0, -1), now, protocol.IntervalWeek
	if at := call.GetResolvedAt(); at != nil {
		to = at.AsTime()
	}
	if from.Before(protocol.IntervalWeek.Start(now)) {
		interval = protocol.IntervalAll
	}
	return from, to, interval
}
