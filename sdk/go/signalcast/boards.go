package signalcast

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"iter"
	"net/http"

	"github.com/signalcast/signalcast/sdk/go/client"
)

// Boards reads the leaderboards.
type Boards struct{ c *Client }

// Score returns the leaderboard of operators by points.
func (b Boards) Score(ctx context.Context, params *client.ListScoreBoardParams) (client.ScoreBoard, error) {
	return read[client.ScoreBoard](b.c.API.ListScoreBoard(ctx, params))
}

// Broadcast returns the leaderboard of operators by broadcast score, which is from 0 to 1,000.
func (b Boards) Broadcast(ctx context.Context, params *client.ListBroadcastBoardParams) (client.BroadcastBoard, error) {
	return read[client.BroadcastBoard](b.c.Hub.ListBroadcastBoard(ctx, params))
}

// Operators reads operators and their records.
type Operators struct{ c *Client }

// Get returns the rank, statistics, newest calls and moments of an operator.
func (o Operators) Get(ctx context.Context, handle string) (client.OperatorAtom, error) {
	return read[client.OperatorAtom](o.c.Hub.GetOperatorAtom(ctx, handle))
}

// Skill returns the statistics of an operator that distinguish skill from luck (docs/method.md).
func (o Operators) Skill(ctx context.Context, handle string, params *client.GetOperatorSkillParams) (client.OperatorSkill, error) {
	return read[client.OperatorSkill](o.c.Hub.GetOperatorSkill(ctx, handle, params))
}

// maxLine is the maximum length of a line of a record, in bytes.
const maxLine = 1 << 20

// Record returns the lines of the whole record of an operator as a stream. Each element is one JSON object. The command
// `signalcast record verify` checks the lines. An incomplete record ends with an error.
func (o Operators) Record(ctx context.Context, handle string) iter.Seq2[json.RawMessage, error] {
	return func(yield func(json.RawMessage, error) bool) {
		a, err := o.c.Hub.GetOperatorRecord(ctx, handle, nil)
		if err != nil {
			yield(nil, err)
			return
		}
		defer func() { _ = a.Body.Close() }()
		if a.StatusCode != http.StatusOK {
			raw, _ := io.ReadAll(io.LimitReader(a.Body, maxAnswer)) // the error contains the bytes that were read and the status
			yield(nil, refusal(operationOf(a), a, raw))
			return
		}
		lines := bufio.NewScanner(a.Body)
		lines.Buffer(nil, maxLine)
		for lines.Scan() {
			if line := lines.Bytes(); len(line) > 0 && !yield(append(json.RawMessage(nil), line...), nil) {
				return
			}
		}
		if err := lines.Err(); err != nil {
			yield(nil, &Unanswered{Operation: operationOf(a), Err: err})
		}
	}
}
