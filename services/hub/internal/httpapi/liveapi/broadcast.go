package liveapi

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/signalcast/signalcast/pkg/httpcache"
	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/protocol"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	"github.com/signalcast/signalcast/proto/openapi"
	programv1 "github.com/signalcast/signalcast/proto/program/v1"
	"github.com/signalcast/signalcast/services/hub/internal/broadcast"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/request"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
	"github.com/signalcast/signalcast/services/hub/internal/program"
)

// ToolProgram is the MCP tool get_program, which reads the programme as GET /api/network/program does. The result has no lanes,
// because lanes repeat the segments.
func (s *Server) ToolProgram(ctx context.Context, _ caller.Caller, o httpx.Object) (any, error) {
	preset := o.OptEnum("preset", "hot", "resolving", "close")
	limit := request.Limit(o, program.DefaultLimit, program.MaxLimit)
	if err := o.Err(); err != nil {
		return nil, err
	}
	q := program.ParseQuery(func(name string) string {
		switch name {
		case "preset":
			return preset
		case "limit":
			return strconv.Itoa(limit)
		case "lanes":
			return "0"
		}
		return ""
	})
	body, err := s.programOf(nil).Body(ctx, programQuery{q})
	return json.RawMessage(body), err
}

// programJSON is openapi.Program with two differences: lanes can be an empty list, and spec is the JSON text from the clock
// service.
type programJSON struct {
	Enabled     bool                   `json:"enabled"`
	GeneratedAt string                 `json:"generatedAt"`
	Total       int32                  `json:"total"`
	Lanes       *[]openapi.ProgramLane `json:"lanes,omitempty"` // left out with lanes=0
	Segments    []openapi.Segment      `json:"segments"`
	Spec        json.RawMessage        `json:"spec"`
}

var (
	broadcastParams = httpcache.Params("preset", "limit", "lanes")
	networkParams   = httpcache.Params("preset", "spec", "providers", "categories", "maxResolveHours", "minVolume", "maxVolume",
		"minYes", "maxYes", "topPerCategory", "limit", "lanes")
)

// programQuery is a normalized query for a programme.
type programQuery struct{ program.Query }

// Key implements view.Query. The two programme routes share a cache, because equal queries have equal responses.
func (q programQuery) Key() string {
	return httpcache.JoinKey(q.Preset, q.Spec, q.Providers, strconv.Itoa(q.Limit), strconv.FormatBool(q.Lanes))
}

// BroadcastProgram handles GET /api/broadcast/program, the programme of a preset.
func (s *Server) BroadcastProgram() view.Read[programQuery] { return s.programOf(broadcastParams) }

// NetworkProgram handles GET /api/network/program, the programme of a preset or of the filters in the query.
func (s *Server) NetworkProgram() view.Read[programQuery] { return s.programOf(networkParams) }

// programOf returns the cached read of the programme. It ignores query parameters that known does not list. Without a clock
// service, the response is openapi.ProgramOff.
//
// While the clock service is unavailable, the response is the last programme of the same query if it is at most view.ProgramLast
// old, otherwise openapi.ProgramOff. These responses are not cached, and neither is a degraded or empty programme.
func (s *Server) programOf(known []httpcache.Param) view.Read[programQuery] {
	return view.Read[programQuery]{
		Pages: s.programPages,
		Parse: func(rawQuery string) programQuery {
			values := httpcache.Query(rawQuery, known)
			return programQuery{program.ParseQuery(func(name string) string {
				i := slices.IndexFunc(known, func(p httpcache.Param) bool { return p.Name == name })
				if i < 0 {
					return ""
				}
				return values[i]
			})}
		},
		Build: func(ctx context.Context, q programQuery) (view.Answer, error) {
			if s.Programs == nil {
				return view.Answer{Value: openapi.ProgramOff{}}, nil
			}
			answer, err := s.Programs.GetProgram(ctx, q.Request())
			p := answer.GetProgram()
			return view.Answer{Value: showProgram(p, q.Lanes), Missing: p.GetDegraded(), Empty: p.GetTotal() == 0}, err
		},
		Empty: func(programQuery) any { return openapi.ProgramOff{} },
	}
}

func showProgram(p *programv1.Program, withLanes bool) programJSON {
	out := programJSON{
		Enabled: true, GeneratedAt: ledgerclient.Stamp(p.GetGeneratedAt()), Total: p.GetTotal(),
		Segments: showSegments(p.GetSegments()), Spec: json.RawMessage("{}"),
	}
	if spec := []byte(p.GetSpec()); json.Valid(spec) {
		out.Spec = spec
	}
	if !withLanes {
		return out
	}
	out.Lanes = new(view.List(p.GetLanes(), func(l *programv1.Lane) openapi.ProgramLane {
		return openapi.ProgramLane{Key: l.GetKey(), Label: l.GetLabel(), Segs: showSegments(program.Segments(p, l))}
	}))
	return out
}

func showSegments(list []*programv1.Segment) []openapi.Segment {
	return view.List(list, func(s *programv1.Segment) openapi.Segment {
		return openapi.Segment{
			SegmentID: s.GetSegmentId(), Kind: s.GetKind(), ID: s.GetMarketId(), Category: s.GetCategory(), Title: s.GetTitle(),
			StartsAt: ledgerclient.Stamp(s.GetStartsAt()), EndDate: ledgerclient.Stamp(s.GetEndsAt()),
			MarketEndDate: ledgerclient.StampOrNull(s.GetMarketEndDate()), EndsInMs: s.EndsInMs,
			YesPrice: s.YesPrice, NoPrice: s.NoPrice, Volume: s.Volume, Bucket: s.GetBucket(), Status: s.GetStatus(),
			Signals: s.GetSignals(), Tapes: s.GetTapes(), Takes: new(s.GetTakes()), Streams: new(int64(s.GetStreams())),
			EventKey: httpx.OrNull(s.GetEventKey()), Provider: s.GetProvider(), Route: s.GetRoute(),
			Sides: view.ShowNamedSides(&marketv1.Market{Outcomes: s.GetOutcomes()}),
		}
	})
}

// constant returns the query parser of a read whose response does not depend on the query. name is the cache key.
func constant(name string) func(string) view.TextQuery {
	return func(string) view.TextQuery { return view.TextQuery{name} }
}

// Spotlight handles GET /api/broadcast/spotlight, the item that the broadcast shows first. While no spotlight can be computed,
// the response is the last spotlight, marked as degraded.
func (s *Server) Spotlight() view.Read[view.TextQuery] {
	return view.Read[view.TextQuery]{
		Pages: s.airPages, Parse: constant("spotlight"),
		Build: func(ctx context.Context, _ view.TextQuery) (view.Answer, error) {
			shown, err := s.Broadcast.Spotlight(ctx)
			return view.Answer{Value: s.showSpotlight(shown.Spotlight), Missing: httpx.Source(shown.Failed)}, err
		},
		Empty: func(view.TextQuery) any { return s.showSpotlight(nil) },
	}
}

func (s *Server) showSpotlight(o *broadcast.Spotlight) openapi.SpotlightAnswer {
	if o == nil {
		return openapi.SpotlightAnswer{UpdatedAt: protocol.Stamp(s.Now())}
	}
	out := openapi.Spotlight{
		ShowID: httpx.OrNull(o.ShowID), Reason: string(o.Reason), MarketID: string(o.MarketID), Title: o.Title,
		YesBps: openapi.Int(o.Yes), Lane: httpx.OrNull(string(o.Lane)),
		Handle: httpx.OrNull(string(o.Handle)), HlsURL: httpx.OrNull(o.HLSURL), Viewers: o.Viewers,
		SegmentID: httpx.OrNull(o.SegmentID),
		StartedAt: protocol.Stamp(o.StartedAt), ExpiresAt: protocol.Stamp(o.ExpiresAt), Href: view.MarketURL(s.HubURL,
			o.MarketID),
	}
	if o.Reason == broadcast.LiveOperator {
		out.Href = s.HubURL + "/live/" + string(o.Handle)
	}
	return openapi.SpotlightAnswer{Spotlight: &out, ShowID: out.ShowID, UpdatedAt: protocol.Stamp(o.ChosenAt)}
}

// Bumpers handles GET /api/broadcast/bumpers, the list of announcements that are planned between segments.
func (s *Server) Bumpers() view.Read[view.TextQuery] {
	return view.Read[view.TextQuery]{
		Pages: s.planPages, Parse: constant("bumpers"),
		Build: func(ctx context.Context, _ view.TextQuery) (view.Answer, error) {
			plan, err := s.Broadcast.Bumpers(ctx, outcomeOf)
			return view.Answer{Value: s.showBumpers(plan.Bumpers), Missing: httpx.Source(plan.Failed)}, err
		},
		Empty: func(view.TextQuery) any { return s.showBumpers(nil) },
	}
}

func (s *Server) showBumpers(list []broadcast.Bumper) openapi.Bumpers {
	return openapi.Bumpers{UpdatedAt: protocol.Stamp(s.Now()), Bumpers: view.List(list, func(b broadcast.Bumper) openapi.Bumper {
		return openapi.Bumper{
			ID: b.ID, Status: "planned", Kind: b.Kind, Title: b.Title, Text: b.Text, MarketID: httpx.OrNull(string(b.MarketID)),
			Handle: httpx.OrNull(string(b.Handle)), Lane: httpx.OrNull(string(b.Lane)),
			DurationMs: broadcast.BumperLength.Milliseconds(), ScheduledFor: protocol.StampOrNull(b.ScheduledFor),
			CreatedAt: protocol.Stamp(b.CreatedAt),
		}
	})}
}

type influenceQuery struct {
	window string
	limit  int
}

var influenceParams = httpcache.Params("window", "limit")

func readInfluence(rawQuery string) influenceQuery {
	v := httpcache.Query(rawQuery, influenceParams)
	return influenceQuery{broadcast.ParseSpan(v[0]), protocol.Limit(v[1], broadcast.DefaultAirings, broadcast.MaxAirings)}
}

// Key implements view.Query.
func (q influenceQuery) Key() string {
	return httpcache.JoinKey("influence", q.window, strconv.Itoa(q.limit))
}

// Influence handles GET /api/broadcast/influence. It compares how prices moved after a market aired with how prices moved in
// markets that did not air. It shows association, not causation.
func (s *Server) Influence() view.Read[influenceQuery] {
	return view.Read[influenceQuery]{
		Pages: s.planPages, Parse: readInfluence,
		Build: func(ctx context.Context, q influenceQuery) (view.Answer, error) {
			influence, err := s.Broadcast.Influence(ctx, q.window, q.limit)
			if err != nil {
				return view.Answer{}, err
			}
			return view.Answer{Value: showInfluence(q, influence)}, nil
		},
		Empty: func(q influenceQuery) any {
			return showInfluence(q, &programv1.GetInfluenceResponse{UpdatedAt: timestamppb.New(s.Now())})
		},
	}
}

func showInfluence(q influenceQuery, influence *programv1.GetInfluenceResponse) openapi.Influence {
	return openapi.Influence{
		Window: q.window, Items: view.List(influence.GetItems(), showAiring),
		UpdatedAt: ledgerclient.Stamp(influence.GetUpdatedAt()),
		Summary: openapi.Influence_Summary{
			Airings: influence.GetAirings(), MeanAbsMoveBps: view.Whole(influence.MeanAbsMoveBps),
			BaselineAbsMoveBps: view.Whole(influence.BaselineAbsMoveBps),
		},
	}
}

func showAiring(a *programv1.Moved) openapi.Airing {
	return openapi.Airing{
		SegmentID: a.GetSegmentId(), MarketID: a.GetMarketId(), Title: a.GetTitle(),
		Lane:    string(program.ContentLane(a.GetLane())),
		AiredAt: ledgerclient.Stamp(a.GetAiredAt()), EndedAt: ledgerclient.Stamp(a.GetEndedAt()),
		YesBpsBefore: int64(a.GetYesBpsBefore()), YesBpsAfter: int64(a.GetYesBpsAfter()),
		MoveBps: int64(a.GetYesBpsAfter() - a.GetYesBpsBefore()), SignalsDuring: a.SignalsDuring,
		ViewersPeak: int64(a.GetViewersPeak()), MeasuredAt: ledgerclient.Stamp(a.GetMeasuredAt()),
	}
}

type scheduleJSON struct {
	Buckets   map[string][]openapi.ScheduledMarket `json:"buckets"`
	Cat       string                               `json:"cat"`
	UpdatedAt string                               `json:"updatedAt"`
}

var scheduleParams = httpcache.Params("cat")

func readSchedule(rawQuery string) view.TextQuery {
	return view.TextQuery{"schedule", broadcast.ParseCategory(httpcache.Query(rawQuery, scheduleParams)[0])}
}

// Schedule handles GET /api/broadcast/schedule, the markets grouped by the time until they end.
func (s *Server) Schedule() view.Read[view.TextQuery] {
	return view.Read[view.TextQuery]{
		Pages: s.planPages, Parse: readSchedule,
		Build: func(ctx context.Context, q view.TextQuery) (view.Answer, error) {
			list, failed, err := s.Broadcast.Schedule(ctx, q[1])
			return view.Answer{Value: s.showSchedule(q[1], list), Missing: httpx.Source(failed)}, err
		},
		Empty: func(q view.TextQuery) any { return s.showSchedule(q[1], nil) },
	}
}

func (s *Server) showSchedule(cat string, list []broadcast.Scheduled) scheduleJSON {
	out := scheduleJSON{
		Buckets: make(map[string][]openapi.ScheduledMarket, len(broadcast.Buckets)), Cat: cat, UpdatedAt: protocol.Stamp(s.Now()),
	}
	for _, b := range broadcast.Buckets {
		out.Buckets[b] = []openapi.ScheduledMarket{}
	}
	for i := range list {
		one := &list[i]
		m := one.Market
		row := openapi.ScheduledMarket{
			ID: m.GetId(), Title: m.GetTitle(), YesPrice: view.Percent(m.YesBps), Volume: m.VolumeUsd,
			EndDate: ledgerclient.Stamp(m.GetEndDate()), EndsInMs: one.Left.Milliseconds(), Bucket: one.Bucket,
			Signals: m.GetYes() + m.GetNo(), Tapes: one.Tapes,
			Status: "live", EventKey: httpx.OrNull(m.GetEventKey()),
		}
		if m.YesBps != nil {
			no := protocol.Bps(m.GetYesBps()).Of(protocol.No).Percent()
			row.NoPrice = &no
		}
		if one.Left <= time.Hour {
			row.Status = "resolving"
		}
		out.Buckets[one.Bucket] = append(out.Buckets[one.Bucket], row)
	}
	return out
}
