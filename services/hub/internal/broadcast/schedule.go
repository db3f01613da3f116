package broadcast

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/syntax"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
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
	Market *marketv1.Market
	Tapes  int64
	Bucket string
	Left   time.Duration // to the market's end
}

// Schedule lists the airable markets of a category, the soonest end first, and tells
// whether their tapes could not be counted. Fault: db_unavailable.
func (s *Service) Schedule(ctx context.Context, category string) (list []Scheduled, failed, err error) {
	r, err := s.Ledger.Markets.ListAirable(ctx, &marketv1.ListAirableRequest{Lane: string(laneOf(category)), Limit: MaxScheduled})
	if err != nil {
		return nil, nil, err
	}
	ids := make([]syntax.MarketID, 0, len(r.GetMarkets()))
	for _, m := range r.GetMarkets() {
		ids = append(ids, syntax.MarketID(m.GetId()))
	}
	tapes, failed := s.Tapes.CountTapes(ctx, ids)
	now := s.Now()
	for _, m := range r.GetMarkets() {
		end := ledgerclient.Time(m.GetEndDate())
		if left := end.Sub(now); left > 0 {
			list = append(list, Scheduled{Market: m, Tapes: tapes[syntax.MarketID(m.GetId())], Bucket: BucketOf(end, now), Left: left})
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
