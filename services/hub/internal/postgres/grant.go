package postgres

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/services/hub/internal/grant"
	"github.com/signalcast/signalcast/services/hub/internal/notification"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
	"github.com/signalcast/signalcast/services/hub/internal/postgres/db"
)

// AddRequest implements grant.Store.
func (g *Grants) AddRequest(ctx context.Context, r grant.Request) error {
	return g.write.InsertRequest(ctx, db.InsertRequestParams{
		Hash: r.Hash[:], SessionHash: r.Session[:], UserID: r.UserID, AppID: r.AppID, RedirectURI: r.RedirectURI, Scopes: r.Scopes,
		State: r.State, Challenge: r.Challenge, Resource: r.Resource, Renew: r.Renew, CreatedAt: r.CreatedAt, ExpiresAt: r.ExpiresAt,
	})
}

// TakeRequest implements grant.Store.
func (g *Grants) TakeRequest(ctx context.Context, hash, session grant.Hash, userID string) (*grant.Request, error) {
	row, ok, err := found(g.write.TakeRequest(ctx, db.TakeRequestParams{Hash: hash[:], SessionHash: session[:], UserID: userID}))
	if !ok {
		return nil, err
	}
	return &grant.Request{
		Hash: hash, Session: session, UserID: userID, AppID: row.AppID, RedirectURI: row.RedirectURI, Scopes: row.Scopes, State: row.State,
		Challenge: row.Challenge, Resource: row.Resource, Renew: row.Renew, CreatedAt: row.CreatedAt.UTC(), ExpiresAt: row.ExpiresAt.UTC(),
	}, nil
}

// AddCode implements grant.Store.
func (g *Grants) AddCode(ctx context.Context, c grant.Code) error {
	return g.write.InsertCode(ctx, db.InsertCodeParams{
		Hash: c.Hash[:], AppID: c.AppID, UserID: c.UserID, RedirectURI: c.RedirectURI, Scopes: c.Scopes, Challenge: c.Challenge,
		Resource: c.Resource, GrantID: pg.Null(c.GrantID), Consented: c.Consented, CreatedAt: c.CreatedAt, ExpiresAt: c.ExpiresAt,
	})
}

// Redeem implements grant.Store. It locks the code, the app and the grant, in this order.
func (g *Grants) Redeem(ctx context.Context, hash grant.Hash, now time.Time, rule func(grant.CodeState) grant.Outcome) error {
	var outcome grant.Outcome
	err := g.inTx(ctx, func(ctx context.Context, q *db.Queries) error {
		state, err := lockCode(ctx, q, hash)
		if err != nil {
			return err
		}
		outcome = rule(state)
		if outcome.UseUp {
			if err := useCode(ctx, q, hash, outcome, now); err != nil {
				return err
			}
		}
		return write(ctx, q, outcome, now)
	})
	if err != nil {
		return err
	}
	return outcome.Err
}

// useCode marks a code as used. If the outcome has a new grant, it stores the grant first.
func useCode(ctx context.Context, q *db.Queries, hash grant.Hash, outcome grant.Outcome, now time.Time) error {
	var redeemed *string
	if outcome.Err == nil {
		redeemed = &outcome.GrantID
	}
	if one := outcome.NewGrant; one != nil {
		err := q.InsertGrant(ctx, db.InsertGrantParams{
			ID: one.ID, UserID: one.UserID, AppID: one.AppID, Scopes: one.Scopes, Resource: one.Resource, CreatedAt: one.CreatedAt,
			ExpiresAt: one.ExpiresAt,
		})
		if err != nil {
			return err
		}
		app, err := q.GetApp(ctx, one.AppID)
		if err != nil {
			return err
		}
		fact := accountFact(operator.ID(one.UserID), notification.AppAdded, one.ID, app.App.Name, one.CreatedAt)
		if err := notify(ctx, q, fact); err != nil {
			return err
		}
	}
	return q.UseCode(ctx, db.UseCodeParams{Hash: hash[:], Now: now, RedeemedGrant: redeemed})
}

// lockCode locks an authorization code and, unless the code is already used, its app and its grant. It returns
// grant.ErrInvalidGrant for an unknown code.
func lockCode(ctx context.Context, q *db.Queries, hash grant.Hash) (grant.CodeState, error) {
	row, ok, err := found(q.LockCode(ctx, hash[:]))
	if err != nil {
		return grant.CodeState{}, err
	}
	if !ok {
		return grant.CodeState{}, grant.ErrInvalidGrant
	}
	s := grant.CodeState{Code: grant.Code{
		Hash: hash, AppID: row.AppID, UserID: row.UserID, RedirectURI: row.RedirectURI, Scopes: row.Scopes, Challenge: row.Challenge,
		Resource: row.Resource, GrantID: pg.Value(row.GrantID), Consented: row.Consented, CreatedAt: row.CreatedAt.UTC(),
		ExpiresAt: row.ExpiresAt.UTC(), UsedAt: utc(row.UsedAt), Redeemed: row.Redeemed,
	}}
	if !s.Code.UsedAt.IsZero() {
		return s, nil
	}
	owner, err := q.ShareApp(ctx, s.Code.AppID) // the app exists, because the code has a foreign key to it
	if err != nil {
		return s, err
	}
	s.App = app(owner.App)
	if s.Code.GrantID != "" {
		locked, err := q.LockGrant(ctx, s.Code.GrantID)
		if err != nil {
			return s, err
		}
		one := grantOf(locked.Grant)
		s.Grant = &one
	}
	return s, nil
}

// FindGrants implements grant.Store.
func (g *Grants) FindGrants(ctx context.Context, userID, appID string, now time.Time) ([]grant.Grant, error) {
	rows, err := g.read.FindGrants(ctx, db.FindGrantsParams{UserID: userID, AppID: appID, Now: now})
	return pg.Collect(rows, func(row db.FindGrantsRow) grant.Grant { return grantOf(row.Grant) }), err
}

// GetGrant implements grant.Store.
func (g *Grants) GetGrant(ctx context.Context, id string) (*grant.Grant, error) {
	row, ok, err := found(g.read.GetGrant(ctx, id))
	if !ok {
		return nil, err
	}
	one := grantOf(row.Grant)
	return &one, nil
}

// ListGrants implements grant.Store.
func (g *Grants) ListGrants(ctx context.Context, userID, grantID string, now time.Time) ([]grant.Listed, error) {
	rows, err := g.read.ListGrants(ctx, db.ListGrantsParams{UserID: userID, GrantID: pg.Null(grantID), Now: now})
	return pg.Collect(rows, func(row db.ListGrantsRow) grant.Listed {
		return grant.Listed{
			Grant: grantOf(row.Grant), App: grant.App{ID: row.Grant.AppID, Name: row.Name, LogoURL: row.LogoURL}, Signers: row.Signers,
		}
	}), err
}

func grantOf(row db.Grant) grant.Grant {
	return grant.Grant{
		ID: row.ID, UserID: row.UserID, AppID: row.AppID, Scopes: row.Scopes, Resource: row.Resource, CreatedAt: row.CreatedAt.UTC(),
		ExpiresAt: row.ExpiresAt.UTC(), LastUsedAt: utc(row.LastUsedAt), RevokedAt: utc(row.RevokedAt),
		RevokedBy: grant.Reason(pg.Value(row.RevokedBy)),
	}
}

// RevokeGrant implements grant.Store.
func (g *Grants) RevokeGrant(ctx context.Context, userID, grantID string, by grant.Reason, now time.Time) (found bool, err error) {
	err = g.inTx(ctx, func(ctx context.Context, q *db.Queries) error {
		found, err = revoke(ctx, q, userID, grantID, by, now)
		return err
	})
	return found, err
}

// revoke revokes a grant and its signers. An empty userID matches any user. It returns false if the user has no such grant.
func revoke(ctx context.Context, q *db.Queries, userID, grantID string, by grant.Reason, now time.Time) (bool, error) {
	n, err := q.RevokeGrant(ctx, db.RevokeGrantParams{ID: grantID, UserID: pg.Null(userID), Now: now, RevokedBy: string(by)})
	if err != nil || n == 0 {
		return false, err
	}
	return true, endSigners(ctx, q, []string{grantID}, now)
}

// endSigners revokes the signers of grants that the same transaction has revoked.
func endSigners(ctx context.Context, q *db.Queries, grants []string, now time.Time) error {
	with, err := q.ListGrantsWithSigners(ctx, grants)
	if err != nil {
		return err
	}
	for _, id := range with {
		if _, err := RevokeSignersOf(ctx, q, id, now); err != nil {
			return err
		}
	}
	return nil
}

// Sweep implements grant.Store.
func (g *Grants) Sweep(ctx context.Context, now time.Time) (int64, error) {
	return db.New(pg.Bound(g.pool, max(g.budget, wideBudget))).DeleteExpired(ctx, now)
}

// Refresh implements grant.Store. It locks the token and the grant, in this order.
func (g *Grants) Refresh(ctx context.Context, hash grant.Hash, now time.Time, rule func(grant.RefreshState) grant.Outcome) error {
	var outcome grant.Outcome
	err := g.inTx(ctx, func(ctx context.Context, q *db.Queries) error {
		state, err := lockRefresh(ctx, q, hash)
		if err != nil {
			return err
		}
		outcome = rule(state)
		if outcome.Refresh != nil {
			err := q.RotateRefreshToken(ctx, db.RotateRefreshTokenParams{Hash: hash[:], Now: now, SuccessorHash: outcome.Rotate[:]})
			if err != nil {
				return err
			}
		}
		if outcome.Err == nil {
			if err := q.TouchGrant(ctx, db.TouchGrantParams{ID: outcome.GrantID, Now: now, Every: grant.UsedAtMost}); err != nil {
				return err
			}
		}
		return write(ctx, q, outcome, now)
	})
	if err != nil {
		return err
	}
	return outcome.Err
}

func lockRefresh(ctx context.Context, q *db.Queries, hash grant.Hash) (s grant.RefreshState, err error) {
	successor, ok, err := found(q.LockRefreshToken(ctx, hash[:]))
	if err != nil {
		return s, err
	}
	if !ok {
		return s, grant.ErrInvalidGrant
	}
	current, err := q.GetRefreshToken(ctx, hash[:])
	if err != nil {
		return s, err
	}
	state := tokenState(hash, db.GetAccessTokenRow(current))
	s.Token, s.Grant, s.App = state.Token, state.Grant, state.App
	next := hashOrNil(successor)
	if next == nil {
		return s, nil
	}
	row, ok, err := found(q.GetRefreshToken(ctx, next[:]))
	if err != nil {
		return s, err
	}
	if ok {
		s.Successor = &tokenState(*next, db.GetAccessTokenRow(row)).Token
	}
	return s, nil
}

// write applies the changes of an outcome that are common to codes and refresh tokens: it revokes or extends the grant and
// stores new tokens.
func write(ctx context.Context, q *db.Queries, outcome grant.Outcome, now time.Time) error {
	if outcome.Revoke != "" {
		if _, err := revoke(ctx, q, "", outcome.GrantID, outcome.Revoke, now); err != nil {
			return err
		}
	}
	if !outcome.Extend.IsZero() {
		if err := q.ExtendGrant(ctx, db.ExtendGrantParams{ID: outcome.GrantID, ExpiresAt: outcome.Extend}); err != nil {
			return err
		}
	}
	if outcome.Access != nil {
		if err := q.InsertAccessToken(ctx, tokenColumns(*outcome.Access)); err != nil {
			return err
		}
	}
	if outcome.Refresh != nil {
		if err := q.InsertRefreshToken(ctx, db.InsertRefreshTokenParams(tokenColumns(*outcome.Refresh))); err != nil {
			return err
		}
	}
	return nil
}

func tokenColumns(t grant.Token) db.InsertAccessTokenParams {
	return db.InsertAccessTokenParams{
		Hash: t.Hash[:], GrantID: t.GrantID, Scopes: t.Scopes, CreatedAt: t.CreatedAt, ExpiresAt: t.ExpiresAt,
	}
}

// UseAccess implements grant.Store.
func (g *Grants) UseAccess(ctx context.Context, hash grant.Hash, now time.Time) (*grant.TokenState, error) {
	row, ok, err := found(g.read.UseAccessToken(ctx, db.UseAccessTokenParams{Hash: hash[:], Now: now, Every: grant.UsedAtMost}))
	return tokenOrNil(hash, db.GetAccessTokenRow(row), ok, err)
}

// FindAccess implements grant.Store.
func (g *Grants) FindAccess(ctx context.Context, hash grant.Hash) (*grant.TokenState, error) {
	row, ok, err := found(g.read.GetAccessToken(ctx, hash[:]))
	return tokenOrNil(hash, row, ok, err)
}

// FindRefresh implements grant.Store.
func (g *Grants) FindRefresh(ctx context.Context, hash grant.Hash) (*grant.TokenState, error) {
	row, ok, err := found(g.read.GetRefreshToken(ctx, hash[:]))
	return tokenOrNil(hash, db.GetAccessTokenRow(row), ok, err)
}

// RevokeAccess implements grant.Store.
func (g *Grants) RevokeAccess(ctx context.Context, hash grant.Hash, now time.Time) error {
	return g.write.RevokeAccessToken(ctx, db.RevokeAccessTokenParams{Hash: hash[:], Now: now})
}

// tokenOrNil converts a query result to a token. It returns nil if ok is false.
func tokenOrNil(hash grant.Hash, row db.GetAccessTokenRow, ok bool, err error) (*grant.TokenState, error) {
	if !ok {
		return nil, err
	}
	return tokenState(hash, row), nil
}

func tokenState(hash grant.Hash, row db.GetAccessTokenRow) *grant.TokenState {
	return &grant.TokenState{
		Token: grant.Token{
			Hash: hash, GrantID: row.GrantID, Scopes: row.Scopes, CreatedAt: row.CreatedAt.UTC(), ExpiresAt: row.ExpiresAt.UTC(),
			EndedAt: utc(row.EndedAt),
		},
		Grant: grantOf(row.Grant),
		App:   grant.App{ID: row.Grant.AppID, Kind: row.Kind, Scopes: row.AppScopes, DisabledAt: utc(row.DisabledAt)},
	}
}
