package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/hub/internal/account"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
	"github.com/signalcast/signalcast/services/hub/internal/federation"
	"github.com/signalcast/signalcast/services/hub/internal/follow"
	"github.com/signalcast/signalcast/services/hub/internal/identityclaim"
	"github.com/signalcast/signalcast/services/hub/internal/notification"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
	"github.com/signalcast/signalcast/services/hub/internal/postgres/db"
	"github.com/signalcast/signalcast/services/hub/internal/watch"
)

// maxSessionAttempts is the maximum number of attempts to store a new session. An attempt fails if a concurrent sign-in of the
// operator uses the same second.
const maxSessionAttempts = 20

var errManySessions = apperr.New(apperr.Limited, "rate_limited", "too many concurrent sign-ins of one account; retry in 1 s").
	With("retryAfterMs", 1000)

// AddSession implements caller.Store. It returns rate_limited if concurrent sign-ins of the operator leave no free second.
func (s *Store) AddSession(ctx context.Context, row caller.StoredSession) (time.Time, error) {
	for range maxSessionAttempts {
		issuedAt, err := s.write.InsertSession(ctx, db.InsertSessionParams{
			UserID: row.Operator, IssuedAt: row.IssuedAt, SignedInAt: row.SignedInAt, BindHash: row.Bind,
			Browser: row.Device.Browser, Address: row.Device.Address, Email: pg.Null(row.Email),
		})
		switch {
		case err == nil:
			return issuedAt.UTC(), nil
		case !errors.Is(err, pgx.ErrNoRows):
			return time.Time{}, err
		}
	}
	return time.Time{}, errManySessions
}

// FindSession implements caller.Store.
func (s *Store) FindSession(ctx context.Context, id operator.ID, issuedAt time.Time) (caller.StoredSession, bool, error) {
	out := caller.StoredSession{Operator: id, IssuedAt: issuedAt}
	if uuid.Validate(string(id)) != nil { // the signed cookie belongs to another installation
		return out, false, nil
	}
	row, ok, err := found(s.read.GetSession(ctx, db.GetSessionParams{UserID: id, IssuedAt: issuedAt}))
	out.SignedInAt, out.Bind, out.EndedAt = row.SignedInAt.UTC(), row.BindHash, utc(row.EndedAt)
	out.UsedAt, out.Device = row.UsedAt.UTC(), caller.Device{Browser: row.Browser, Address: row.Address}
	return out, ok, err
}

// ListSessions implements caller.Store.
func (s *Store) ListSessions(ctx context.Context, id operator.ID, idle time.Time, limit int) ([]caller.StoredSession, error) {
	rows, err := s.read.ListSessions(ctx, db.ListSessionsParams{UserID: id, Idle: idle, MaxRows: int32(limit)})
	out := make([]caller.StoredSession, 0, len(rows))
	for _, row := range rows {
		out = append(out, caller.StoredSession{
			Operator: id, IssuedAt: row.IssuedAt.UTC(), SignedInAt: row.SignedInAt.UTC(), UsedAt: row.UsedAt.UTC(),
			Device: caller.Device{Browser: row.Browser, Address: row.Address}, Pushes: row.Pushes,
		})
	}
	return out, err
}

// UseSession implements caller.Store.
func (s *Store) UseSession(ctx context.Context, id operator.ID, issuedAt, now time.Time) error {
	return s.write.UseSession(ctx, db.UseSessionParams{UserID: id, IssuedAt: issuedAt, Now: now})
}

// UseDevice implements caller.Store.
func (s *Store) UseDevice(ctx context.Context, id operator.ID, d caller.Device, recent, now time.Time) (isNew bool, err error) {
	err = s.inTx(ctx, func(ctx context.Context, q *db.Queries) error {
		isNew, err = q.UseDevice(ctx, db.UseDeviceParams{UserID: id, Browser: d.Browser, Address: d.Address, Recent: recent, Now: now})
		if err != nil || !isNew {
			return err
		}
		text := d.Browser + ", " + d.Address
		return notify(ctx, q, accountFact(id, notification.NewDevice, text+" "+now.Format(time.RFC3339), text, now))
	})
	return isNew, err
}

// EndSession implements caller.Store.
func (s *Store) EndSession(ctx context.Context, id operator.ID, issuedAt, now time.Time) error {
	return s.write.EndSession(ctx, db.EndSessionParams{UserID: id, IssuedAt: issuedAt, Now: now})
}

// EndSessions implements caller.Store.
func (s *Store) EndSessions(ctx context.Context, id operator.ID, now time.Time) error {
	return s.write.EndSessions(ctx, db.EndSessionsParams{UserID: id, Now: now})
}

// SweepSessions deletes the sessions without use after idle and the devices without use after old. It returns the number of
// deleted sessions.
func (s *Store) SweepSessions(ctx context.Context, idle, old time.Time) (int64, error) {
	n, err := s.write.DeleteOldSessions(ctx, idle)
	if err != nil {
		return 0, err
	}
	_, err = s.write.DeleteOldDevices(ctx, old)
	return n, err
}

// Follow implements follow.Store.
func (s *Store) Follow(ctx context.Context, follower, followed operator.Operator, at time.Time) error {
	return s.inTx(ctx, func(ctx context.Context, q *db.Queries) error {
		noticed, ok, err := found(q.InsertFollow(ctx, db.InsertFollowParams{
			Follower: follower.ID, FollowerHandle: string(follower.Handle), Followed: followed.ID, FollowedHandle: string(followed.Handle),
			Now: at,
		}))
		if err != nil || !ok || !noticed {
			return err
		}
		return notify(ctx, q, notification.Fact{
			To: followed.ID, Kind: notification.Followed, Actor: follower.ID, Handle: follower.Handle, Count: 1, At: at,
		})
	})
}

// Unfollow implements follow.Store.
func (s *Store) Unfollow(ctx context.Context, follower, followed operator.ID, at time.Time) error {
	return s.inTx(ctx, func(ctx context.Context, q *db.Queries) error {
		ended, ok, err := found(q.DeleteFollow(ctx, db.DeleteFollowParams{Follower: follower, Followed: followed}))
		if err != nil || !ok {
			return err
		}
		if ended.Noticed {
			if err := uncountFollow(ctx, q, follower, followed, ended.CreatedAt, at); err != nil {
				return err
			}
		}
		return deleteUnreadOf(ctx, q, follower, followed)
	})
}

// uncountFollow takes a follow that ended out of the notification of the day on which it began.
func uncountFollow(ctx context.Context, q *db.Queries, follower, followed operator.ID, since, now time.Time) error {
	return q.UncountFollow(ctx, db.UncountFollowParams{
		UserID: followed, Follower: string(follower), Subject: notification.Day(since), Now: now,
	})
}

// deleteUnreadOf deletes the unread notifications of a user about what an operator did, also the name of the operator among new
// followers.
func deleteUnreadOf(ctx context.Context, q *db.Queries, user, actor operator.ID) error {
	if err := q.DeleteUnreadOf(ctx, db.DeleteUnreadOfParams{
		UserID: user, Actor: pg.Null(string(actor)), Kinds: words(notification.OfForecasters),
	}); err != nil {
		return err
	}
	return q.RemoveFollowerName(ctx, db.RemoveFollowerNameParams{Follower: string(actor), UserID: pg.Null(string(user))})
}

// FollowCounts implements follow.Store.
func (s *Store) FollowCounts(ctx context.Context, viewer, followed operator.ID) (follow.Counts, error) {
	row, err := s.read.GetFollowCounts(ctx, db.GetFollowCountsParams{Viewer: pg.Null(string(viewer)), Followed: followed})
	return follow.Counts(row), err
}

// FollowTotals implements follow.Store.
func (s *Store) FollowTotals(ctx context.Context, of operator.ID) (follow.Totals, error) {
	row, _, err := found(s.read.GetFollowTotals(ctx, of))
	return follow.Totals(row), err
}

// Followers implements follow.Store.
func (s *Store) Followers(ctx context.Context, of []operator.ID) (map[operator.ID]int64, error) {
	rows, err := s.read.ListFollowers(ctx, words(of))
	return mapOf(rows, err, func(row db.ListFollowersRow) (operator.ID, int64) { return row.UserID, row.Followers })
}

// SetFollow implements follow.Store.
func (s *Store) SetFollow(ctx context.Context, follower, followed operator.ID, to follow.Switches, at time.Time) (bool, error) {
	var n int64
	err := s.inTx(ctx, func(ctx context.Context, q *db.Queries) (err error) {
		n, err = q.UpdateFollow(ctx, db.UpdateFollowParams{
			Follower: follower, Followed: followed, Muted: to.Muted, Calls: to.Calls, Live: to.Live, Takes: to.Takes, Now: at,
		})
		if err != nil || to.Muted == nil || !*to.Muted {
			return err
		}
		return deleteUnreadOf(ctx, q, follower, followed)
	})
	return n > 0, err
}

// ListFollowing implements follow.Store.
func (s *Store) ListFollowing(ctx context.Context, follower operator.ID, after follow.Followed, limit int) ([]follow.Followed, error) {
	p := db.ListFollowingParams{Follower: follower, Limit: int32(limit)}
	if after.ID != "" {
		p.AfterAt, p.AfterFollowed = &after.Since, pg.Null(string(after.ID))
	}
	rows, err := s.read.ListFollowing(ctx, p)
	return pg.Collect(rows, func(row db.ListFollowingRow) follow.Followed {
		return follow.Followed{
			ID: row.Followed, Since: row.CreatedAt.UTC(), Muted: row.Muted, Calls: row.Calls, Live: row.Live, Takes: row.Takes,
		}
	}), err
}

// Watch implements watch.Store.
func (s *Store) Watch(ctx context.Context, user operator.ID, market protocol.MarketID, at time.Time) error {
	n, err := s.write.InsertWatch(ctx, db.InsertWatchParams{UserID: user, MarketID: market, Now: at, Most: watch.MaxMarkets})
	if err != nil || n > 0 {
		return err
	}
	watched, err := s.write.HasWatch(ctx, db.HasWatchParams{UserID: user, MarketID: market})
	if err == nil && !watched {
		return watch.ErrFull
	}
	return err
}

// Unwatch implements watch.Store.
func (s *Store) Unwatch(ctx context.Context, user operator.ID, market protocol.MarketID) error {
	return s.write.DeleteWatch(ctx, db.DeleteWatchParams{UserID: user, MarketID: market})
}

// ListWatched implements watch.Store.
func (s *Store) ListWatched(ctx context.Context, user operator.ID, limit int) ([]watch.Watch, error) {
	rows, err := s.read.ListWatches(ctx, db.ListWatchesParams{UserID: user, Limit: int32(limit)})
	return pg.Collect(rows, func(row db.ListWatchesRow) watch.Watch {
		return watch.Watch{MarketID: row.MarketID, CreatedAt: row.CreatedAt.UTC()}
	}), err
}

// WatchedOf implements watch.Store.
func (s *Store) WatchedOf(ctx context.Context, user operator.ID, markets []protocol.MarketID) (map[protocol.MarketID]bool, error) {
	rows, err := s.read.ListWatchedOf(ctx, db.ListWatchedOfParams{UserID: user, MarketIDs: words(markets)})
	return mapOf(rows, err, func(id protocol.MarketID) (protocol.MarketID, bool) { return id, true })
}

// WatchersOf returns users who watch a market, by id, after the user after, at most limit. An empty after is the start. Error:
// db_unavailable.
func (s *Store) WatchersOf(ctx context.Context, market protocol.MarketID, after operator.ID, limit int) ([]operator.ID, error) {
	if after == "" {
		after = operator.ID(uuid.Nil.String())
	}
	rows, err := s.read.ListWatchers(ctx, db.ListWatchersParams{MarketID: market, After: after, Limit: int32(limit)})
	return pg.Collect(rows, func(row db.ListWatchersRow) operator.ID { return row.UserID }), err
}

// StoreClaim implements identityclaim.Store.
func (s *Store) StoreClaim(ctx context.Context, owner operator.ID, c identityclaim.Claim) error {
	return s.inTx(ctx, func(ctx context.Context, q *db.Queries) error {
		if err := q.LockClaims(ctx); err != nil {
			return err
		}
		err := q.DeleteClaimOfOthers(ctx, db.DeleteClaimOfOthersParams{Station: c.Station, Identity: c.Identity, UserID: owner})
		if err != nil {
			return err
		}
		return q.UpsertClaim(ctx, db.UpsertClaimParams{
			UserID: owner, Station: c.Station, Identity: c.Identity, VerifiedAt: c.VerifiedAt,
		})
	})
}

// ListClaims implements identityclaim.Store.
func (s *Store) ListClaims(ctx context.Context, owner operator.ID) ([]identityclaim.Claim, error) {
	rows, err := s.read.ListClaims(ctx, owner)
	return pg.Collect(rows, func(row db.ListClaimsRow) identityclaim.Claim {
		return identityclaim.Claim{Station: row.Station, Identity: row.Identity, VerifiedAt: row.VerifiedAt}
	}), err
}

// DropClaim implements identityclaim.Store.
func (s *Store) DropClaim(ctx context.Context, owner operator.ID, station string) (bool, error) {
	n, err := s.write.DeleteClaim(ctx, db.DeleteClaimParams{UserID: owner, Station: station})
	return n > 0, err
}

// Owners implements federation.Store.
func (s *Store) Owners(ctx context.Context, list []federation.Proof) (map[federation.Proof]operator.ID, error) {
	var p db.ListClaimOwnersParams
	for _, one := range list {
		p.Stations, p.Identities = append(p.Stations, one.Station), append(p.Identities, one.Identity)
	}
	rows, err := s.read.ListClaimOwners(ctx, p)
	return mapOf(rows, err, func(row db.ListClaimOwnersRow) (federation.Proof, operator.ID) {
		return federation.Proof{Station: row.Station, Identity: row.Identity}, row.UserID
	})
}

// accountTimeout is the time limit for closing or erasing an account. An app of the account can have many grants.
const accountTimeout = time.Minute

// rowsTimeout is the time limit of a query of ListRows. It is longer than that of other reads, because the query sorts all rows that
// one section of the export of an account has.
const rowsTimeout = 10 * time.Second

// StartExport implements account.Store.
func (s *Store) StartExport(ctx context.Context, user operator.ID, e account.Export) (bool, error) {
	var n int64
	err := s.inTx(ctx, func(ctx context.Context, q *db.Queries) (err error) {
		n, err = q.StartExport(ctx, db.StartExportParams{
			UserID: string(user), ID: e.ID, SessionAt: e.Session, CreatedAt: e.CreatedAt, Before: e.CreatedAt.Add(-account.ExportPeriod),
		})
		if err != nil || n == 0 {
			return err
		}
		return notify(ctx, q, accountFact(user, notification.ExportReady, e.ID, "", e.CreatedAt))
	})
	return n > 0, err
}

// LastExport implements account.Store.
func (s *Store) LastExport(ctx context.Context, user operator.ID) (account.Export, error) {
	row, ok, err := found(s.read.GetExport(ctx, string(user)))
	if err != nil || !ok {
		return account.Export{}, err
	}
	return account.Export{ID: row.ID, Session: row.SessionAt.UTC(), CreatedAt: row.CreatedAt.UTC()}, nil
}

// ListRows implements account.Store.
func (s *Store) ListRows(ctx context.Context, user operator.ID, handle protocol.Handle, section, after string) ([]account.Row, error) {
	rows, err := db.New(pg.Bound(s.pool, rowsTimeout)).ListPersonalRows(ctx, db.ListPersonalRowsParams{
		Section: section, UserID: string(user), Handle: handle, After: after, Limit: account.MaxRows,
	})
	return pg.Collect(rows, func(row db.ListPersonalRowsRow) account.Row { return account.Row{Key: row.Key, JSON: row.Data} }), err
}

// CloseAccount implements account.Store.
func (s *Store) CloseAccount(ctx context.Context, user operator.ID, handle protocol.Handle, now time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, accountTimeout)
	defer cancel()
	err := s.OnAir().withOperator(ctx, handle, func(ctx context.Context, t operatorTx) error {
		if _, _, err := t.endOpen(ctx, now); err != nil {
			return err
		}
		_, err := t.q.UnbindStream(ctx, db.UnbindStreamParams{Handle: handle, Now: now})
		return err
	})
	if err != nil {
		return err
	}
	return db.New(s.pool).CloseAccount(ctx, db.CloseAccountParams{UserID: string(user), Handle: string(handle), Now: now})
}

// EraseAccount implements account.Store.
func (s *Store) EraseAccount(ctx context.Context, user operator.ID, handle, replacement protocol.Handle, now time.Time) error {
	return inTx(ctx, s.pool, accountTimeout, func(ctx context.Context, q *db.Queries) error {
		ended, err := q.DeleteFollowsOf(ctx, user)
		if err != nil {
			return err
		}
		for _, f := range ended {
			if err := uncountFollow(ctx, q, user, operator.ID(f.Followed), f.CreatedAt, now); err != nil {
				return err
			}
		}
		if err := q.EraseLiveSessions(ctx, handle); err != nil {
			return err
		}
		if err := q.DeleteProfileLink(ctx, string(handle)); err != nil {
			return err
		}
		if err := q.DeleteEmail(ctx, user); err != nil {
			return err
		}
		if err := q.DeletePicture(ctx, user); err != nil {
			return err
		}
		if err := q.DeleteHandleChanges(ctx, string(user)); err != nil {
			return err
		}
		if err := q.EraseAccount(ctx, db.EraseAccountParams{
			UserID: string(user), Handle: string(handle), Replacement: string(replacement),
		}); err != nil {
			return err
		}
		return publishLiveList(ctx, q, now) // its last broadcasts have the handle
	})
}

// StartHandleChange implements account.HandleStore.
func (s *Store) StartHandleChange(ctx context.Context, user operator.ID, handle protocol.Handle, now time.Time) error {
	return db.New(s.pool).StartHandleChange(ctx, db.StartHandleChangeParams{UserID: string(user), Handle: handle, Now: now})
}

// ListHandleChanges implements account.HandleStore.
func (s *Store) ListHandleChanges(ctx context.Context, before time.Time) ([]account.HandleChange, error) {
	rows, err := db.New(s.pool).ListHandleChanges(ctx, before)
	return pg.Collect(rows, func(r db.ListHandleChangesRow) account.HandleChange {
		return account.HandleChange{User: operator.ID(r.UserID), Former: r.Handle}
	}), err
}

// MoveHandle implements account.HandleStore. It ends a broadcast under the former handle.
func (s *Store) MoveHandle(ctx context.Context, c account.HandleChange, wanted protocol.Handle, now time.Time) error {
	return s.OnAir().withOperator(ctx, c.Former, func(ctx context.Context, t operatorTx) error {
		err := t.q.EndHandleChange(ctx, db.EndHandleChangeParams{UserID: string(c.User), Handle: c.Former})
		if err != nil || wanted == c.Former {
			return err
		}
		if _, _, err := t.endOpen(ctx, now); err != nil {
			return err
		}
		p := db.MoveHandleParams{UserID: string(c.User), Former: string(c.Former), Wanted: string(wanted)}
		if err := t.q.MoveHandle(ctx, p); err != nil {
			return err
		}
		return t.q.PublishOverlay(ctx, db.PublishOverlayParams{Handle: wanted, Now: now})
	})
}
