package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/fault"
	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/operator"
	"github.com/signalcast/signalcast/services/api/internal/resolve"
)

// effect is what one signed message does.
type effect struct {
	message, kind, user string
	daily               int // most of its kind in a day; 0: any number
	now                 time.Time
}

var (
	errNobody  = fault.New(fault.Forbidden, "forbidden", "no such operator")
	errLimited = fault.New(fault.Limited, "rate_limited", "")
)

const day = 24 * time.Hour

// once runs act in one transaction unless the message was done; act gives what it
// was done to. Messages of one operator run one after the other. Faults: forbidden
// for an operator that is not there, rate_limited, and those of act.
func (s *Store) once(ctx context.Context, e effect, act func(tx pgx.Tx, tier syntax.Tier) (subject string, err error)) (subject string, err error) {
	err = pg.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		var tier syntax.Tier
		err := tx.QueryRow(ctx, query("effect_user"), e.user).Scan(&tier)
		if errors.Is(err, pgx.ErrNoRows) {
			return errNobody
		}
		if err != nil {
			return fmt.Errorf("lock operator: %w", err)
		}
		err = tx.QueryRow(ctx, query("effect_done"), e.message).Scan(&subject)
		if !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		if err := e.allow(ctx, tx); err != nil {
			return err
		}
		if subject, err = act(tx, tier); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, query("effect_add"), e.message, e.kind, e.user, subject, e.now)
		return err
	})
	return subject, err
}

// allow faults with rate_limited where the day is full.
func (e effect) allow(ctx context.Context, tx pgx.Tx) error {
	if e.daily == 0 {
		return nil
	}
	var n int
	var oldest *time.Time
	if err := tx.QueryRow(ctx, query("effect_recent"), e.user, e.kind, e.now.Add(-day), e.daily).Scan(&n, &oldest); err != nil {
		return fmt.Errorf("count messages of a day: %w", err)
	}
	if n < e.daily {
		return nil
	}
	wait := (oldest.Add(day).Sub(e.now) + time.Millisecond - 1) / time.Millisecond
	return errLimited.With("limit", e.daily).With("retryAfterMs", int64(wait))
}

// UpdateProfile implements operator.Store.
func (s *Store) UpdateProfile(ctx context.Context, operatorID, messageID string, p operator.Profile, now time.Time) error {
	e := effect{message: messageID, kind: "profile.update", user: operatorID, now: now}
	_, err := s.once(ctx, e, func(tx pgx.Tx, _ syntax.Tier) (string, error) {
		_, err := tx.Exec(ctx, query("operator_profile"), operatorID, p.DisplayName, p.Bio, p.Avatar.Given, p.Avatar.Text,
			p.Links != nil, p.Links, p.PayoutAddress.Given, p.PayoutAddress.Text, p.Automated, now)
		return operatorID, err
	})
	return err
}

// FindSigned implements market.Store.
func (s *Store) FindSigned(ctx context.Context, messageID string) (id syntax.MarketID, found bool, err error) {
	err = s.pool.QueryRow(ctx, query("effect_done"), messageID).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", false, nil
	}
	return id, err == nil, pg.Fault(err)
}

// InsertSigned implements market.Store.
func (s *Store) InsertSigned(ctx context.Context, m market.Market, messageID string) (syntax.MarketID, error) {
	e := effect{message: messageID, kind: "market.create", user: *m.CreatedBy, daily: market.MaxDaily, now: m.CreatedAt}
	id, err := s.once(ctx, e, func(tx pgx.Tx, tier syntax.Tier) (string, error) {
		if tier != syntax.Independent && tier != syntax.House {
			return "", market.ErrTier
		}
		_, err := tx.Exec(ctx, query("market_native"), nativeArgs(m)...)
		return string(m.ID), err
	})
	return syntax.MarketID(id), err
}

// Propose implements resolve.Store.
func (s *Store) Propose(ctx context.Context, p resolve.Proposal, now time.Time) error {
	e := effect{message: p.MessageID, kind: "resolution.create", user: p.OperatorID, daily: resolve.MaxDaily, now: now}
	_, err := s.once(ctx, e, func(tx pgx.Tx, _ syntax.Tier) (string, error) {
		var provider syntax.Provider
		var status syntax.MarketStatus
		var disputed bool
		var creator string
		err := tx.QueryRow(ctx, query("proposal_market"), p.MarketID).Scan(&provider, &status, &disputed, &creator)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			return "", resolve.ErrNotFound
		case err != nil:
			return "", fmt.Errorf("lock market: %w", err)
		case provider != syntax.Manual:
			return "", resolve.ErrNative
		case creator != p.OperatorID:
			return "", resolve.ErrCreator
		case disputed:
			return "", resolve.ErrDisputed
		case status == syntax.MarketResolved:
			return "", resolve.ErrResolved
		}
		_, err = tx.Exec(ctx, query("proposal_put"), p.MarketID, string(p.Verdict), p.ProofURL, p.Reason, p.OperatorID, now)
		return p.MarketID, err
	})
	return err
}

// LapseProposals ends proposals that nobody has decided on in their time.
func (s *Store) LapseProposals(ctx context.Context) error {
	now := s.now().UTC().Truncate(time.Millisecond)
	if _, err := s.pool.Exec(ctx, query("proposal_lapse"), now.Add(-market.ProposalLife), now); err != nil {
		return pg.Fault(fmt.Errorf("end proposals: %w", err))
	}
	return nil
}
