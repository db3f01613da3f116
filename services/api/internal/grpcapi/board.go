package grpcapi

import (
	"context"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	boardv1 "github.com/signalcast/signalcast/proto/board/v1"
	"github.com/signalcast/signalcast/services/api/internal/board"
)

// Boards implements the gRPC service BoardReadService.
type Boards struct {
	boardv1.UnimplementedBoardReadServiceServer
	Service *board.Service
	Now     func() time.Time
}

// ListBroadcast returns a board, ordered by edge or by broadcast score of all time or of 28 days. The limit is at most 100; if
// the request has no limit, it is 50. Error: db_unavailable.
func (f *Boards) ListBroadcast(ctx context.Context, r *boardv1.ListBroadcastRequest) (*boardv1.ListBroadcastResponse, error) {
	group, limit := board.ParseGroup(r.GetOperators(), board.Independent), bound(r.GetLimit(), 50, 100)
	by := board.ByBroadcast
	switch {
	case r.GetOrder() == board.ByEdge:
		by = board.ByEdge
	case r.GetWindow() == "28d":
		by = board.ByBroadcast28
	}
	rows, err := f.Service.Board(ctx, by, group, r.GetLane(), limit)
	return &boardv1.ListBroadcastResponse{Rows: listOf(rows, rowTo), UpdatedAt: timestamppb.New(f.Now())}, err
}

// GetRecord returns the numbers of one operator's calls and the score. Errors: not_found for an invalid id, db_unavailable.
func (f *Boards) GetRecord(ctx context.Context, r *boardv1.GetRecordRequest) (*boardv1.GetRecordResponse, error) {
	if err := uuids(r.GetOperatorId()); err != nil {
		return nil, err
	}
	got, err := f.Service.Record(ctx, r.GetOperatorId())
	return &boardv1.GetRecordResponse{Total: got.Total, Won: got.Won, Lost: got.Lost, Void: got.Void, Score: got.Score}, err
}

// bound returns n, at most limit. If n is less than 1, it returns fallback.
func bound(n int32, fallback, limit int) int {
	if n < 1 {
		return fallback
	}
	return min(int(n), limit)
}

func rowTo(r board.Row) *boardv1.Row {
	b := r.Broadcast
	return &boardv1.Row{
		Rank: int32(r.Rank), Operator: operatorTo(r.Operator), Score: r.Score, Total: r.Total, Won: r.Won,
		Lost: r.Lost, Pending: r.Pending, Accuracy: int32(r.Accuracy),
		EdgeCalls: r.Edge.Calls, EdgeBps: int32(r.Edge.EdgeBps), EdgeLowBps: int32(r.Edge.LowBps), EdgeHighBps: int32(r.Edge.HighBps),
		BroadcastScore: int32(b.Score), Skill: b.Skill, Activity: b.Activity, Reach: b.Reach,
		ViewerMinutes: b.ViewerMinutes28,
	}
}
