package resolution

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
)

// MaxDaily is the maximum number of proposals that an operator may make in one day.
const MaxDaily = 20

// ErrCreator is returned for a proposal by an operator who did not create the market.
var ErrCreator = apperr.New(apperr.Forbidden, "forbidden", "only the creator of the market may propose its outcome")

// Proposal is an outcome that the creator of a native market proposes. It does not resolve the market, but while it exists, the
// market accepts no calls. It ends when the market is resolved, a dispute is cleared, or the proposal expires
// (market.ProposalLife).
type Proposal struct {
	MarketID   string
	OperatorID string
	MessageID  string // id of the signed message; each message can make one proposal
	Verdict    protocol.Verdict
	ProofURL   *string
	Reason     *string
}

// Propose stores a proposal, once for each message. Errors: invalid_market_id, invalid_verdict, market_not_found, forbidden,
// already_resolved, market_disputed, rate_limited, db_unavailable.
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
