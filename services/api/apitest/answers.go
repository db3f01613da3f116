package apitest

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	boardv1 "github.com/signalcast/signalcast/proto/board/v1"
	cataloguev1 "github.com/signalcast/signalcast/proto/catalogue/v1"
	digestv1 "github.com/signalcast/signalcast/proto/digest/v1"
	feedv1 "github.com/signalcast/signalcast/proto/feed/v1"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	programv1 "github.com/signalcast/signalcast/proto/program/v1"
	recordv1 "github.com/signalcast/signalcast/proto/record/v1"
	resolutionv1 "github.com/signalcast/signalcast/proto/resolution/v1"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
	wirev1 "github.com/signalcast/signalcast/proto/wire/v1"
)

// Answers contains responses that a test sets. They replace responses of the api that would need a long history of calls and
// prices, and responses of the clock service, which does not run. Requests without a set response go to the api. Before Run is
// called, the loops of the api do not run: a search finds no markets, and tiles, movement and situations are empty unless a
// test sets them. A test must hold the lock while it reads or changes a member.
type Answers struct {
	sync.Mutex

	Board      []*boardv1.Row
	Records    map[string]*recordv1.GetOperatorRecordResponse // by handle; the operator comes from the api
	Skills     map[string]*recordv1.GetSkillResponse          // by handle, lane and window; the operator comes from the api
	Courses    map[string]*recordv1.GetCourseResponse         // by handle
	Ranked     []*recordv1.Ranked
	Pulse      *recordv1.GetPulseResponse
	Day        *digestv1.GetDayResponse
	ScanReply  *resolutionv1.ScanResponse
	Sentiments map[string]*cataloguev1.GetSentimentResponse // by market; the market comes from the api
	Relations  map[string][]*cataloguev1.Relation           // by market
	Top        [2]int32                                     // percentage of the top operators who call YES, and their number
	Gaps       []*cataloguev1.Gap
	Histories  map[string][]*cataloguev1.HistoryPoint // by interval and token or market
	Tiles      map[string][]*cataloguev1.Tile         // by mode
	Moves      []*wirev1.Move
	Situations map[string][]*wirev1.Situation // by window
	Taken      []*wirev1.Taken
	Happened   []*feedv1.Event // newest first

	Program   *programv1.Program
	Influence *programv1.GetInfluenceResponse
}

// answer returns the response that the test has set for a request. Otherwise it calls the function handle, and replaces
// members of the response with values that the test has set. A GetRelatedRequest before Run gets a response with only the
// market.
func (a *API) answer(req any, handle func() (proto.Message, error)) (proto.Message, error) {
	if r, ok := req.(*cataloguev1.GetRelatedRequest); ok && a.stop == nil { // without Run, the search finds no relations
		handle = func() (proto.Message, error) {
			markets := marketv1.NewMarketReadServiceClient(a.direct())
			out, err := markets.GetMarket(context.Background(), &marketv1.GetMarketRequest{Id: r.GetMarketId()})
			return &cataloguev1.GetRelatedResponse{Active: out.GetMarket()}, err
		}
	}
	a.Lock()
	stated := proto.Clone(a.stated(req))
	a.Unlock()
	if stated != nil {
		return stated, nil
	}
	out, err := handle()
	a.Lock()
	defer a.Unlock()
	if err == nil {
		a.complete(req, out)
	}
	return out, err
}

// complete replaces members of a response of the api with the values that the test has set.
func (a *Answers) complete(req any, answer proto.Message) {
	switch out := answer.(type) {
	case *recordv1.GetOperatorRecordResponse:
		r := req.(*recordv1.GetOperatorRecordRequest)
		if stated := a.Records[out.GetOperator().GetHandle()]; stated != nil {
			operator := out.GetOperator()
			proto.Reset(out)
			proto.Merge(out, stated)
			out.Operator = operator
			out.Recent = out.Recent[:min(len(out.Recent), int(r.GetRecent()))]
			out.Moments = out.Moments[:min(len(out.Moments), int(r.GetMoments()))]
		}
	case *recordv1.GetSkillResponse:
		r := req.(*recordv1.GetSkillRequest)
		if stated := a.Skills[r.GetHandle()+" "+r.GetLane()+" "+r.GetWindow()]; stated != nil {
			out.Report, out.Lanes = stated.GetReport(), stated.GetLanes()
		}
	case *cataloguev1.GetSentimentResponse:
		if stated := a.Sentiments[req.(*cataloguev1.GetSentimentRequest).GetMarketId()]; stated != nil {
			market, at := out.GetMarket(), out.GetUpdatedAt()
			proto.Reset(out)
			proto.Merge(out, stated)
			out.Market, out.UpdatedAt = market, at
		}
	case *signalv1.GetCrowdResponse:
		if a.Top[1] > 0 && out.GetYes()+out.GetNo() > 0 {
			out.TopYesPercent, out.TopSample = &a.Top[0], a.Top[1]
		}
	case *cataloguev1.GetRelatedResponse:
		if stated, ok := a.Relations[req.(*cataloguev1.GetRelatedRequest).GetMarketId()]; ok {
			out.Related = stated
		}
	}
}

// stated returns the response to a request that the api must not handle, because the test has set the response, the clock
// does not run, or the loops of the api do not run. It returns nil for other requests.
func (a *API) stated(req any) proto.Message {
	now := timestamppb.New(a.now())
	switch r := req.(type) {
	case *programv1.GetProgramRequest:
		return &programv1.GetProgramResponse{Program: a.Program}
	case *programv1.GetInfluenceRequest:
		if a.Influence == nil {
			return &programv1.GetInfluenceResponse{UpdatedAt: now}
		}
		return a.Influence
	case *boardv1.ListBroadcastRequest:
		if a.Board != nil {
			return &boardv1.ListBroadcastResponse{Rows: head(a.Board, r.GetLimit()), UpdatedAt: now}
		}
	case *recordv1.GetCourseRequest:
		if stated := a.Courses[r.GetHandle()]; stated != nil {
			return stated
		}
	case *recordv1.ListOperatorsRequest:
		if a.Ranked != nil {
			return &recordv1.ListOperatorsResponse{Operators: head(a.Ranked, r.GetLimit()), UpdatedAt: now}
		}
	case *recordv1.GetPulseRequest:
		if a.Pulse != nil {
			return a.Pulse
		}
	case *digestv1.GetDayRequest:
		if a.Day != nil {
			return a.Day
		}
	case *resolutionv1.ScanRequest:
		if a.ScanReply != nil {
			return a.ScanReply
		}
	case *cataloguev1.ListGapsRequest:
		if a.Gaps != nil {
			gaps := slices.DeleteFunc(slices.Clone(a.Gaps), func(g *cataloguev1.Gap) bool {
				return r.GetMarketId() != "" && r.GetMarketId() != g.GetMarket().GetId()
			})
			return &cataloguev1.ListGapsResponse{Gaps: head(gaps, r.GetLimit())}
		}
	case *cataloguev1.ListHistoryRequest:
		if a.Histories != nil {
			key := r.GetInterval() + " " + cmp.Or(r.GetTokenId(), r.GetMarketId())
			return &cataloguev1.ListHistoryResponse{Points: a.Histories[key]}
		}
	case *feedv1.ListEventsRequest:
		if a.Happened != nil {
			return a.events(r)
		}
	}
	if _, tiles := req.(*cataloguev1.ListTilesRequest); a.stop != nil && (!tiles || a.Tiles == nil) {
		return nil // the loops of the api run, so the api can answer
	}
	switch r := req.(type) {
	case *cataloguev1.FindMarketsRequest:
		return &cataloguev1.FindMarketsResponse{}
	case *cataloguev1.ListTilesRequest:
		place := func(t *cataloguev1.Tile) int {
			if i := slices.Index(r.GetPinned(), t.GetMarketId()); i >= 0 {
				return i
			}
			return len(r.GetPinned())
		}
		tiles := slices.Clone(a.Tiles[r.GetMode()])
		slices.SortStableFunc(tiles, func(x, y *cataloguev1.Tile) int { return cmp.Compare(place(x), place(y)) })
		return &cataloguev1.ListTilesResponse{Tiles: tiles, UpdatedAt: now}
	case *wirev1.ListMovesRequest:
		return &wirev1.ListMovesResponse{Moves: ofLane(a.Moves, r.GetLane(), r.GetLimit()), GeneratedAt: now}
	case *wirev1.ListSituationsRequest:
		situations := ofLane(a.Situations[r.GetWindow()], r.GetLane(), r.GetLimit())
		return &wirev1.ListSituationsResponse{Situations: situations, GeneratedAt: now}
	case *wirev1.ListTakenRequest:
		return &wirev1.ListTakenResponse{Markets: head(a.Taken, r.GetLimit()), GeneratedAt: now}
	}
	return nil
}

// events returns the events of Happened with a requested type and a sequence number below r.Before, newest first, at most
// r.Limit. If r.Before is 0, all numbers match. Head is the greatest sequence number in Happened.
func (a *Answers) events(r *feedv1.ListEventsRequest) *feedv1.ListEventsResponse {
	out := &feedv1.ListEventsResponse{}
	for _, e := range a.Happened {
		out.Head = max(out.Head, e.GetSeq())
		before := r.GetBefore() == 0 || e.GetSeq() < r.GetBefore()
		if before && len(out.Events) < int(r.GetLimit()) && slices.Contains(r.GetTypes(), e.GetType()) {
			out.Events = append(out.Events, e)
		}
	}
	return out
}

// head returns the first limit entries of a list, or all of them if there are fewer.
func head[T any](list []T, limit int32) []T { return list[:min(len(list), int(limit))] }

// ofLane returns the first limit entries of a list that belong to the lane, or all of them if there are fewer. An empty lane
// selects all entries.
func ofLane[T interface{ GetLane() string }](list []T, lane string, limit int32) []T {
	return head(slices.DeleteFunc(slices.Clone(list), func(e T) bool { return lane != "" && lane != e.GetLane() }), limit)
}
