package broadcast

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/hub/internal/market"
)

// MaxScheduled is how many markets the schedule lists.
const MaxScheduled = 100

// Buckets of the schedule in order; all are always shown.
var Buckets = [...]string{"ON AIR", "TODAY", "TOMORROW", "THIS WEEK", "THIS MONTH", "LATER"}

// categories of the schedule, with their content lanes. The first is what anything else is.
var categories = [...]struct {
	name string
	lane syntax.Lane
}{
	{"sport", syntax.LaneSport},
	{"music", syntax.LaneMusic},
	{"crypto", syntax.LaneCrypto},
	{"politics", syntax.LanePolitics},
	{"news", syntax.LaneWorld},
	{"culture", syntax.LaneCulture},
	{"science", syntax.LaneScience},
}

// ParseCategory reads a category of the schedule; anything unknown is sport.
func ParseCategory(raw string) string {
	for _, c := range categories {
		if c.name == raw {
			return raw
		}
	}
	return categories[0].name
}

func laneOf(category string) syntax.Lane {
	for _, c := range categories {
		if c.name == category {
			return c.lane
		}
	}
	return categories[0].lane
}

// Scheduled is a market of the schedule.
type Scheduled struct {
	Market market.Market
	Tapes  int64
	Bucket string
	Left   time.Duration // to the market's end
}

// Schedule lists the airable markets of a category, the soonest end first, and tells
// whether their tapes could not be counted. Fault: db_unavailable.
func (s *Service) Schedule(ctx context.Context, category string) (list []Scheduled, failed, err error) {
	markets, err := s.Markets.Airable(ctx, laneOf(category), MaxScheduled)
	if err != nil {
		return nil, nil, err
	}
	ids := make([]syntax.MarketID, len(markets))
	for i := range markets {
		ids[i] = markets[i].ID
	}
	tapes, failed := s.Tapes.CountTapes(ctx, ids)
	now := s.Now()
	for i := range markets {
		m := &markets[i]
		if left := m.EndDate.Sub(now); left > 0 {
			list = append(list, Scheduled{Market: *m, Tapes: tapes[m.ID], Bucket: BucketOf(m.EndDate, now), Left: left})
		}
	}
	return list, failed, nil
}

// BucketOf is when a market ends, in words. Days are those of UTC.
func BucketOf(end, now time.Time) string {
	y, m, d := now.UTC().Date()
	midnight := time.Date(y, m, d+1, 0, 0, 0, 0, time.UTC)
	left := end.Sub(now)
	switch {
	case left <= time.Hour:
		return Buckets[0]
	case end.Before(midnight):
		return Buckets[1]
	case end.Before(midnight.AddDate(0, 0, 1)):
		return Buckets[2]
	case left <= 7*24*time.Hour:
		return Buckets[3]
	case left <= 31*24*time.Hour:
		return Buckets[4]
	}
	return Buckets[5]
}
