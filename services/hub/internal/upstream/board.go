package upstream

import (
	"context"

	"google.golang.org/grpc"

	boardv1 "github.com/signalcast/signalcast/proto/board/v1"

	"github.com/signalcast/signalcast/services/hub/internal/board"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// Boards is the ledger's ranking of operators.
type Boards struct {
	read boardv1.BoardReadServiceClient
}

// NewBoards uses a connection to the ledger.
func NewBoards(cc grpc.ClientConnInterface) *Boards {
	return &Boards{boardv1.NewBoardReadServiceClient(cc)}
}

// Broadcast implements board.Ledger.
func (b *Boards) Broadcast(ctx context.Context, q board.Query, limit int) (board.Board, error) {
	ctx, cancel := brief(ctx)
	defer cancel()
	r, err := b.read.ListBroadcast(ctx, &boardv1.ListBroadcastRequest{
		Operators: q.Operators, Lane: string(q.Lane), Window: q.Window, Limit: int32(limit), Order: q.Order,
	})
	if err != nil {
		return board.Board{}, err
	}
	rows := make([]board.Row, 0, len(r.GetRows()))
	for _, row := range r.GetRows() {
		rows = append(rows, board.Row{
			Rank: row.GetRank(), Operator: operatorOf(row.GetOperator()), Score: row.GetScore(),
			Total: row.GetTotal(), Won: row.GetWon(), Lost: row.GetLost(), Pending: row.GetPending(),
			Accuracy: row.GetAccuracy(), BroadcastScore: row.GetBroadcastScore(),
			Skill: row.GetSkill(), Activity: row.GetActivity(), Reach: row.GetReach(),
			Live: row.GetLive(), Edge: edgeOf(row),
		})
	}
	return board.Board{Rows: rows, UpdatedAt: at(r.GetUpdatedAt())}, nil
}

func edgeOf(row *boardv1.Row) *board.Edge {
	if row.GetEdgeCalls() == 0 {
		return nil
	}
	return &board.Edge{Calls: row.GetEdgeCalls(), Bps: row.GetEdgeBps(), Low: row.GetEdgeLowBps(), High: row.GetEdgeHighBps()}
}

// Record implements board.Ledger.
func (b *Boards) Record(ctx context.Context, of operator.ID) (board.Record, error) {
	ctx, cancel := brief(ctx)
	defer cancel()
	r, err := b.read.GetRecord(ctx, &boardv1.GetRecordRequest{OperatorId: string(of)})
	if err != nil {
		return board.Record{}, err
	}
	return board.Record{Total: r.GetTotal(), Won: r.GetWon(), Lost: r.GetLost(), Score: r.GetScore()}, nil
}
