package postgres

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/services/hub/internal/email"
	"github.com/signalcast/signalcast/services/hub/internal/notification"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
	"github.com/signalcast/signalcast/services/hub/internal/postgres/db"
)

// GetEmail implements email.Store.
func (s *Store) GetEmail(ctx context.Context, user operator.ID) (email.Settings, error) {
	row, ok, err := found(s.read.GetEmail(ctx, user))
	if err != nil || !ok {
		return email.Settings{}, err
	}
	return email.Settings{
		Sealed: pg.Value(row.Address), ConfirmedAt: utc(row.ConfirmedAt), Pending: pg.Value(row.Pending), Digest: row.Digest,
		BouncedAt: utc(row.BouncedAt),
	}, nil
}

// SetEmail implements email.Store.
func (s *Store) SetEmail(ctx context.Context, user operator.ID, sealed string, digest email.Digest, now time.Time) error {
	return s.inTx(ctx, func(ctx context.Context, q *db.Queries) error {
		p := db.UpsertEmailParams{UserID: user, Address: sealed, Digest: digest, Now: now, Until: now.Add(email.TokenLife)}
		if err := q.UpsertEmail(ctx, p); err != nil {
			return err
		}
		if err := deleteLetters(ctx, q, user, email.Confirmation); err != nil {
			return err
		}
		return q.InsertConfirmation(ctx, db.InsertConfirmationParams{ID: uuid.NewString(), UserID: user, Now: now})
	})
}

// ListSignInAddresses implements email.Store.
func (s *Store) ListSignInAddresses(ctx context.Context, user operator.ID) ([]email.SignInAddress, error) {
	rows, err := s.read.ListSignInEmails(ctx, user)
	return pg.Collect(rows, func(r db.ListSignInEmailsRow) email.SignInAddress {
		return email.SignInAddress{Session: r.IssuedAt.UTC(), Sealed: r.Email}
	}), err
}

// SetConfirmedEmail implements email.Store.
func (s *Store) SetConfirmedEmail(
	ctx context.Context, user operator.ID, sealed string, digest email.Digest, now time.Time,
) error {
	return s.inTx(ctx, func(ctx context.Context, q *db.Queries) error {
		former, _, err := found(q.LockConfirmedEmail(ctx, user))
		if err != nil {
			return err
		}
		p := db.UpsertConfirmedEmailParams{UserID: user, Address: sealed, Digest: digest, Now: now}
		if err := q.UpsertConfirmedEmail(ctx, p); err != nil {
			return err
		}
		return endConfirmation(ctx, q, user, former, now)
	})
}

// endConfirmation deletes the letters that ask for a confirmation, and adds one to the confirmed address that was replaced. An empty
// former means that there was none.
func endConfirmation(ctx context.Context, q *db.Queries, user operator.ID, former string, now time.Time) error {
	if err := deleteLetters(ctx, q, user, email.Confirmation); err != nil || former == "" {
		return err
	}
	return q.InsertReplaced(ctx, db.InsertReplacedParams{ID: uuid.NewString(), UserID: user, Address: former, Now: now})
}

func deleteLetters(ctx context.Context, q *db.Queries, user operator.ID, kinds ...email.Kind) error {
	return q.DeleteEmailMessagesOf(ctx, db.DeleteEmailMessagesOfParams{UserID: user, Kinds: words(kinds)})
}

// SetDigest implements email.Store.
func (s *Store) SetDigest(ctx context.Context, user operator.ID, digest email.Digest, now time.Time) error {
	return s.write.SetDigest(ctx, db.SetDigestParams{UserID: user, Digest: digest, Now: now})
}

// DeleteEmail implements email.Store.
func (s *Store) DeleteEmail(ctx context.Context, user operator.ID) error {
	return s.write.DeleteEmail(ctx, user)
}

// HasEmailToken implements email.Store.
func (s *Store) HasEmailToken(ctx context.Context, hash []byte, now time.Time) (bool, error) {
	return s.read.HasEmailToken(ctx, db.HasEmailTokenParams{TokenHash: hash, Now: now})
}

// ConfirmEmail implements email.Store.
func (s *Store) ConfirmEmail(ctx context.Context, hash []byte, now time.Time) (ok bool, err error) {
	err = s.inTx(ctx, func(ctx context.Context, q *db.Queries) error {
		var row db.ConfirmEmailRow
		if row, ok, err = found(q.ConfirmEmail(ctx, db.ConfirmEmailParams{TokenHash: hash, Now: now})); err != nil || !ok {
			return err
		}
		return endConfirmation(ctx, q, row.UserID, row.Former, now)
	})
	return ok && err == nil, err
}

// QueueDigests implements email.Outbox.
func (s *Store) QueueDigests(
	ctx context.Context, d email.Digest, kinds []notification.Kind, until, now time.Time, limit int,
) (int, error) {
	n, err := s.write.QueueDigests(ctx, db.QueueDigestsParams{
		Digest: d, UntilAt: until, Most: int32(limit), Now: now, Kinds: words(kinds),
	})
	return int(n), err
}

// ListEmail implements email.Outbox.
func (s *Store) ListEmail(ctx context.Context, now, oldest time.Time, limit int) ([]email.Message, error) {
	if err := s.write.DeleteOldEmailMessages(ctx, oldest); err != nil {
		return nil, err
	}
	if err := s.write.DeleteOldPending(ctx, now); err != nil {
		return nil, err
	}
	rows, err := s.write.ListEmailMessages(ctx, db.ListEmailMessagesParams{Now: now, Limit: int32(limit)})
	return pg.Collect(rows, func(r db.ListEmailMessagesRow) email.Message {
		return email.Message{
			ID: r.ID, Kind: r.Kind, User: r.UserID, Sealed: r.Address, From: utc(r.FromAt), Until: utc(r.UntilAt),
			Attempts: int(r.Attempts), Entry: notification.Entry{Kind: notification.Kind(r.Notice), Reason: r.Reason},
		}
	}), err
}

// ListDigest implements email.Outbox.
func (s *Store) ListDigest(
	ctx context.Context, m email.Message, kinds []notification.Kind, limit int,
) ([]notification.Entry, error) {
	rows, err := s.read.ListDigestEntries(ctx, db.ListDigestEntriesParams{
		UserID: m.User, Kinds: words(kinds), FromAt: m.From, UntilAt: m.Until, Limit: int32(limit),
	})
	return pg.Collect(rows, func(r db.ListDigestEntriesRow) notification.Entry {
		return notification.Entry{
			ID: r.ID, Kind: r.Kind, Handle: r.Handle, MarketID: r.MarketID, SignalID: pg.Value(r.SignalID),
			Status: r.Status, Score: r.Score, Reason: r.Reason, Count: r.Count, CreatedAt: r.CreatedAt.UTC(),
		}
	}), err
}

// ReserveEmail implements email.Outbox.
func (s *Store) ReserveEmail(ctx context.Context, m email.Message, due time.Time) (bool, error) {
	n, err := s.write.ReserveEmailMessage(ctx, db.ReserveEmailMessageParams{ID: m.ID, Attempts: int32(m.Attempts), Due: due})
	return n > 0, err
}

// SetEmailToken implements email.Outbox.
func (s *Store) SetEmailToken(ctx context.Context, m email.Message, hash []byte, until time.Time) (bool, error) {
	n, err := s.write.SetEmailToken(ctx, db.SetEmailTokenParams{UserID: m.User, Address: m.Sealed, TokenHash: hash, Until: until})
	return n > 0, err
}

// DelayEmail implements email.Outbox.
func (s *Store) DelayEmail(ctx context.Context, m email.Message, due time.Time) error {
	return s.write.DelayEmailMessage(ctx, db.DelayEmailMessageParams{ID: m.ID, Due: due})
}

// DeleteEmailMessage implements email.Outbox.
func (s *Store) DeleteEmailMessage(ctx context.Context, m email.Message, sent bool) error {
	if sent {
		if err := s.write.ResetBounces(ctx, db.ResetBouncesParams{UserID: m.User, Address: m.Sealed}); err != nil {
			return err
		}
	}
	return s.write.DeleteEmailMessage(ctx, m.ID)
}

// BounceEmail implements email.Outbox.
func (s *Store) BounceEmail(ctx context.Context, m email.Message, limit int, now time.Time) error {
	return s.inTx(ctx, func(ctx context.Context, q *db.Queries) error {
		if err := q.DeleteEmailMessage(ctx, m.ID); err != nil || m.Kind == email.Replaced {
			return err
		}
		if m.Kind == email.Confirmation {
			n, err := q.DeletePending(ctx, db.DeletePendingParams{UserID: m.User, Address: m.Sealed})
			if err != nil || n > 0 {
				return err
			}
		}
		n, _, err := found(q.CountBounce(ctx, db.CountBounceParams{UserID: m.User, Address: m.Sealed}))
		if err != nil || int(n) < limit {
			return err
		}
		if err := q.DeleteRefused(ctx, db.DeleteRefusedParams{UserID: m.User, Address: m.Sealed, Now: now}); err != nil {
			return err
		}
		return deleteLetters(ctx, q, m.User, email.Notice, email.DigestLetter)
	})
}
