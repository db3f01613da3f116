package reads

import (
	"context"
	"encoding/json"

	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/protocol"
	cataloguev1 "github.com/signalcast/signalcast/proto/catalogue/v1"
	"github.com/signalcast/signalcast/services/hub/internal/board"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/request"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
	"github.com/signalcast/signalcast/services/hub/internal/market"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
	"github.com/signalcast/signalcast/services/hub/internal/signal"
)

// toolBoardMax is the maximum number of leaderboard rows in a tool result.
const toolBoardMax = 40

// ToolOperator is the MCP tool get_operator. It returns the result of GET /api/operator/{handle}, or of GET
// /api/operator/leaderboard if the argument "handle" is absent.
func (s *Server) ToolOperator(ctx context.Context, _ caller.Caller, o httpx.Object) (any, error) {
	raw, limit := o.OptString("handle", httpx.BodyLimit), request.Limit(o, toolBoardMax, toolBoardMax)
	if err := o.Err(); err != nil {
		return nil, err
	}
	if raw == nil {
		q := boardQuery{board.ParseQuery("", "", "", ""), limit}
		return rawResult(s.Board().Body(ctx, q))
	}
	handle, err := protocol.ParseHandle(*raw)
	if err != nil {
		return nil, operator.ErrUnknown
	}
	return rawResult(view.BodyOf(ctx, s.recordPages, atomKey(handle), s.buildAtom(handle)))
}

// ToolSignal is the MCP tool get_signal. It returns the results of GET /api/signals/{id} and GET /api/signals/{id}/events in one
// object.
func (s *Server) ToolSignal(ctx context.Context, _ caller.Caller, o httpx.Object) (any, error) {
	raw := o.String("id", httpx.BodyLimit, true)
	if err := o.Err(); err != nil {
		return nil, err
	}
	id, ok := request.ParseUUID(raw)
	if !ok {
		return nil, signal.ErrUnknown
	}
	return s.withEvents(ctx, id)
}

// ToolSignals is the MCP tool list_signals. It returns the result of GET /api/signals/feed.
func (s *Server) ToolSignals(ctx context.Context, _ caller.Caller, o httpx.Object) (any, error) {
	kind := o.OptEnum("type", string(signal.FeedRecent), string(signal.FeedBeatCrowd), string(signal.FeedOpen))
	q := feedQuery{signal.ParseFeedType(kind), request.Limit(o, signal.FeedDefault, signal.FeedMax)}
	if err := o.Err(); err != nil {
		return nil, err
	}
	return rawResult(s.Feed().Body(ctx, q))
}

// ToolRecord is the MCP tool my_record. It returns the result of GET /api/network/field-record/me.
func (s *Server) ToolRecord(ctx context.Context, who caller.Caller, _ httpx.Object) (any, error) {
	return s.fieldRecordOf(ctx, operator.ID(who.UserID()))
}

// ToolSearch is the MCP tool search_markets. It searches the open markets of the primary venue, ordered by volume.
func (s *Server) ToolSearch(ctx context.Context, _ caller.Caller, o httpx.Object) (any, error) {
	text, lane := request.Optional(o, "query"), request.Optional(o, "lane")
	if lane != "" && protocol.LaneFilter(lane) == "" {
		o.Invalid("lane", "must be one of: "+protocol.LaneNames(protocol.Lanes[:len(protocol.Lanes)-1]))
	}
	q := &cataloguev1.FindMarketsRequest{
		Text: market.CutText(text), Provider: string(protocol.Polymarket), Lane: string(protocol.LaneFilter(lane)),
		Sort:   "volume",
		Limit:  int32(request.Limit(o, market.DefaultRows, market.MaxRows)),
		Cursor: request.Cursor(request.Optional(o, "cursor")),
	}
	if err := o.Err(); err != nil {
		return nil, err
	}
	return s.findRows(ctx, q)
}

func rawResult(body []byte, err error) (any, error) { return json.RawMessage(body), err }
