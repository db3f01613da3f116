package rows

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
	"github.com/signalcast/signalcast/test/prove/stack"
)

// a11 edits rows of the record one by one, as somebody who owns the database and has
// switched its triggers off, and has `api fsck` name every one of them and no other.
var a11 = frame.Row{
	ID: "A11", Title: "tampering shows",
	Fault: frame.Fault{What: "scores are not sealed"},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		w, err := journalledRecord(ctx, env, "a11", env.Of(8, 40, 40), env.Of(10, 30, 30))
		if err != nil {
			return nil, err
		}
		if w.known, _, err = w.fsck(ctx); err != nil {
			return nil, err
		}
		if err := w.unlock(ctx); err != nil {
			return nil, err
		}
		found, edited, rounds := 0, 0, env.Of(2, 5, 20)
		each := env.Of(50, 200, 50)
		for range rounds {
			n, err := w.round(ctx, seen, each)
			if err != nil {
				return nil, errors.Join(err, w.lock(ctx))
			}
			edited, found = edited+each, found+n
		}
		if err := w.lock(ctx); err != nil {
			return nil, err
		}
		again, took, err := w.fsck(ctx)
		if err != nil {
			return nil, err
		}
		seen.Check(slices.Equal(slices.Sorted(slices.Values(again)), slices.Sorted(slices.Values(w.known))), "put back, the record has other differences than before")
		seen.Figure("fsckSeconds", took.Seconds())
		seen.Volume("%d rows, %d rounds, a check takes %v", len(w.rows), rounds, took.Round(time.Millisecond))
		seen.OutOf(edited, found)
		return seen, nil
	},
}

// sealedRow is a row that may be edited; market is the market of a call.
type sealedRow struct{ table, column, key, market string }

func (r sealedRow) String() string { return r.table + " " + r.key }

// journalled is a record of this row's own, all of it in the journal.
type journalled struct {
	env   *frame.Env
	rand  *rand.Rand
	rows  []sealedRow
	known []string // what other rows have planted behind the journal's back

	settings map[string]string // of the running api, which may be down when fsck runs
}

// tamperings are the ways to edit a row, by table. Each leaves what the database itself
// would refuse.
var tamperings = map[string][]string{
	"signals": {
		"yes = NOT yes", "price_bps = (price_bps + 1) % 10001", "score_basis_bps = (score_basis_bps + 1) % 10001", "price_verified = NOT price_verified",
		"confidence = coalesce(confidence, 0) % 100 + 1", "created_at = created_at - interval '1 microsecond'", "text_take = coalesce(text_take, '') || '.'",
		"market_title = market_title || '.'", "source = 'else'", "reach = coalesce(reach, 0) + 1", "user_id = gen_random_uuid()",
	},
	"signal_results": {
		"score = CASE status WHEN 'won' THEN (score + 1) % 100 ELSE -1 - (-score % 100) END", "score = CASE status WHEN 'won' THEN (score + 50) % 100 ELSE -1 - ((49 - score) % 100) END",
		"status = CASE status WHEN 'won' THEN 'lost' ELSE 'won' END, score = CASE status WHEN 'won' THEN -1 ELSE 1 END", "beat_crowd = NOT beat_crowd",
		"clv_bps = CASE WHEN clv_bps IS NULL THEN 1 END", "resolved_at = resolved_at + interval '1 microsecond'", "scoring_vertical = scoring_vertical || '.'",
		"score = CASE status WHEN 'won' THEN (score + 7) % 100 ELSE -1 - ((6 - score) % 100) END",
	},
	"signal_events": {
		`payload = payload || '{"later": true}'`, "actor = coalesce(actor, '') || '.'", "created_at = created_at + interval '1 microsecond'",
		"type = CASE type WHEN 'note' THEN 'share' ELSE 'note' END",
	},
	"market_resolutions": {
		"outcome = CASE outcome WHEN 'YES' THEN 'NO' ELSE 'YES' END", "source = source || '.'", "proof_url = 'https://proof.example/'",
		"resolved_at = resolved_at + interval '1 microsecond'", "close_price = (coalesce(close_price, 0) + 1) % 10001",
	},
}

// journalledRecord has operators call on markets, half of which are decided, and waits for
// the journal.
func journalledRecord(ctx context.Context, env *frame.Env, prefix string, nMarkets, nOps int) (*journalled, error) {
	w := &journalled{env: env, rand: env.Rand("A11")}
	var err error
	if w.settings, err = stack.Environment(env.Stack.PID("api")); err != nil {
		return nil, err
	}
	ids, err := markets(ctx, env, "A11", nMarkets)
	if err != nil {
		return nil, err
	}
	ops, err := pool(ctx, env, prefix, nOps, 2)
	if err != nil {
		return nil, err
	}
	errs := make([]error, nMarkets*nOps)
	frame.Each(len(errs), 16, func(i int) {
		o, market := ops[i/nMarkets], ids[i%nMarkets]
		a := env.Client.File(ctx, env.Hub(i), o.Keys[i%2], client.Call{Market: market, Yes: i%3 == 0, Price: 1000 + i%8000})
		if errs[i] = a.Into(200, nil); errs[i] != nil || i%6 != 0 {
			return
		}
		errs[i] = env.Client.Do(ctx, client.Request{
			URL: env.Hub(i) + "/api/signals/" + a.Text("id") + "/events", As: o.Keys[(i+1)%2], Body: []byte(`{"type":"note","payload":{"text":"later"}}`),
		}).Into(201, nil)
	})
	for i, id := range ids {
		if i%2 == 0 {
			errs = append(errs, env.Client.Finalize(ctx, env.Hub(i), env.Admin(), id, []string{"YES", "NO"}[i/2%2]).Into(200, nil))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return w, w.list(ctx, ids)
}

// list waits until all rows of these markets are in the journal.
func (w *journalled) list(ctx context.Context, ids []string) error {
	ok, err := frame.Until(ctx, 20*time.Second, func() (bool, error) {
		rows, err := w.env.DB.Query(ctx, `SELECT 'signals', 'id', id::text, market_id FROM api.signals WHERE market_id = ANY ($1)
			UNION ALL SELECT 'signal_results', 'signal_id', r.signal_id::text, '' FROM api.signal_results r JOIN api.signals s ON s.id = r.signal_id WHERE s.market_id = ANY ($1)
			UNION ALL SELECT 'signal_events', 'id', e.id::text, '' FROM api.signal_events e JOIN api.signals s ON s.id = e.signal_id WHERE s.market_id = ANY ($1)
			UNION ALL SELECT 'market_resolutions', 'market_id', market_id, '' FROM api.market_resolutions WHERE market_id = ANY ($1)`, ids)
		if err != nil {
			return false, err
		}
		w.rows, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (r sealedRow, err error) {
			err = row.Scan(&r.table, &r.column, &r.key, &r.market)
			return r, err
		})
		if err != nil {
			return false, err
		}
		keys := make([]string, len(w.rows))
		for i, r := range w.rows {
			keys[i] = r.key
		}
		n, err := w.env.Count(ctx, "SELECT count(*) FROM api.journal_leaves WHERE of = ANY ($1)", keys)
		return n >= len(keys), err
	})
	if err == nil && !ok {
		err = fmt.Errorf("%d rows are not in the journal after 20 s", len(w.rows))
	}
	return err
}

// fsck runs the command and gives the lines of what it found.
func (w *journalled) fsck(ctx context.Context) (lines []string, took time.Duration, err error) {
	cmd := exec.CommandContext(ctx, filepath.Join(w.env.Stack.Bin(), "api"), "fsck")
	for name, value := range w.settings {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	began := time.Now()
	out, err := cmd.Output()
	took = time.Since(began)
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 && len(out) > 0 {
		return strings.Split(strings.TrimSpace(string(out)), "\n"), took, nil
	}
	if err != nil && exit != nil {
		err = fmt.Errorf("%w: %s", err, exit.Stderr)
	}
	return nil, took, err
}

// round edits n rows, looks what is found, and puts them back.
func (w *journalled) round(ctx context.Context, seen *frame.Seen, n int) (found int, err error) {
	edited := map[string]string{}
	var undo []func(pgx.Tx) error
	err = pgx.BeginFunc(ctx, w.env.DB, func(tx pgx.Tx) error {
		for len(edited) < n {
			r := w.rows[w.rand.IntN(len(w.rows))]
			if _, twice := edited[r.String()]; twice {
				continue
			}
			how, back, err := w.edit(ctx, tx, r)
			if err != nil {
				return fmt.Errorf("edit %s: %w", r, err)
			}
			edited[r.String()], undo = how, append(undo, back)
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	lines, _, err := w.fsck(ctx)
	if err != nil {
		return 0, err
	}
	follows := w.consequences(edited)
	for _, line := range lines {
		if slices.Contains(w.known, line) {
			continue
		}
		what, _, _ := strings.Cut(line, ":")
		if follows[what] {
			continue
		}
		if _, ours := edited[what]; !ours {
			seen.Wrong("nobody edited that: %s", line)
			continue
		}
		delete(edited, what)
		found++
	}
	for row, how := range edited {
		seen.Wrong("not found: %s with %s", row, how)
	}
	return found, pgx.BeginFunc(ctx, w.env.DB, func(tx pgx.Tx) error {
		for _, back := range undo {
			if err := back(tx); err != nil {
				return err
			}
		}
		return nil
	})
}

// consequences are the calls of which fsck may say that stored and computed numbers differ:
// an edit of the call, its result or the resolution of its market.
func (w *journalled) consequences(edited map[string]string) map[string]bool {
	subjects := map[string]bool{}
	for _, r := range w.rows {
		if r.table != "signals" {
			continue
		}
		for _, cause := range []sealedRow{r, {table: "signal_results", key: r.key}, {table: "market_resolutions", key: r.market}} {
			if _, is := edited[cause.String()]; is {
				subjects["signal "+r.key] = true
			}
		}
	}
	return subjects
}

// edit changes one row, or takes it away; back puts it there again.
func (w *journalled) edit(ctx context.Context, tx pgx.Tx, r sealedRow) (how string, back func(pgx.Tx) error, err error) {
	old := ""
	if err := tx.QueryRow(ctx, fmt.Sprintf("SELECT to_jsonb(t)::text FROM api.%s t WHERE %s = $1", r.table, r.column), r.key).Scan(&old); err != nil {
		return "", nil, err
	}
	ways := tamperings[r.table]
	i := w.rand.IntN(len(ways) + 1)
	if i == len(ways) {
		how = "a deletion"
		_, err = tx.Exec(ctx, fmt.Sprintf("DELETE FROM api.%s WHERE %s = $1", r.table, r.column), r.key)
	} else {
		how = ways[i]
		_, err = tx.Exec(ctx, fmt.Sprintf("UPDATE api.%s SET %s WHERE %s = $1", r.table, how, r.column), r.key)
	}
	return how, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, fmt.Sprintf("DELETE FROM api.%s WHERE %s = $1", r.table, r.column), r.key); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, fmt.Sprintf("INSERT INTO api.%[1]s SELECT * FROM jsonb_populate_record(NULL::api.%[1]s, $1::jsonb)", r.table), old)
		return err
	}, err
}

// unlock switches off everything that would refuse an edit; lock switches it on again
// as the migrations have it.
func (w *journalled) unlock(ctx context.Context) error {
	return w.each(ctx, "DISABLE TRIGGER ALL")
}

func (w *journalled) lock(ctx context.Context) error {
	return errors.Join(w.each(ctx, "ENABLE TRIGGER ALL"), w.each(ctx, "ENABLE ALWAYS TRIGGER no_change"), w.each(ctx, "ENABLE ALWAYS TRIGGER no_truncate"))
}

func (w *journalled) each(ctx context.Context, what string) error {
	for table := range tamperings {
		if _, err := w.env.DB.Exec(ctx, "ALTER TABLE api."+table+" "+what); err != nil {
			return err
		}
	}
	return nil
}
