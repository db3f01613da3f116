package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/hub/internal/message"
	"github.com/signalcast/signalcast/services/hub/internal/postgres/db"
)

// FindMessage implements message.Store.
func (s *Store) FindMessage(ctx context.Context, id message.ID, key message.Key, nonce string) (message.Record, bool, error) {
	if key != "" {
		return findMessage(ctx, s.read, message.Record{ID: id, Key: key, Nonce: nonce})
	}
	row, ok, err := found(s.read.GetMessage(ctx, id))
	return record(row.Message), ok, err
}

// findMessage returns the stored message with the id of r. If there is none, it returns the stored message with the key and
// the nonce of r. It returns false if neither exists.
func findMessage(ctx context.Context, q *db.Queries, r message.Record) (message.Record, bool, error) {
	row, ok, err := found(q.FindMessage(ctx, db.FindMessageParams{ID: r.ID, PublicKey: r.Key, Nonce: r.Nonce}))
	return record(row.Message), ok, err
}

// insertTries is the maximum number of attempts to insert a message. An attempt fails if a conflicting message is stored and
// deleted meanwhile.
const insertTries = 3

// ReserveMessage implements message.Store.
func (s *Store) ReserveMessage(ctx context.Context, r message.Record) (stored message.Record, isNew bool, err error) {
	err = s.inTx(ctx, func(ctx context.Context, q *db.Queries) error {
		if err := shareSigner(ctx, q, r); err != nil {
			return err
		}
		for range insertTries {
			n, err := q.InsertPendingMessage(ctx, db.InsertPendingMessageParams{
				ID: r.ID, Type: r.Type, DenpaID: r.DenpaID, AppID: r.AppID, PublicKey: r.Key, Nonce: r.Nonce, Body: string(r.Body),
				Attempt: r.Attempt, ReceivedAt: r.ReceivedAt,
			})
			if err != nil {
				return err
			}
			if n == 1 {
				stored, isNew = r, true
				return nil
			}
			existing, ok, err := findMessage(ctx, q, r)
			switch {
			case err != nil:
				return err
			case ok && existing.ID == r.ID:
				stored = existing
				return nil
			case ok:
				return message.ErrNonce
			}
		}
		return pg.ErrUnavailable.Wrap(errors.New("insert message: conflicting messages were stored and deleted repeatedly"))
	})
	return stored, isNew, err
}

// shareSigner locks the signer of r against revocation until the end of the transaction. It returns the error of Signer.Usable if
// the signer is revoked or expired.
func shareSigner(ctx context.Context, q *db.Queries, r message.Record) error {
	row, err := q.ShareSigner(ctx, db.ShareSignerParams{PublicKey: r.Key, Now: r.ReceivedAt})
	if err != nil {
		// Signers are never deleted, so an unknown signer is an internal error.
		return err
	}
	var s message.Signer
	switch {
	case row.Revoked:
		s.RevokedAt = r.ReceivedAt
	case row.Expired:
		s.ExpiresAt = r.ReceivedAt
	}
	return s.Usable(r.ReceivedAt)
}

// AcceptMessage implements message.Store.
func (s *Store) AcceptMessage(ctx context.Context, r message.Record, at time.Time) (bool, error) {
	for range insertTries {
		n, err := s.write.AcceptMessage(ctx, db.AcceptMessageParams{ID: r.ID, Now: at, Result: textOrNull(r.Result)})
		if err == nil && n == 0 {
			n, err = s.write.InsertAcceptedMessage(ctx, db.InsertAcceptedMessageParams{
				ID: r.ID, Type: r.Type, DenpaID: r.DenpaID, AppID: r.AppID, PublicKey: r.Key, Nonce: r.Nonce, Body: string(r.Body),
				Attempt: r.Attempt, ReceivedAt: r.ReceivedAt, Now: at, Result: textOrNull(r.Result),
			})
		}
		if err != nil {
			return false, err
		}
		if n == 1 {
			return true, nil
		}
		existing, ok, err := findMessage(ctx, s.write, r)
		switch {
		case err != nil:
			return false, err
		case ok && existing.ID != r.ID:
			return false, message.ErrNonce
		case ok && !existing.Pending:
			return false, nil
		}
	}
	return false, pg.ErrUnavailable.Wrap(errors.New("accept message: conflicting messages were stored and deleted repeatedly"))
}

// DropMessage implements message.Store.
func (s *Store) DropMessage(ctx context.Context, id message.ID, attempt string) error {
	return s.write.DeletePendingMessage(ctx, db.DeletePendingMessageParams{ID: id, Attempt: attempt})
}

// ListUnsettledMessages implements message.Store.
func (s *Store) ListUnsettledMessages(ctx context.Context, before, now time.Time, limit int) ([]message.Record, error) {
	rows, err := s.write.ClaimPendingMessages(ctx, db.ClaimPendingMessagesParams{Before: before, Now: now, MaxRows: int32(limit)})
	return pg.Collect(rows, func(row db.ClaimPendingMessagesRow) message.Record { return record(row.Message) }), err
}

// AttestMessage implements message.Store.
func (s *Store) AttestMessage(ctx context.Context, r message.Record) (message.Record, error) {
	n, err := s.write.InsertAttestedMessage(ctx, db.InsertAttestedMessageParams{
		ID: r.ID, Type: r.Type, DenpaID: r.DenpaID, AppID: r.AppID, PublicKey: r.Key, Nonce: r.Nonce, Body: string(r.Body),
		Subject: r.Subject, Attempt: r.Attempt, ReceivedAt: r.ReceivedAt, Result: textOrNull(r.Result),
	})
	if err != nil {
		return message.Record{}, err
	}
	if n == 1 {
		return r, nil
	}
	row, err := s.write.GetMessageBySubject(ctx, r.Subject)
	if err != nil {
		return message.Record{}, fmt.Errorf("read attested message of %s: %w", r.Subject, err)
	}
	return record(row.Message), nil
}

// lastTime is later than the time of every message. A list without a cursor starts there.
var lastTime = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

// ListMessages implements message.Store. It reads one row more than the limit, to detect whether there is another page.
func (s *Store) ListMessages(ctx context.Context, asked message.Query, after protocol.Cursor) (message.Page, error) {
	p := db.ListMessagesParams{
		AppID: pg.Null(asked.AppID), Type: pg.Null(string(asked.Type)), Since: asked.Since, BeforeTime: lastTime,
		MaxRows: int32(asked.Limit + 1),
	}
	if at, ok := after.Time(0); ok {
		p.BeforeTime, p.BeforeID = at, after.ID
	}
	list, err := s.listMessages(ctx, asked.DenpaID, p)
	if err != nil {
		return message.Page{}, err
	}
	page := message.Page{Messages: list}
	if len(list) > asked.Limit {
		page.Messages = list[:asked.Limit]
		last := list[asked.Limit-1]
		page.Next = protocol.NewCursor(string(last.ID), protocol.TimeKey(last.ReceivedAt))
	}
	return page, nil
}

func (s *Store) listMessages(ctx context.Context, denpaID string, p db.ListMessagesParams) ([]message.Record, error) {
	if denpaID == "" {
		rows, err := s.read.ListMessages(ctx, p)
		return pg.Collect(rows, func(row db.ListMessagesRow) message.Record { return record(row.Message) }), err
	}
	rows, err := s.read.ListMessagesOfPassport(ctx, db.ListMessagesOfPassportParams{
		DenpaID: denpaID, AppID: p.AppID, Type: p.Type, Since: p.Since, BeforeTime: p.BeforeTime, BeforeID: p.BeforeID, MaxRows: p.MaxRows,
	})
	return pg.Collect(rows, func(row db.ListMessagesOfPassportRow) message.Record { return record(row.Message) }), err
}

func record(row db.Message) message.Record {
	r := message.Record{
		ID: row.ID, Type: row.Type, DenpaID: row.DenpaID, AppID: pg.Value(row.AppID), Key: row.PublicKey, Nonce: row.Nonce,
		Body: []byte(row.Body), Attested: row.Attested, Subject: pg.Value(row.Subject), ReceivedAt: row.ReceivedAt.UTC(),
		Pending: row.Status == "pending", Attempt: row.Attempt,
	}
	if row.Result != nil && *row.Result != "" {
		r.Result = []byte(*row.Result)
	}
	return r
}

func textOrNull(b []byte) *string {
	if b == nil {
		return nil
	}
	s := string(b)
	return &s
}
