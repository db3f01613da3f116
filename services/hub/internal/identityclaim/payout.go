package identityclaim

import (
	"context"
	"errors"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
)

// Money describes the chain and the token in which payouts are made.
type Money struct {
	ChainID int64 // 0: payouts are disabled
	Label   string
	USDC    string // address of the token contract
}

// Payouts reads the payout addresses of operators from the ledger.
type Payouts struct {
	Money    Money
	Accounts Accounts
}

// Address returns the payout address of an operator. It returns "" if the operator is unknown, has no address, or has a tier
// without payouts, or if payouts are disabled. The tiers People and House receive payouts; Bots do not. It returns the errors of
// the ledger except not_found.
func (p Payouts) Address(ctx context.Context, handle protocol.Handle) (string, error) {
	if p.Money.ChainID == 0 {
		return "", nil
	}
	a, err := p.Accounts.ByHandle(ctx, handle)
	var f *apperr.Fault
	if errors.As(err, &f) && f.Kind == apperr.NotFound {
		return "", nil
	}
	if err != nil || !a.Tier.Ranked() { // Bots are not ranked
		return "", err
	}
	return a.PayoutAddress, nil
}
