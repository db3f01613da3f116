package board

import (
	"context"
	"time"
)

// Totals are the totals of the network. Last7, Prev7 and IndependentActive28 include only independent operators.
type Totals struct {
	Signals, Independent, House, Automated int64 // calls, in total and by tier
	Last7, Prev7                           int64
	IndependentOperators                   int64 // with at least one call
	IndependentActive28                    int64
	HouseOperators                         int64 // with at least one call
	Registered                             int64
	Markets                                int64 // with at least one call
	Won, Lost, Open                        int64
	CLVCount, BeatLine                     int64
}

// Resolved returns the number of calls that are won or lost.
func (t *Totals) Resolved() int64 { return t.Won + t.Lost }

// Pulse returns the totals of the network. Error: db_unavailable.
func (s *Service) Pulse(ctx context.Context) (Totals, error) {
	return s.store.PulseTotals(ctx, s.now())
}

// Weeks is the number of weeks of a Series. The last one is the current week.
const Weeks = 16

// Week counts the calls of an ISO week in UTC, by tier.
type Week struct {
	Start                         time.Time // Monday of the week
	Independent, House, Automated int64
	ActiveIndependent             int64 // independent operators with a call in the week
}

// Series contains the calls of the network by week.
type Series struct {
	Weeks           [Weeks]Week // oldest first
	LastIndependent *time.Time  // Monday of the newest week with an independent call; nil: none
	Resolutions28   int64       // resolutions in 28 days
}

// monday returns the start of the ISO week of a time in UTC.
func monday(t time.Time) time.Time {
	y, m, d := t.UTC().Date()
	day := time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
	return day.AddDate(0, 0, -(int(day.Weekday())+6)%7)
}

// PulseSeries returns the calls by week. Error: db_unavailable.
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
