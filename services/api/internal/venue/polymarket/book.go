package polymarket

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/signalcast/signalcast/services/api/internal/venue"
)

// bookRecord is the JSON record of a market at the order-book service. It contains no prices.
type bookRecord struct {
	ConditionID string `json:"condition_id"`
	Closed      bool   `json:"closed"`
	Half        bool   `json:"is_50_50_outcome"`
	Tokens      []struct {
		Outcome string `json:"outcome"`
		Winner  bool   `json:"winner"`
	} `json:"tokens"`
}

// winner returns the index of the winning outcome in outcomes, the outcome labels of the market. It returns -1 if there is
// not exactly one winner, or if the winner is not one of the first two tokens.
func (b *bookRecord) winner(outcomes []string) int {
	found := -1
	for i, t := range b.Tokens {
		if !t.Winner {
			continue
		}
		if found >= 0 || i > 1 {
			return -1
		}
		found = i
		for j, label := range outcomes { // the label has precedence over the order of the tokens
			if strings.EqualFold(strings.TrimSpace(t.Outcome), strings.TrimSpace(label)) {
				found = j
				break
			}
		}
	}
	return found
}

func (b *bookRecord) hasWinner() bool {
	for _, t := range b.Tokens {
		if t.Winner {
			return true
		}
	}
	return false
}

// readRecord returns the order-book record of the market with a condition id. It returns nil without an error if condition is
// empty or the service has no such record.
func (a *Adapter) readRecord(ctx context.Context, condition string) (*bookRecord, error) {
	if condition == "" {
		return nil, nil
	}
	raw, err := a.clob.Get(ctx, "book_record", "/markets/"+condition, nil)
	if venue.Missing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var b bookRecord
	if err := json.Unmarshal(raw, &b); err != nil {
		return nil, fmt.Errorf("decode order-book record: %w", err)
	}
	if b.ConditionID != condition {
		return nil, fmt.Errorf("the order-book service returned another condition: %.80q", b.ConditionID)
	}
	return &b, nil
}
