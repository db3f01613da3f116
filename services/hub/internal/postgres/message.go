package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/hub/internal/message"
)

// Messages keeps signed messages.
type Messages struct{ s *Store }

// Messages is the store's part for signed messages.
func (s *Store) Messages() Messages { return Messages{s} }

// Find implements message.Messages.
func (m Messages) Find(ctx context.Context, id message.ID, key message.Key, nonce string) (message.Record, bool, error) {
	if key == "" {
		return foundMessage(m.s.read.QueryRow(ctx, query("message_get"), string(id)))
	}
	return foundMessage(m.s.read.QueryRow(ctx, query("message_find"), string(id), string(key), nonce))
}

// takings is how often a message is tried to be kept while what stands in its way
// is being dropped.
const takings = 3

// Take implements message.Messages.
func (m Messages) Take(ctx context.Context, r message.Record) (kept message.Record, taken bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, writeBudget)
	defer cancel()
	err = pg.InTx(ctx, m.s.db.Pool(), func(tx pgx.Tx) error {
		if err := holdSigner(ctx, tx, r); err != nil {
			return err
		}
		for range takings {
			tag, err := tx.Exec(ctx, query("message_take"), string(r.ID), string(r.Type), r.DenpaID, r.AppID, string(r.Key),
				r.Nonce, string(r.Body), r.Attempt, r.ReceivedAt)
			if err != nil {
				return fmt.Errorf("insert message: %w", err)
			}
			if tag.RowsAffected() == 1 {
				kept, taken = r, true
				return nil
			}
			there, found, err := foundMessage(tx.QueryRow(ctx, query("message_find"), string(r.ID), string(r.Key), r.Nonce))
			switch {
			case err != nil:
				return err
			case found && there.ID == r.ID:
				kept = there
				return nil
			case found:
				return message.ErrNonce
			}
		}
		return pg.ErrUnavailable.Wrap(errors.New("insert message: another one comes and goes"))
	})
	return kept, taken, err
}

// holdSigner lets no revocation of the signer pass before the transaction ends.
func holdSigner(ctx context.Context, tx pgx.Tx, r message.Record) error {
	var s message.Signer
	var revoked, expired bool
	err := tx.QueryRow(ctx, query("message_signer"), string(r.Key), r.ReceivedAt).Scan(&revoked, &expired)
	switch {
	case err != nil:
		// Signers are never removed, so no row is no fault of a caller.
		return fmt.Errorf("hold signer: %w", err)
	case revoked:
		s.RevokedAt = r.ReceivedAt
	case expired:
		s.ExpiresAt = r.ReceivedAt
	}
	return s.Usable(r.ReceivedAt)
}

// Accept implements message.Messages.
func (m Messages) Accept(ctx context.Context, r message.Record, at time.Time) (bool, error) {
	for range takings {
		tag, err := m.s.db.Exec(ctx, query("message_accept"), string(r.ID), at, jsonOrNull(r.Result))
		if err == nil && tag.RowsAffected() == 0 {
			tag, err = m.s.db.Exec(ctx, query("message_revive"), string(r.ID), string(r.Type), r.DenpaID, r.AppID, string(r.Key),
				r.Nonce, string(r.Body), r.Attempt, r.ReceivedAt, at, jsonOrNull(r.Result))
		}
		if err != nil {
			return false, fmt.Errorf("accept message: %w", err)
		}
		if tag.RowsAffected() == 1 {
			return true, nil
		}
		there, found, err := foundMessage(m.s.db.QueryRow(ctx, query("message_find"), string(r.ID), string(r.Key), r.Nonce))
		switch {
		case err != nil:
			return false, err
		case found && there.ID != r.ID:
			return false, message.ErrNonce
		case found && !there.Pending:
			return false, nil
		}
	}
	return false, pg.ErrUnavailable.Wrap(errors.New("accept message: another one comes and goes"))
}

// Drop implements message.Messages.
func (m Messages) Drop(ctx context.Context, id message.ID, attempt string) error {
	if _, err := m.s.db.Exec(ctx, query("message_drop"), string(id), attempt); err != nil {
		return fmt.Errorf("drop message: %w", err)
	}
	return nil
}

// Unsettled implements message.Messages.
func (m Messages) Unsettled(ctx context.Context, before, now time.Time, limit int) ([]message.Record, error) {
	rows, err := m.s.db.Query(ctx, query("message_unsettled"), before, now, limit)
	if err != nil {
		return nil, fmt.Errorf("hand out unsettled messages: %w", err)
	}
	out, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (message.Record, error) { return scanMessage(row) })
	if err != nil {
		return nil, fmt.Errorf("hand out unsettled messages: %w", err)
	}
	return out, nil
}

// Attest implements message.Messages.
func (m Messages) Attest(ctx context.Context, r message.Record) (message.Record, error) {
	tag, err := m.s.db.Exec(ctx, query("message_attest"), string(r.ID), string(r.Type), r.DenpaID, r.AppID, string(r.Key),
		r.Nonce, string(r.Body), r.Subject, r.Attempt, r.ReceivedAt, jsonOrNull(r.Result))
	if err != nil {
		return message.Record{}, fmt.Errorf("insert attested message: %w", err)
	}
	if tag.RowsAffected() == 1 {
		return r, nil
	}
	there, found, err := foundMessage(m.s.db.QueryRow(ctx, query("message_subject"), r.Subject))
	if err == nil && !found {
		err = fmt.Errorf("read attested message of %s: %w", r.Subject, pgx.ErrNoRows)
	}
	return there, err
}

// List implements message.Messages. It asks for one row more than it gives, to
// know whether there is another page.
func (m Messages) List(ctx context.Context, q message.Query, after syntax.Cursor) (message.Page, error) {
	sql, args := listMessages(q, after)
	rows, err := m.s.read.Query(ctx, sql, args...)
	if err != nil {
		return message.Page{}, fmt.Errorf("list messages: %w", err)
	}
	out, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (message.Record, error) { return scanMessage(row) })
	if err != nil {
		return message.Page{}, fmt.Errorf("list messages: %w", err)
	}
	page := message.Page{Messages: out}
	if len(out) > q.Limit {
		page.Messages = out[:q.Limit]
		last := out[q.Limit-1]
		page.Next = syntax.NewCursor(string(last.ID), syntax.TimeKey(last.ReceivedAt))
	}
	return page, nil
}

// question is a statement that grows with what is asked for.
type question struct {
	where []string
	args  []any
}

// add adds a condition, in which the last word is a parameter.
func (q *question) add(condition string, v any) {
	q.where = append(q.where, condition+q.arg(v))
}

// arg adds a parameter and gives its name.
func (q *question) arg(v any) string {
	q.args = append(q.args, v)
	return "$" + strconv.Itoa(len(q.args))
}

// listMessages writes only the conditions that were asked for, so that each
// question finds its index.
func listMessages(asked message.Query, after syntax.Cursor) (string, []any) {
	q := &question{where: []string{"status = 'accepted'"}}
	if asked.DenpaID != "" {
		q.add("denpa_id = ", asked.DenpaID)
	}
	if asked.AppID != "" {
		q.add("app_id = ", asked.AppID)
	}
	if asked.Type != "" {
		q.add("type = ", string(asked.Type))
	}
	if !asked.Since.IsZero() {
		q.add("received_at >= ", asked.Since)
	}
	if at, ok := after.Time(0); ok {
		q.where = append(q.where, "(received_at, id) < ("+q.arg(at)+", "+q.arg(after.ID)+")")
	}
	head, _, _ := strings.Cut(query("message_get"), "WHERE")
	sql := head + "WHERE " + strings.Join(q.where, " AND ") + " ORDER BY received_at DESC, id DESC LIMIT " + q.arg(asked.Limit+1)
	return sql, q.args
}

// foundMessage reads a row that may not be there.
func foundMessage(row pgx.Row) (message.Record, bool, error) {
	r, err := scanMessage(row)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return message.Record{}, false, nil
	case err != nil:
		return message.Record{}, false, fmt.Errorf("read message: %w", err)
	}
	return r, true, nil
}

func scanMessage(row pgx.Row) (message.Record, error) {
	var r message.Record
	var body, result string
	err := row.Scan((*string)(&r.ID), (*string)(&r.Type), &r.DenpaID, &r.AppID, (*string)(&r.Key), &r.Nonce, &body, &r.Attested,
		&r.Subject, &r.Pending, &r.Attempt, &r.ReceivedAt, &result)
	r.Body, r.ReceivedAt = []byte(body), r.ReceivedAt.UTC()
	if result != "" {
		r.Result = []byte(result)
	}
	return r, err
}

// jsonOrNull keeps a text that may be missing.
func jsonOrNull(b []byte) *string {
	if b == nil {
		return nil
	}
	s := string(b)
	return &s
}
