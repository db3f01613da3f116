package broadcast

import (
	"context"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/protocol"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	programv1 "github.com/signalcast/signalcast/proto/program/v1"
)

// MaxScheduled is the maximum number of markets in the schedule.
const MaxScheduled = 100

// Buckets lists the time buckets of the schedule in order. The schedule shows all of them, including empty ones.
var Buckets = [...]string{"ON AIR", "TODAY", "TOMORROW", "THIS WEEK", "THIS MONTH", "LATER"}

// categories maps the categories of the schedule to content lanes.
var categories = map[string]protocol.Lane{
	defaultCategory: protocol.LaneSport, "music": protocol.LaneMusic, "crypto": protocol.LaneCrypto, "politics": protocol.LanePolitics,
	"news": protocol.LaneWorld, "culture": protocol.LaneCulture, "science": protocol.LaneScience,
}

const defaultCategory = "sport"

// ParseCategory returns raw if it is a category of the schedule, else "sport".
func ParseCategory(raw string) string {
	if categories[raw] == "" {
		return defaultCategory
	}
	return raw
}

// Scheduled is a market in the schedule, with its number of ready clips and its bucket.
type Scheduled struct {
	Market *marketv1.Market
	Tapes  int64
	Bucket string
	Left   time.Duration // time until the market ends
}

// Schedule lists the markets in a category that the broadcast can show and that have not ended, earliest end first. An unknown
// category becomes "sport". If counting the clips fails, Schedule still returns the list, and failed is that error. Error:
// db_unavailable.
func (s *Service) Schedule(ctx context.Context, category string) (list []Scheduled, failed, err error) {
	r, err := s.Ledger.Markets.ListAirable(ctx, &marketv1.ListAirableRequest{
		Lane: string(categories[ParseCategory(category)]), Limit: MaxScheduled,
	})
	if err != nil {
		return nil, nil, err
	}
	ids := make([]protocol.MarketID, 0, len(r.GetMarkets()))
	for _, m := range r.GetMarkets() {
		ids = append(ids, protocol.MarketID(m.GetId()))
	}
	tapes, failed := s.Store.CountTapes(ctx, ids)
	now := s.Now()
	for _, m := range r.GetMarkets() {
		end := ledgerclient.Time(m.GetEndDate())
		if left := end.Sub(now); left > 0 {
			list = append(list, Scheduled{Market: m, Tapes: tapes[protocol.MarketID(m.GetId())], Bucket: BucketOf(end, now), Left: left})
		}
	}
	return list, failed, nil
}

// BucketOf returns the bucket of a market that ends at end. TODAY and TOMORROW are days in UTC; the other buckets depend on the
// time left.
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

// Default and maximum number of airings in a list.
const (
	DefaultAirings = 50
	MaxAirings     = 200
)

// Week is the window of seven days. Only lists of airings support it.
const Week = "7d"

// ParseSpan parses the window of a list of airings. The value is Week or the name of a window that protocol.ParseWindow
// accepts. An unknown value becomes 24 hours.
func ParseSpan(raw string) string {
	if raw == Week {
		return raw
	}
	return string(protocol.ParseWindow(raw))
}

// Influence returns the price moves of markets that were aired in a window and, for comparison, of markets that were not aired.
// Without a clock service, the list is empty. It returns the errors of the clock service.
func (s *Service) Influence(ctx context.Context, window string, limit int) (*programv1.GetInfluenceResponse, error) {
	if s.Programs == nil {
		return &programv1.GetInfluenceResponse{UpdatedAt: timestamppb.New(s.Now())}, nil
	}
	return s.Programs.GetInfluence(ctx, &programv1.GetInfluenceRequest{Window: window, Limit: int32(limit)})
}
