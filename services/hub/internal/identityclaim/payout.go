package identityclaim

import (
	"context"
	"errors"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
)

// Money is where payouts are made.
type Money struct {
	ChainID int64 // zero: nowhere
	Label   string
	USDC    string // address of the token
}

// Payouts tells who may be paid.
type Payouts struct {
	Money    Money
	Accounts Accounts
}

// Address is where an operator may be paid; empty for one that may not be, or that
// nobody knows. People of their own and of the house may, once they have said where.
// Faults: those of the port but not_found.
func (p Payouts) Address(ctx context.Context, handle protocol.Handle) (string, error) {
	if p.Money.ChainID == 0 {
		return "", nil
	}
	a, err := p.Accounts.ByHandle(ctx, handle)
	var f *apperr.Fault
	if errors.As(err, &f) && f.Kind == apperr.NotFound {
		return "", nil
	}
	if err != nil || !a.Tier.Ranked() { // machines are of neither tier
		return "", err
	}
	return a.PayoutAddress, nil
}
