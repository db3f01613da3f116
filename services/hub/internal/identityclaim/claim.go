package identityclaim

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
	operatorv1 "github.com/signalcast/signalcast/proto/operator/v1"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// Errors of identity claims.
var (
	ErrStation = apperr.New(apperr.Invalid, "invalid_station",
		"this station accepts no identity claims; leave station out to use the one that does").With("field", "station")
	ErrNotLinked = apperr.New(apperr.Forbidden, "wallet_not_linked",
		"your identity provider has not linked this wallet to your account; link it there first")
)

// Station is a partner station that identity claims may name.
type Station struct {
	Name    string
	Profile string // URL prefix of profiles; the identity is appended
}

// Claim is the public claim of an operator to own a wallet at a station.
type Claim struct {
	Station    string
	Identity   string // canonical form of an Address
	VerifiedAt time.Time
	ProfileURL string
}

// Account is an operator with its private data from the ledger.
type Account struct {
	operator.Operator
	Issuer, Subject string // issuer and subject at the identity provider
	PayoutAddress   string // empty: none
	Links           []string
}

// Accounts reads accounts from the ledger. Errors of its methods: not_found, and the errors of the ledger.
type Accounts struct {
	Ledger operatorv1.OperatorReadServiceClient
}

// ByID returns the account with this operator id.
func (a Accounts) ByID(ctx context.Context, id operator.ID) (Account, error) {
	return a.read(ctx, &operatorv1.GetOperatorRequest{By: &operatorv1.GetOperatorRequest_Id{Id: string(id)}})
}

// ByHandle returns the account that has or had this handle.
func (a Accounts) ByHandle(ctx context.Context, handle protocol.Handle) (Account, error) {
	return a.read(ctx, &operatorv1.GetOperatorRequest{By: &operatorv1.GetOperatorRequest_Handle{Handle: string(handle)}})
}

func (a Accounts) read(ctx context.Context, q *operatorv1.GetOperatorRequest) (Account, error) {
	r, err := a.Ledger.GetOperator(ctx, q)
	if err != nil {
		return Account{}, err
	}
	o := r.GetOperator()
	return Account{
		Operator: operator.FromMessage(o), Issuer: o.GetIssuer(), Subject: o.GetProviderId(), PayoutAddress: o.GetPayoutAddress(), Links: o.GetLinks(),
	}, nil
}

// Provider checks wallets with identity providers. Linked reports whether the provider has linked the wallet to the subject.
// token is the identity token of the request; it may be empty. Errors: unauthenticated for an invalid token,
// identity_provider_unavailable.
type Provider interface {
	Linked(ctx context.Context, issuer, subject, token string, a Address) (bool, error)
}

// Store stores identity claims. Error of all methods: db_unavailable.
type Store interface {
	// StoreClaim stores a claim. It replaces the owner's claim at the station, and all claims of the same wallet there
	// by other owners: the latest claim is valid.
	StoreClaim(ctx context.Context, owner operator.ID, c Claim) error
	// ListClaims returns the claims of an owner, ordered by station.
	ListClaims(ctx context.Context, owner operator.ID) ([]Claim, error)
	// DropClaim deletes the owner's claim at a station. It reports whether there was one.
	DropClaim(ctx context.Context, owner operator.ID, station string) (bool, error)
}

// Service stores, lists and deletes identity claims.
type Service struct {
	stations []Station
	accounts Accounts
	provider Provider
	store    Store
	now      func() time.Time
}

// NewService builds a Service. The first station is the default station.
func NewService(stations []Station, accounts Accounts, provider Provider, store Store, now func() time.Time) *Service {
	return &Service{stations: stations, accounts: accounts, provider: provider, store: store, now: now}
}

// Station returns the configured station with this name. For an empty name, it returns the first station. Error: ErrStation.
func (s *Service) Station(name string) (Station, error) {
	for _, st := range s.stations {
		if name == "" || name == st.Name {
			return st, nil
		}
	}
	return Station{}, ErrStation
}

// Claim stores that the operator me owns the wallet with the address a. If the identity provider has not linked the wallet to
// the operator's account, it returns ErrNotLinked. Other errors: those of the ledger, the identity provider and the store.
func (s *Service) Claim(ctx context.Context, me operator.ID, at Station, a Address, token string) (Claim, error) {
	account, err := s.accounts.ByID(ctx, me)
	if err != nil {
		return Claim{}, err
	}
	linked, err := s.provider.Linked(ctx, account.Issuer, account.Subject, token, a)
	if err != nil {
		return Claim{}, err
	}
	if !linked {
		return Claim{}, ErrNotLinked
	}
	c := Claim{Station: at.Name, Identity: a.String(), VerifiedAt: s.now(), ProfileURL: at.Profile + a.String()}
	if err := s.store.StoreClaim(ctx, me, c); err != nil {
		return Claim{}, err
	}
	return c, nil
}

// Claims returns the claims of an operator at the configured stations. It omits claims at other stations. Error: db_unavailable.
func (s *Service) Claims(ctx context.Context, owner operator.ID) ([]Claim, error) {
	list, err := s.store.ListClaims(ctx, owner)
	if err != nil {
		return nil, err
	}
	out := make([]Claim, 0, len(list))
	for _, c := range list {
		st, err := s.Station(c.Station)
		if err != nil {
			continue
		}
		c.ProfileURL = st.Profile + c.Identity
		out = append(out, c)
	}
	return out, nil
}

// Drop deletes the owner's claim at a station and reports whether there was one. Error: db_unavailable.
func (s *Service) Drop(ctx context.Context, owner operator.ID, at Station) (bool, error) {
	return s.store.DropClaim(ctx, owner, at.Name)
}
