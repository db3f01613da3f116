package rows

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
	"github.com/signalcast/signalcast/test/prove/stack"
)

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
