package signalcast

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"iter"

	"github.com/signalcast/signalcast/sdk/go/client"
)

// Boards rank operators by what they called.
type Boards struct{ c *Client }

// Score reads the board by score.
func (b Boards) Score(ctx context.Context, params *client.ListScoreBoardParams) (client.ScoreBoard, error) {
	return read[client.ScoreBoard](b.c.API.ListScoreBoard(ctx, params))
}

// Broadcast reads the board by broadcast score.
func (b Boards) Broadcast(ctx context.Context, params *client.ListBroadcastBoardParams) (client.BroadcastBoard, error) {
	return read[client.BroadcastBoard](b.c.Hub.ListBroadcastBoard(ctx, params))
}

// Operators are who calls.
type Operators struct{ c *Client }

// Get reads an operator in one answer: rank, figures, newest calls, moments.
func (o Operators) Get(ctx context.Context, handle string) (client.OperatorAtom, error) {
	return read[client.OperatorAtom](o.c.Hub.GetOperatorAtom(ctx, handle))
}

// Skill reads how much of a record is skill.
func (o Operators) Skill(ctx context.Context, handle string, params *client.GetOperatorSkillParams) (client.OperatorSkill, error) {
	return read[client.OperatorSkill](o.c.Hub.GetOperatorSkill(ctx, handle, params))
}

// maxLine is more than a line of a record has, in bytes.
const maxLine = 1 << 20

// Record reads a whole record, line by line as it comes; each is one JSON object, and
// `signalcast record verify` knows them. A record that is cut ends with an error.
func (o Operators) Record(ctx context.Context, handle string) iter.Seq2[json.RawMessage, error] {
	return func(yield func(json.RawMessage, error) bool) {
		a, err := o.c.Hub.GetOperatorRecord(ctx, handle, nil)
		if err != nil {
			yield(nil, err)
			return
		}
		defer func() { _ = a.Body.Close() }()
		if a.StatusCode != 200 {
			raw, _ := io.ReadAll(io.LimitReader(a.Body, maxAnswer)) // the error has what was read and the status
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
