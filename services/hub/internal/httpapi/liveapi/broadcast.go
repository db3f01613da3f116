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
	"github.com/signalcast/signalcast/proto/openapi"
	programv1 "github.com/signalcast/signalcast/proto/program/v1"
	"github.com/signalcast/signalcast/services/hub/internal/broadcast"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/request"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
	"github.com/signalcast/signalcast/services/hub/internal/program"
)

// ToolProgram is GET /api/network/program for tools. The answer has no lanes, because they repeat the segments.
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

// programJSON is openapi.Program, except that lanes can be an empty list and that spec is the JSON of the clock.
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

// programQuery is the normal form of a query for a programme.
type programQuery struct{ program.Query }

// Key implements view.Query. Both routes use the same cache, because equal queries have equal answers.
func (q programQuery) Key() string {
	return httpcache.JoinKey(q.Preset, q.Spec, q.Providers, strconv.Itoa(q.Limit), strconv.FormatBool(q.Lanes))
}

// BroadcastProgram is GET /api/broadcast/program: the programme of a preset.
func (s *Server) BroadcastProgram() view.Read[programQuery] { return s.programOf(broadcastParams) }

// NetworkProgram is GET /api/network/program: the programme of a preset or of the filters in the query.
func (s *Server) NetworkProgram() view.Read[programQuery] { return s.programOf(networkParams) }

// programOf returns the read of the programme of the clock, or of ProgramOff if the hub has no clock. While the clock is
// unavailable, the answer is the last programme of the same query if it is at most view.ProgramLast old, otherwise ProgramOff;
// such an answer is not cached. A degraded or empty programme is answered but not cached. Parameters that are not in known are
// ignored.
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
		}
	})
}

// constant returns the parser of a read whose answer does not depend on the query.
func constant(name string) func(string) view.Words {
	return func(string) view.Words { return view.Words{name} }
}

// Spotlight is GET /api/broadcast/spotlight. While the spotlight cannot be read, the answer is the last one, marked as degraded.
func (s *Server) Spotlight() view.Read[view.Words] {
	return view.Read[view.Words]{
		Pages: s.airPages, Parse: constant("spotlight"),
		Build: func(ctx context.Context, _ view.Words) (view.Answer, error) {
			shown, err := s.Broadcast.Spotlight(ctx)
			return view.Answer{Value: s.showSpotlight(shown.Spotlight), Missing: httpx.Source(shown.Failed)}, err
		},
		Empty: func(view.Words) any { return s.showSpotlight(nil) },
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
		StartedAt: protocol.Stamp(o.StartedAt), ExpiresAt: protocol.Stamp(o.ExpiresAt), Href: view.MarketURL(s.HubURL, o.MarketID),
	}
	if o.Reason == broadcast.LiveOperator {
		out.Href = s.HubURL + "/live/" + string(o.Handle)
	}
	return openapi.SpotlightAnswer{Spotlight: &out, ShowID: out.ShowID, UpdatedAt: protocol.Stamp(o.ChosenAt)}
}

// Bumpers is GET /api/broadcast/bumpers.
func (s *Server) Bumpers() view.Read[view.Words] {
	return view.Read[view.Words]{
		Pages: s.planPages, Parse: constant("bumpers"),
		Build: func(ctx context.Context, _ view.Words) (view.Answer, error) {
			plan, err := s.Broadcast.Bumpers(ctx, outcomeOf)
			return view.Answer{Value: s.showBumpers(plan.Bumpers), Missing: httpx.Source(plan.Failed)}, err
		},
		Empty: func(view.Words) any { return s.showBumpers(nil) },
	}
}

func (s *Server) showBumpers(list []broadcast.Bumper) openapi.Bumpers {
	return openapi.Bumpers{UpdatedAt: protocol.Stamp(s.Now()), Bumpers: view.List(list, func(b broadcast.Bumper) openapi.Bumper {
		return openapi.Bumper{
			ID: b.ID, Status: "planned", Kind: b.Kind, Title: b.Title, Text: b.Text, MarketID: httpx.OrNull(string(b.MarketID)),
			Lane:       httpx.OrNull(string(b.Lane)),
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

// Influence is GET /api/broadcast/influence: how prices moved after markets aired, compared with markets that did not air. It
// shows association, not causation.
func (s *Server) Influence() view.Read[influenceQuery] {
	return view.Read[influenceQuery]{
		Pages: s.planPages, Parse: readInfluence,
		Build: func(ctx context.Context, q influenceQuery) (view.Answer, error) {
			got, err := s.Broadcast.Influence(ctx, q.window, q.limit)
			if err != nil {
				return view.Answer{}, err
			}
			return view.Answer{Value: showInfluence(q, got)}, nil
		},
		Empty: func(q influenceQuery) any {
			return showInfluence(q, &programv1.GetInfluenceResponse{UpdatedAt: timestamppb.New(s.Now())})
		},
	}
}

func showInfluence(q influenceQuery, got *programv1.GetInfluenceResponse) openapi.Influence {
	return openapi.Influence{
		Window: q.window, Items: view.List(got.GetItems(), showAiring),
		UpdatedAt: ledgerclient.Stamp(got.GetUpdatedAt()),
		Summary: openapi.Influence_Summary{
			Airings: got.GetAirings(), MeanAbsMoveBps: view.Whole(got.MeanAbsMoveBps),
			BaselineAbsMoveBps: view.Whole(got.BaselineAbsMoveBps),
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

func readSchedule(rawQuery string) view.Words {
	return view.Words{"schedule", broadcast.ParseCategory(httpcache.Query(rawQuery, scheduleParams)[0])}
}

// Schedule is GET /api/broadcast/schedule: markets by the time at which they end.
func (s *Server) Schedule() view.Read[view.Words] {
	return view.Read[view.Words]{
		Pages: s.planPages, Parse: readSchedule,
		Build: func(ctx context.Context, q view.Words) (view.Answer, error) {
			list, failed, err := s.Broadcast.Schedule(ctx, q[1])
			return view.Answer{Value: s.showSchedule(q[1], list), Missing: httpx.Source(failed)}, err
		},
		Empty: func(q view.Words) any { return s.showSchedule(q[1], nil) },
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
