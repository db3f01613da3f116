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
	// Suspended reports whether an operator is suspended. Suspended operators receive no payouts. Error: db_unavailable.
	Suspended func(ctx context.Context, handle protocol.Handle) (bool, error)
}

// Address returns the payout address of an operator. It returns "" if the operator is unknown or not eligible (AddressOf).
// Errors: db_unavailable, those of the ledger except not_found.
func (p Payouts) Address(ctx context.Context, handle protocol.Handle) (string, error) {
	if p.Money.ChainID == 0 {
		return "", nil
	}
	a, err := p.Accounts.ByHandle(ctx, handle)
	var f *apperr.Fault
	if errors.As(err, &f) && f.Kind == apperr.NotFound {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return p.AddressOf(ctx, a)
}

// AddressOf returns the payout address of an account. It returns "" if the operator has no address, is suspended, or has a tier
// without payouts, or if payouts are disabled. The tiers People and House receive payouts; Bots do not. Error: db_unavailable.
func (p Payouts) AddressOf(ctx context.Context, a Account) (string, error) {
	if p.Money.ChainID == 0 || a.PayoutAddress == "" || !a.Tier.Ranked() { // Bots are not ranked
		return "", nil
	}
	suspended, err := p.Suspended(ctx, a.Handle)
	if err != nil || suspended {
		return "", err
	}
	return a.PayoutAddress, nil
}
