package rpc

import (
	"context"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	boardv1 "github.com/signalcast/signalcast/proto/board/v1"
	"github.com/signalcast/signalcast/services/api/internal/board"
)

// Boards serves BoardReadService.
type Boards struct {
	boardv1.UnimplementedBoardReadServiceServer
	service *board.Service
	now     func() time.Time
}

// NewBoards wires the face.
func NewBoards(service *board.Service, now func() time.Time) *Boards {
	return &Boards{service: service, now: now}
}

// ListScores is the board of the API host.
func (f *Boards) ListScores(ctx context.Context, r *boardv1.ListScoresRequest) (*boardv1.ListScoresResponse, error) {
	group, limit := board.ParseGroup(r.GetOperators(), board.Human), bound(r.GetLimit(), 50, 200)
	list := f.service.Scores
	if r.GetOrder() == board.ByEdge {
		list = f.service.EdgeBoard
	}
	rows, err := list(ctx, group, r.GetLane(), limit)
	if err != nil {
		return nil, err
	}
	return &boardv1.ListScoresResponse{Rows: rowsTo(rows), UpdatedAt: timestamppb.New(f.now())}, nil
}

// ListBroadcast is the board of the hub.
func (f *Boards) ListBroadcast(ctx context.Context, r *boardv1.ListBroadcastRequest) (*boardv1.ListBroadcastResponse, error) {
	group, limit := board.ParseGroup(r.GetOperators(), board.Independent), bound(r.GetLimit(), 50, 100)
	var rows []board.Row
	var err error
	if r.GetOrder() == board.ByEdge {
		rows, err = f.service.EdgeBoard(ctx, group, r.GetLane(), limit)
	} else {
		rows, err = f.service.BroadcastBoard(ctx, group, r.GetLane(), r.GetWindow(), limit)
	}
	if err != nil {
		return nil, err
	}
	return &boardv1.ListBroadcastResponse{Rows: rowsTo(rows), UpdatedAt: timestamppb.New(f.now())}, nil
}

// GetRecord counts one operator's calls.
func (f *Boards) GetRecord(ctx context.Context, r *boardv1.GetRecordRequest) (*boardv1.GetRecordResponse, error) {
	if err := uuids(r.GetOperatorId()); err != nil {
		return nil, err
	}
	got, err := f.service.Record(ctx, r.GetOperatorId())
	if err != nil {
		return nil, err
	}
	return &boardv1.GetRecordResponse{Total: got.Total, Won: got.Won, Lost: got.Lost, Void: got.Void, Score: got.Score}, nil
}

func bound(n int32, fallback, most int) int {
	if n < 1 {
		return fallback
	}
	return min(int(n), most)
}

func rowsTo(rows []board.Row) []*boardv1.Row {
	out := make([]*boardv1.Row, len(rows))
	for i, r := range rows {
		out[i] = &boardv1.Row{
			Rank: int32(r.Rank), Operator: operatorTo(r.Operator), Score: r.Score, Total: r.Total, Won: r.Won,
			Lost: r.Lost, Pending: r.Pending, Accuracy: int32(r.Accuracy),
			EdgeCalls: r.Edge.Calls, EdgeBps: int32(r.Edge.EdgeBps), EdgeLowBps: int32(r.Edge.LowBps), EdgeHighBps: int32(r.Edge.HighBps),
		}
		if b := r.Broadcast; b != nil {
			out[i].BroadcastScore, out[i].Skill, out[i].Activity, out[i].Reach = int32(b.Score), b.Skill, b.Activity, b.Reach
		}
	}
	return out
}
