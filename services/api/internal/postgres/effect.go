package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/operator"
	"github.com/signalcast/signalcast/services/api/internal/postgres/db"
	"github.com/signalcast/signalcast/services/api/internal/resolution"
)

// effect describes the execution of one signed message: the id and the kind of the message, and the id of the operator that
// sent it.
type effect struct {
	message, kind, user string
	daily               int // largest number of messages of this kind that the operator may send in 24 hours; 0: no limit
	now                 time.Time
}

var (
	errNoOperator = apperr.New(apperr.Forbidden, "forbidden", "no such operator")
	errLimited    = apperr.New(apperr.Limited, "rate_limited",
		"the daily limit of messages of this type is reached; send again after the time in retryAfterMs")
)

const day = 24 * time.Hour

// executeOnce calls the function act in one transaction, unless the message was already executed. act returns the id of the
// object that it changed. For a message that was already executed, executeOnce returns the id that the first execution
// stored. Messages of one operator are executed one after the other. Errors: forbidden for an unknown operator, rate_limited
// above the daily limit, and the errors of act.
func (s *Store) executeOnce(ctx context.Context, e effect, act func(q *db.Queries, tier protocol.Tier) (subject string, err error)) (subject string, err error) {
	err = inTx(ctx, s.pool, func(q *db.Queries) error {
		tier, err := lockSender(ctx, q, e.user)
		if err != nil {
			return err
		}
		subject, err = q.GetMessageSubject(ctx, e.message)
		if !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		if err := e.allow(ctx, q); err != nil {
			return err
		}
		if subject, err = act(q, tier); err != nil {
			return err
		}
		return q.InsertMessage(ctx, db.InsertMessageParams{MessageID: e.message, Type: e.kind, UserID: e.user, Subject: subject, At: e.now})
	})
	return subject, err
}

// lockSender locks an operator until the end of the transaction and returns its tier. Error: forbidden if there is no such
// operator.
func lockSender(ctx context.Context, q *db.Queries, operatorID string) (protocol.Tier, error) {
	tier, err := q.LockSender(ctx, operatorID)
	return tier, missing(err, errNoOperator, "lock operator")
}

// allow returns the error rate_limited, with the limit and the time to wait, if the operator has sent e.daily messages of
// this kind in the last 24 hours. It returns nil if e.daily is 0.
func (e effect) allow(ctx context.Context, q *db.Queries) error {
	if e.daily == 0 {
		return nil
	}
	recent, err := q.CountRecentMessages(ctx, db.CountRecentMessagesParams{
		UserID: e.user, Type: e.kind, Since: e.now.Add(-day), Most: int32(e.daily),
	})
	if err != nil {
		return fmt.Errorf("count messages of a day: %w", err)
	}
	if recent.N < int64(e.daily) {
		return nil
	}
	wait := (recent.Oldest.Add(day).Sub(e.now) + time.Millisecond - 1) / time.Millisecond
	return errLimited.With("limit", e.daily).With("retryAfterMs", int64(wait))
}

// UpdateProfile implements operator.Store.
func (s *Store) UpdateProfile(ctx context.Context, operatorID, messageID string, p operator.Profile, now time.Time) error {
	e := effect{message: messageID, kind: "profile.update", user: operatorID, now: now}
	_, err := s.executeOnce(ctx, e, func(q *db.Queries, _ protocol.Tier) (string, error) {
		return operatorID, q.UpdateProfile(ctx, db.UpdateProfileParams{
			UserID: operatorID, DisplayName: p.DisplayName, Bio: p.Bio, SetAvatar: p.Avatar.Given, AvatarURL: p.Avatar.Text,
			SetLinks: p.Links != nil, Links: p.Links, SetPayout: p.PayoutAddress.Given, PayoutAddress: p.PayoutAddress.Text,
			Automated: p.Automated, Now: now,
		})
	})
	return err
}

// FindSigned implements market.Store.
func (s *Store) FindSigned(ctx context.Context, messageID string) (id protocol.MarketID, found bool, err error) {
	subject, err := s.q.GetMessageSubject(ctx, messageID)
	return protocol.MarketID(subject), err == nil, missing(err, nil, "find message")
}

// InsertSigned implements market.Store.
func (s *Store) InsertSigned(ctx context.Context, m market.Market, messageID string) (protocol.MarketID, error) {
	e := effect{message: messageID, kind: "market.create", user: *m.CreatedBy, daily: market.MaxDaily, now: m.CreatedAt}
	id, err := s.executeOnce(ctx, e, func(q *db.Queries, tier protocol.Tier) (string, error) {
		if tier != protocol.Independent && tier != protocol.House {
			return "", market.ErrTier
		}
		return string(m.ID), insertNative(ctx, q, m)
	})
	return protocol.MarketID(id), err
}

// Propose implements resolution.Store.
func (s *Store) Propose(ctx context.Context, p resolution.Proposal, now time.Time) error {
	e := effect{message: p.MessageID, kind: "resolution.create", user: p.OperatorID, daily: resolution.MaxDaily, now: now}
	_, err := s.executeOnce(ctx, e, func(q *db.Queries, _ protocol.Tier) (string, error) {
		m, err := q.LockMarketForProposal(ctx, p.MarketID)
		switch {
		case err != nil:
			return "", missing(err, resolution.ErrNotFound, "lock market")
		case m.Provider != string(protocol.Manual):
			return "", resolution.ErrNative
		case m.Creator != p.OperatorID:
			return "", resolution.ErrCreator
		case m.Disputed:
			return "", resolution.ErrDisputed
		case m.Status == string(protocol.MarketResolved):
			return "", resolution.ErrResolved
		}
		return p.MarketID, q.StoreProposal(ctx, db.StoreProposalParams{
			MarketID: p.MarketID, Verdict: string(p.Verdict), ProofURL: p.ProofURL, Reason: p.Reason, ProposedBy: p.OperatorID, Now: now,
		})
	})
	return err
}

// DeleteExpiredProposals deletes proposed outcomes that are older than market.ProposalLife and that no administrator has
// decided.
func (s *Store) DeleteExpiredProposals(ctx context.Context) error {
	now := s.now().UTC().Truncate(time.Millisecond)
	_, err := inParts(func() (int64, error) {
		return s.q.DeleteExpiredProposals(ctx, db.DeleteExpiredProposalsParams{Before: now.Add(-market.ProposalLife), Now: now})
	})
	return pg.Fault(wrap("delete expired proposals", err))
}
