package board

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// Totals contains the numbers of calls, operators and markets of the installation. Last7, Prev7 and IndependentActive28 include
// only independent operators.
type Totals struct {
	Signals, Independent, House, Automated int64 // calls, in total and by tier of the operator
	Last7, Prev7                           int64 // calls in the last 7 days, and in the 7 days before
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

// Pulse returns the current totals of calls, operators and markets. Error: db_unavailable.
func (s *Service) Pulse(ctx context.Context) (Totals, error) {
	return s.store.PulseTotals(ctx, s.now())
}

// PriceRange contains the calls whose scoring price is in one of ten equal ranges. Price is their mean scoring price.
type PriceRange struct {
	Calls, Wins int64
	Price       protocol.Bps
}

// PulsePrices returns the counted calls on venue markets by range of the scoring price, the lowest first. Ranges without a call
// are left out. Error: db_unavailable.
func (s *Service) PulsePrices(ctx context.Context) ([]PriceRange, error) {
	return s.store.PulsePrices(ctx)
}

// Weeks is the number of weeks of a Series, including the current week.
const Weeks = 16

// Week contains the numbers of calls in one ISO week in UTC, by tier of the operator.
type Week struct {
	Start                         time.Time // Monday of the week
	Independent, House, Automated int64
	ActiveIndependent             int64 // number of independent operators with a call in the week
}

// Series contains the numbers of all calls by week, and of recent resolutions.
type Series struct {
	Weeks           [Weeks]Week // oldest first
	LastIndependent *time.Time  // Monday of the last week with a call of an independent operator; nil: none
	Resolutions28   int64       // number of resolutions in the last 28 days
}

// monday returns the start of the ISO week, in UTC, that contains t.
func monday(t time.Time) time.Time {
	y, m, d := t.UTC().Date()
	day := time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
	return day.AddDate(0, 0, -(int(day.Weekday())+6)%7)
}

// PulseSeries returns the numbers of calls in each of the last Weeks weeks, and the number of recent resolutions. Error:
// db_unavailable.
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
