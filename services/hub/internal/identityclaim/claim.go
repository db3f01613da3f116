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
	ErrStation   = apperr.New(apperr.Invalid, "invalid_station", "this station accepts no identity claims").With("field", "station")
	ErrNotLinked = apperr.New(apperr.Forbidden, "wallet_not_linked",
		"your identity provider has not linked this wallet to your account; link it there first")
)

// Station is a partner station that claims may name.
type Station struct {
	Name    string
	Profile string // URL prefix of a profile; the identity is appended
}

// Claim states that a wallet belongs to an operator.
type Claim struct {
	Station    string
	Identity   string // an Address
	VerifiedAt time.Time
	ProfileURL string
}

// Account is an operator with its private data.
type Account struct {
	operator.Operator
	Issuer, Subject string // at the identity provider
	PayoutAddress   string // empty: none
	Links           []string
}

// Accounts finds accounts in the ledger. Errors: not_found and those of the ledger.
type Accounts struct {
	Ledger operatorv1.OperatorReadServiceClient
}

// ByID returns the account with an id.
func (a Accounts) ByID(ctx context.Context, id operator.ID) (Account, error) {
	return a.read(ctx, &operatorv1.GetOperatorRequest{By: &operatorv1.GetOperatorRequest_Id{Id: string(id)}})
}

// ByHandle returns the account with a handle.
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

// Provider reports whether an identity provider has linked a wallet to a subject. token is the identity token of the
// request, or empty. Errors: unauthenticated for an invalid token, identity_provider_unavailable.
type Provider interface {
	Linked(ctx context.Context, issuer, subject, token string, a Address) (bool, error)
}

// Store stores claims. Error of all methods: db_unavailable.
type Store interface {
	// StoreClaim stores a claim. It replaces the owner's claim at the station, and all claims of the same wallet there
	// by other owners: the latest claim is valid.
	StoreClaim(ctx context.Context, owner operator.ID, c Claim) error
	// ListClaims returns the claims of an owner, ordered by station.
	ListClaims(ctx context.Context, owner operator.ID) ([]Claim, error)
	// DropClaim deletes a claim and reports whether there was one.
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

// NewService builds a Service. The first station is the default.
func NewService(stations []Station, accounts Accounts, provider Provider, store Store, now func() time.Time) *Service {
	return &Service{stations: stations, accounts: accounts, provider: provider, store: store, now: now}
}

// Station returns the station with a name; an empty name is the first station. Error: ErrStation.
func (s *Service) Station(name string) (Station, error) {
	for _, st := range s.stations {
		if name == "" || name == st.Name {
			return st, nil
		}
	}
	return Station{}, ErrStation
}

// Claim stores that a wallet belongs to the caller, after the identity provider has confirmed it. Errors: ErrNotLinked,
// and those of the dependencies.
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

// Claims returns the claims of an operator at the configured stations. Error: db_unavailable.
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

// Drop deletes a claim and reports whether there was one. Error: db_unavailable.
func (s *Service) Drop(ctx context.Context, owner operator.ID, at Station) (bool, error) {
	return s.store.DropClaim(ctx, owner, at.Name)
}
