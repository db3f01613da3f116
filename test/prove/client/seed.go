package client

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Operator is an operator of the seeded pool.
type Operator struct {
	ID     string
	Handle string
	Keys   []Key
}

// Execer runs a statement: a connection or a pool of the administrator.
type Execer interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
}

const plantOperators = `
WITH u AS (
    INSERT INTO api.users (id, issuer, provider_id, public_id, handle, display_name, created_at)
    SELECT id, 'seed', handle, public_id, handle, handle, $4
    FROM unnest($1::uuid[], $2::text[], $3::text[]) AS t (id, handle, public_id)
    RETURNING id
), scores AS (
    INSERT INTO api.operator_scores (user_id) SELECT id FROM u
)
INSERT INTO api.operator_totals (user_id) SELECT id FROM u`

const plantKeys = `
INSERT INTO api.operator_keys (id, user_id, hash, prefix, last4, label, permissions, created_at)
SELECT id, user_id, hash, 'dk_', last4, 'seeded', '{read,signal,broadcast}', $5
FROM unnest($1::uuid[], $2::uuid[], $3::bytea[], $4::text[]) AS t (id, user_id, hash, last4)`

// Seed plants n operators named prefix0, prefix1, … with some keys each. The keys
// follow from prefix and seed.
func Seed(ctx context.Context, db Execer, prefix string, seed uint64, n, keys int) ([]Operator, error) {
	now := time.Now().UTC()
	ops := make([]Operator, n)
	var ids, handles, publics, keyIDs, owners, last4 []string
	var hashes [][]byte
	for i := range ops {
		o := Operator{ID: newID(), Handle: fmt.Sprintf("%s%d", prefix, i)}
		for k := range keys {
			key := seededKey(prefix, seed, i, k)
			hash := sha256.Sum256([]byte(key))
			o.Keys = append(o.Keys, key)
			keyIDs, owners, last4 = append(keyIDs, newID()), append(owners, o.ID), append(last4, string(key[len(key)-4:]))
			hashes = append(hashes, hash[:])
		}
		public := sha256.Sum256([]byte("public " + o.ID))
		ids, handles, publics = append(ids, o.ID), append(handles, o.Handle), append(publics, "op_"+hex.EncodeToString(public[:8]))
		ops[i] = o
	}
	if _, err := db.Exec(ctx, plantOperators, ids, handles, publics, now); err != nil {
		return nil, fmt.Errorf("plant operators: %w", err)
	}
	if _, err := db.Exec(ctx, plantKeys, keyIDs, owners, hashes, last4, now); err != nil {
		return nil, fmt.Errorf("plant keys: %w", err)
	}
	return ops, nil
}

func newID() string { return uuid.Must(uuid.NewV7()).String() }

func seededKey(prefix string, seed uint64, i, k int) Key {
	text := binary.BigEndian.AppendUint64([]byte("seeded key "+prefix), seed)
	sum := sha256.Sum256(fmt.Appendf(text, " %d %d", i, k))
	return Key("dk_" + base64.RawURLEncoding.EncodeToString(sum[:]))
}

// Planted is a call that Plant put on record.
type Planted struct {
	ID, User string
	Yes      bool
	Price    int // of the side called
	Basis    int // what scores it
}

const plantCalls = `
WITH f AS (
    INSERT INTO api.signals (id, market_id, user_id, yes, price_bps, score_basis_bps, price_verified, rated, crowd_yes_bps,
        created_at, market_title, source)
    SELECT id, $1, user_id, yes, price, basis, true, true, 5000, $7, 'planted', 'web'
    FROM unnest($2::uuid[], $3::uuid[], $4::boolean[], $5::integer[], $6::integer[]) AS t (id, user_id, yes, price, basis)
    RETURNING id, user_id, yes
), o AS (
    INSERT INTO api.open_signals (signal_id, market_id, created_at) SELECT id, $1, $7 FROM f
), c AS (
    UPDATE api.operator_totals t SET total = total + 1 FROM f WHERE t.user_id = f.user_id
)
INSERT INTO api.market_totals AS t (market_id, yes, no, crowd_yes, crowd_no)
SELECT $1, count(*) FILTER (WHERE yes), count(*) FILTER (WHERE NOT yes), count(*) FILTER (WHERE yes), count(*) FILTER (WHERE NOT yes) FROM f
ON CONFLICT (market_id) DO UPDATE SET yes = t.yes + excluded.yes, no = t.no + excluded.no,
    crowd_yes = t.crowd_yes + excluded.crowd_yes, crowd_no = t.crowd_no + excluded.crowd_no`

// Plant puts calls on record with their counters, as if they had been filed: for
// markets that are too large to be filled by hand. Boards know nothing of them before Rank.
func Plant(ctx context.Context, db Execer, market string, calls []Planted) error {
	var ids, users []string
	var yes []bool
	var price, basis []int
	for i := range calls {
		if calls[i].ID == "" {
			calls[i].ID = newID()
		}
		c := calls[i]
		ids, users, yes = append(ids, c.ID), append(users, c.User), append(yes, c.Yes)
		price, basis = append(price, c.Price), append(basis, c.Basis)
	}
	args := []any{market, ids, users, yes, price, basis, time.Now().UTC().Truncate(time.Millisecond)}
	_, err := db.Exec(ctx, plantCalls, args...)
	var refused *pgconn.PgError
	if errors.As(err, &refused) && refused.Code == "42703" { // undefined_column: a database of the last release
		_, err = db.Exec(ctx, strings.NewReplacer("price_verified, rated", "price_verified", "true, true", "true").Replace(plantCalls), args...)
	}
	if err != nil {
		return fmt.Errorf("plant calls: %w", err)
	}
	return nil
}

// Rank makes the boards know planted calls. It works out everybody's rows: who plants many
// markets does it once.
func Rank(ctx context.Context, db Execer) error {
	if _, err := db.Exec(ctx, "SELECT api.fill_boards()"); err != nil {
		return fmt.Errorf("plant board rows: %w", err)
	}
	return nil
}

var _ Execer = (*pgx.Conn)(nil)
