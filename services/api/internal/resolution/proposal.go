package resolution

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
)

// MaxDaily is how many proposals an operator may make in a day.
const MaxDaily = 20

// ErrCreator refuses a proposal to everybody but the market's creator.
var ErrCreator = apperr.New(apperr.Forbidden, "forbidden", "the market's creator alone proposes its outcome")

// Proposal is what the creator of a native market says its outcome is. It decides
// nothing: until it ends, by an outcome, by a cleared dispute or by its age
// (market.ProposalLife), the market takes no calls.
type Proposal struct {
	MarketID   string
	OperatorID string
	MessageID  string // of the signed message: the proposal is made once for it
	Verdict    protocol.Verdict
	ProofURL   *string
	Reason     *string
}

// Propose keeps a proposal. Faults: invalid_market_id, invalid_verdict,
// market_not_found, forbidden, already_resolved, market_disputed, rate_limited.
func (s *Service) Propose(ctx context.Context, p Proposal) error {
	id, err := protocol.ParseMarketID(p.MarketID)
	if err != nil || !id.IsNative() {
		return ErrNative
	}
	if _, ok := protocol.ParseVerdict(string(p.Verdict)); !ok {
		return ErrVerdict
	}
	return s.store.Propose(ctx, p, s.now().UTC().Truncate(time.Millisecond))
}
