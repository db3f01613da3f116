package edge

import (
	"context"
	"time"

	"github.com/labstack/echo/v4"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/page"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/pkg/web"
	"github.com/signalcast/signalcast/proto/openapi"
	programv1 "github.com/signalcast/signalcast/proto/program/v1"
	"github.com/signalcast/signalcast/services/hub/internal/broadcast"
)

// Keys of the pages that have one form.
const (
	spotlightKey = "spotlight"
	bumpersKey   = "bumpers"
)

// spotlight is GET /api/broadcast/spotlight. A hub that cannot read what stands shows the
// last that it saw, marked.
func (s *server) spotlight(c echo.Context) error {
	build := func(ctx context.Context) ([]byte, error) {
		shown, err := s.Broadcast.Spotlight(ctx)
		if err != nil {
			return nil, err
		}
		body, err := s.orPassing(s.showSpotlight(shown.Spotlight), shown.Failed)
		if err != nil {
			return nil, err
		}
		return body, s.air.keep(ctx, spotlightKey, body)
	}
	return s.covered(c, s.air, spotlightKey, build, func() any { return s.showSpotlight(nil) })
}

func (s *server) showSpotlight(o *broadcast.Spotlight) openapi.SpotlightAnswer {
	if o == nil {
		return openapi.SpotlightAnswer{UpdatedAt: syntax.Stamp(s.Now())}
	}
	out := openapi.Spotlight{
		ShowID: orNull(o.ShowID), Reason: string(o.Reason), MarketID: string(o.MarketID), Title: o.Title,
		YesBps: openapi.Int(o.Yes), Lane: orNull(string(o.Lane)),
		Handle: orNull(string(o.Handle)), HlsURL: orNull(o.HLSURL), Viewers: o.Viewers, SegmentID: orNull(o.SegmentID),
		StartedAt: syntax.Stamp(o.StartedAt), ExpiresAt: syntax.Stamp(o.ExpiresAt), Href: s.marketURL(o.MarketID),
	}
	if o.Reason == broadcast.LiveOperator {
		out.Href = s.HubURL + "/live/" + string(o.Handle)
	}
	return openapi.SpotlightAnswer{Spotlight: &out, ShowID: out.ShowID, UpdatedAt: syntax.Stamp(o.ChosenAt)}
}

// bumpers is GET /api/broadcast/bumpers.
func (s *server) bumpers(c echo.Context) error {
	build := func(ctx context.Context) ([]byte, error) {
		plan, err := s.Broadcast.Bumpers(ctx, outcomeOf)
		if err != nil {
			return nil, err
		}
		body, err := s.orPassing(s.showBumpers(plan.Bumpers), plan.Failed)
		if err != nil {
			return nil, err
		}
		return body, s.plans.keep(ctx, bumpersKey, body)
	}
	return s.covered(c, s.plans, bumpersKey, build, func() any { return s.showBumpers(nil) })
}

func (s *server) showBumpers(list []broadcast.Bumper) openapi.Bumpers {
	out := openapi.Bumpers{Bumpers: make([]openapi.Bumper, 0, len(list)), UpdatedAt: syntax.Stamp(s.Now())}
	for i := range list {
		b := &list[i]
		out.Bumpers = append(out.Bumpers, openapi.Bumper{
			ID: b.ID, Status: "planned", Kind: b.Kind, Title: b.Title, Text: b.Text, MarketID: orNull(string(b.MarketID)),
			Lane:       orNull(string(b.Lane)),
			DurationMs: broadcast.BumperLength.Milliseconds(), ScheduledFor: syntax.StampOrNull(b.ScheduledFor),
			CreatedAt: syntax.Stamp(b.CreatedAt),
		})
	}
	return out
}

type influenceQuery struct {
	window string
	limit  int
}

var influenceParams = params("window", "limit")

func readInfluence(rawQuery string) influenceQuery {
	v := page.Query(rawQuery, influenceParams)
	return influenceQuery{broadcast.ParseSpan(v[0]), syntax.Limit(v[1], broadcast.DefaultAirings, broadcast.MaxAirings)}
}

func influenceKey(q influenceQuery) string { return joinKey("influence", q.window, keyOf(q.limit)) }

// influence is GET /api/broadcast/influence. It tells what moved after it aired, and what
// moved that did not: association, not causation.
func (s *server) influence(c echo.Context) error {
	q := readInfluence(c.Request().URL.RawQuery)
	key := influenceKey(q)
	build := func(ctx context.Context) ([]byte, error) {
		got, err := s.Broadcast.Influence(ctx, q.window, q.limit)
		if err != nil {
			return nil, err
		}
		body, err := web.Marshal(showInfluence(q, got))
		if err != nil {
			return nil, err
		}
		return body, s.plans.keep(ctx, key, body)
	}
	return s.covered(c, s.plans, key, build, func() any {
		return showInfluence(q, &programv1.GetInfluenceResponse{UpdatedAt: timestamppb.New(s.Now())})
	})
}

func showInfluence(q influenceQuery, got *programv1.GetInfluenceResponse) openapi.Influence {
	out := openapi.Influence{
		Window: q.window, Items: make([]openapi.Airing, 0, len(got.GetItems())), UpdatedAt: syntax.Stamp(ledgerclient.Time(got.GetUpdatedAt())),
		Summary: openapi.Influence_Summary{
			Airings: got.GetAirings(), MeanAbsMoveBps: wholeBps(got.MeanAbsMoveBps), BaselineAbsMoveBps: wholeBps(got.BaselineAbsMoveBps),
		},
	}
	for _, a := range got.GetItems() {
		out.Items = append(out.Items, openapi.Airing{
			SegmentID: a.GetSegmentId(), MarketID: a.GetMarketId(), Title: a.GetTitle(), Lane: string(broadcast.ContentLane(a.GetLane())),
			AiredAt: syntax.Stamp(ledgerclient.Time(a.GetAiredAt())), EndedAt: syntax.Stamp(ledgerclient.Time(a.GetEndedAt())),
			YesBpsBefore: int64(a.GetYesBpsBefore()), YesBpsAfter: int64(a.GetYesBpsAfter()),
			MoveBps: int64(a.GetYesBpsAfter() - a.GetYesBpsBefore()), SignalsDuring: a.SignalsDuring,
			ViewersPeak: int64(a.GetViewersPeak()), MeasuredAt: syntax.Stamp(ledgerclient.Time(a.GetMeasuredAt())),
		})
	}
	return out
}

// wholeBps rounds a mean, as all basis points of the protocol are whole.
func wholeBps(v *float64) *int64 {
	if v == nil {
		return nil
	}
	n := int64(*v + 0.5)
	return &n
}

type scheduleJSON struct {
	Buckets   map[string][]openapi.ScheduledMarket `json:"buckets"`
	Cat       string                               `json:"cat"`
	UpdatedAt string                               `json:"updatedAt"`
}

var scheduleParams = params("cat")

func readSchedule(rawQuery string) string {
	return broadcast.ParseCategory(page.Query(rawQuery, scheduleParams)[0])
}

func scheduleKey(cat string) string { return joinKey("schedule", cat) }

// schedule is GET /api/broadcast/schedule, the older list of what ends when.
func (s *server) schedule(c echo.Context) error {
	cat := readSchedule(c.Request().URL.RawQuery)
	key := scheduleKey(cat)
	build := func(ctx context.Context) ([]byte, error) {
		list, failed, err := s.Broadcast.Schedule(ctx, cat)
		if err != nil {
			return nil, err
		}
		body, err := s.orPassing(s.showSchedule(cat, list), failed)
		if err != nil {
			return nil, err
		}
		return body, s.plans.keep(ctx, key, body)
	}
	return s.covered(c, s.plans, key, build, func() any { return s.showSchedule(cat, nil) })
}

func (s *server) showSchedule(cat string, list []broadcast.Scheduled) scheduleJSON {
	out := scheduleJSON{Buckets: make(map[string][]openapi.ScheduledMarket, len(broadcast.Buckets)), Cat: cat, UpdatedAt: syntax.Stamp(s.Now())}
	for _, b := range broadcast.Buckets {
		out.Buckets[b] = []openapi.ScheduledMarket{}
	}
	for i := range list {
		one := &list[i]
		m := one.Market
		row := openapi.ScheduledMarket{
			ID: m.GetId(), Title: m.GetTitle(), YesPrice: percent(m.YesBps), Volume: m.VolumeUsd,
			EndDate: ledgerclient.Stamp(m.GetEndDate()), EndsInMs: one.Left.Milliseconds(), Bucket: one.Bucket, Signals: m.GetYes() + m.GetNo(), Tapes: one.Tapes,
			Status: "live", EventKey: orNull(m.GetEventKey()),
		}
		if m.YesBps != nil {
			no := syntax.Bps(m.GetYesBps()).Of(syntax.No).Percent()
			row.NoPrice = &no
		}
		if one.Left <= time.Hour {
			row.Status = "resolving"
		}
		out.Buckets[one.Bucket] = append(out.Buckets[one.Bucket], row)
	}
	return out
}
