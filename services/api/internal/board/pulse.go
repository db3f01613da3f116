package board

import (
	"context"
	"time"
)

// Totals is what the pulse of the network counts now (contract 4.2.5). Last7, Prev7 and
// the operators that are active are of independent operators alone.
type Totals struct {
	Signals, Independent, House, Automated int64 // canonical signals, all and by tier
	Last7, Prev7                           int64
	IndependentOperators                   int64 // that ever filed
	IndependentActive28                    int64
	HouseOperators                         int64 // that ever filed
	Registered                             int64
	Markets                                int64 // with a signal
	Won, Lost, Open                        int64
	CLVCount, BeatLine                     int64
}

// Resolved is how many signals are won or lost.
func (t *Totals) Resolved() int64 { return t.Won + t.Lost }

// Pulse counts the network. Fault: db_unavailable.
func (s *Service) Pulse(ctx context.Context) (Totals, error) {
	return s.store.PulseTotals(ctx, s.now())
}

// Weeks is how many weeks the series of the pulse has; the last one is running.
const Weeks = 16

// Week counts the calls that were filed in an ISO week, UTC, by tier.
type Week struct {
	Start                         time.Time // its Monday
	Independent, House, Automated int64
	ActiveIndependent             int64 // independent operators that filed in it
}

// Series is the pulse over time.
type Series struct {
	Weeks           [Weeks]Week // oldest first
	LastIndependent *time.Time  // the Monday of the newest week with an independent call; nil: never
	Resolutions28   int64       // claims in 28 days
}

// monday is the begin of the ISO week of a time, UTC.
func monday(t time.Time) time.Time {
	y, m, d := t.UTC().Date()
	day := time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
	return day.AddDate(0, 0, -(int(day.Weekday())+6)%7)
}

// PulseSeries counts the weeks. Fault: db_unavailable.
func (s *Service) PulseSeries(ctx context.Context) (Series, error) {
	now := s.now()
	first := monday(now).AddDate(0, 0, -7*(Weeks-1))
	counted, last, claims, err := s.store.PulseWeeks(ctx, first, now)
	if err != nil {
		return Series{}, err
	}
	out := Series{Resolutions28: claims}
	for i := range out.Weeks {
		out.Weeks[i] = counted[i]
		out.Weeks[i].Start = first.AddDate(0, 0, 7*i)
	}
	if last != nil {
		week := monday(*last)
		out.LastIndependent = &week
	}
	return out, nil
}
