package edge

import (
	"context"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/pkg/web"
	cataloguev1 "github.com/signalcast/signalcast/proto/catalogue/v1"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
	"github.com/signalcast/signalcast/services/hub/internal/board"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
	"github.com/signalcast/signalcast/services/hub/internal/market"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
	"github.com/signalcast/signalcast/services/hub/internal/program"
	"github.com/signalcast/signalcast/services/hub/internal/signal"
)

// toolBoard is the most rows of the leaderboard that a tool gives.
const toolBoard = 40

// toolSignalJSON is a call with its history.
type toolSignalJSON struct {
	signalJSON
	Events []eventJSON `json:"events"`
}

// toolMarket is GET /api/network/market/{marketId}.
func (s *server) toolMarket(ctx context.Context, _ caller.Caller, o web.Object) (any, error) {
	raw := o.String("marketId", web.BodyLimit, true)
	if err := o.Err(); err != nil {
		return nil, err
	}
	id, err := syntax.ParseMarketID(raw)
	if err != nil {
		return nil, market.ErrUnknown
	}
	return s.networkAnswer(ctx, id)
}

// toolOperator is GET /api/operator/{handle}, or GET /api/operator/leaderboard.
func (s *server) toolOperator(ctx context.Context, _ caller.Caller, o web.Object) (any, error) {
	raw, limit := o.OptString("handle", web.BodyLimit), toolLimit(o, toolBoard, toolBoard)
	if err := o.Err(); err != nil {
		return nil, err
	}
	if raw == nil {
		q := boardQuery{board.ParseQuery("", "", "", ""), limit}
		return asRaw(bodyOf(ctx, s.boardPages, q.key(), s.buildBoard(q)))
	}
	handle, err := syntax.ParseHandle(*raw)
	if err != nil {
		return nil, operator.ErrUnknown
	}
	return asRaw(bodyOf(ctx, s.records, atomKey(handle), s.buildAtom(handle)))
}

// toolProgram is GET /api/network/program.
func (s *server) toolProgram(ctx context.Context, _ caller.Caller, o web.Object) (any, error) {
	preset := o.OptEnum("preset", "hot", "resolving", "close")
	limit := toolLimit(o, program.DefaultLimit, program.MaxLimit)
	if err := o.Err(); err != nil {
		return nil, err
	}
	q := program.ParseQuery(func(name string) string {
		switch name {
		case "preset":
			return preset
		case "limit":
			return keyOf(limit)
		case "lanes":
			return "0" // they repeat the segments
		}
		return ""
	})
	return asRaw(s.programBody(ctx, q))
}

// toolSignal is GET /api/signals/{id} with GET /api/signals/{id}/events.
func (s *server) toolSignal(ctx context.Context, _ caller.Caller, o web.Object) (any, error) {
	raw := o.String("id", web.BodyLimit, true)
	if err := o.Err(); err != nil {
		return nil, err
	}
	id, ok := parseUUID(raw)
	if !ok {
		return nil, signal.ErrUnknown
	}
	found, err := s.Ledger.Signals.GetSignal(ctx, &signalv1.GetSignalRequest{Id: id})
	if err != nil {
		return nil, err
	}
	list, err := s.Ledger.Signals.ListEvents(ctx, &signalv1.ListEventsRequest{SignalId: id})
	if err != nil {
		return nil, err
	}
	return toolSignalJSON{showSignal(found.GetSignal()), showEvents(list.GetEvents())}, nil
}

// toolSignals is GET /api/signals/feed.
func (s *server) toolSignals(ctx context.Context, _ caller.Caller, o web.Object) (any, error) {
	kind := o.OptEnum("type", string(signal.FeedRecent), string(signal.FeedBeatCrowd), string(signal.FeedOpen))
	q := feedQuery{signal.ParseFeedType(kind), toolLimit(o, signal.FeedDefault, signal.FeedMax)}
	if err := o.Err(); err != nil {
		return nil, err
	}
	return asRaw(bodyOf(ctx, s.feeds, q.key(), s.buildFeed(q)))
}

// toolRecord is GET /api/network/field-record/me.
func (s *server) toolRecord(ctx context.Context, who caller.Caller, _ web.Object) (any, error) {
	return s.fieldRecordOf(ctx, operator.ID(userOf(who)))
}

// toolSearch is GET /api/{venue_a}/markets.
func (s *server) toolSearch(ctx context.Context, _ caller.Caller, o web.Object) (any, error) {
	text, lane := optional(o, "query"), optional(o, "lane")
	if lane != "" && syntax.LaneFilter(lane) == "" {
		o.Invalid("lane", "is no lane")
	}
	q := &cataloguev1.FindMarketsRequest{
		Text: market.CutText(text), Provider: string(syntax.Polymarket), Lane: string(syntax.LaneFilter(lane)), Sort: "volume",
		Limit: int32(toolLimit(o, market.DefaultRows, market.MaxRows)), Cursor: readCursor(optional(o, "cursor")),
	}
	if err := o.Err(); err != nil {
		return nil, err
	}
	return s.findRows(ctx, q)
}

// toolLimit reads how many rows are wanted. Where a route takes the nearest number that
// it has, a tool says that the number is wrong: its schema told which ones there are.
func toolLimit(o web.Object, preset, most int) int {
	if n := o.OptInt("limit", 1, int64(most)); n != nil {
		return int(*n)
	}
	return preset
}

func asRaw(body []byte, err error) (any, error) { return rawJSON(body), err }
