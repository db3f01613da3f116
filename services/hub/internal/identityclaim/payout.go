package identityclaim

import (
	"context"
	"errors"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
)

// Money is the chain and token of payouts.
type Money struct {
	ChainID int64 // zero: payouts are disabled
	Label   string
	USDC    string // address of the token contract
}

// Payouts returns the payout addresses of operators.
type Payouts struct {
	Money    Money
	Accounts Accounts
}

// Address returns the payout address of an operator; empty if there is none, if the operator is unknown, or if its tier
// receives no payouts. People and House receive payouts, bots do not. Errors: those of the ledger except not_found.
func (p Payouts) Address(ctx context.Context, handle protocol.Handle) (string, error) {
	if p.Money.ChainID == 0 {
		return "", nil
	}
	a, err := p.Accounts.ByHandle(ctx, handle)
	var f *apperr.Fault
	if errors.As(err, &f) && f.Kind == apperr.NotFound {
		return "", nil
	}
	if err != nil || !a.Tier.Ranked() { // bots are not ranked
		return "", err
	}
	return a.PayoutAddress, nil
}
