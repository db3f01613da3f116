package rows

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/test/prove/client"
)

// calms waits for a second in which every call is taken: what a machine that is busy with
// other things refuses before anything is migrated says nothing of migrations.
func (u *upgrade) calms(ctx context.Context) error {
	for range 30 {
		before := u.failed.Load()
		if err := wait(ctx, time.Now().Add(time.Second)); err != nil {
			return err
		}
		if u.failed.Load() == before {
			u.calm = u.took.At(1)
			u.seen.Figure("failedBefore", before)
			u.failed.Store(0)
			u.counts.Store(true)
			return nil
		}
	}
	return errors.New("200 calls a second are too many for this machine, before anything is migrated")
}

// write calls 200 times a second through the door of the release.
func (u *upgrade) write(ctx context.Context) error {
	if u.old == nil {
		return nil
	}
	steady(ctx, 200, time.Minute, func(i int) {
		op, market := u.ops[i%len(u.ops)], u.markets[i/len(u.ops)%len(u.markets)]
		a := u.old.Client.File(context.WithoutCancel(ctx), u.old.Hub(i), op.Keys[0], client.Call{Market: market, Yes: i%2 == 0, Price: 5000})
		u.tried(a)
	})
	return nil
}

// claim resolves a market every now and then, so that results are scored as well.
func (u *upgrade) claim(ctx context.Context) error {
	for i, market := range u.claims {
		if wait(ctx, time.Now().Add(400*time.Millisecond)) != nil {
			break
		}
		u.tried(u.old.Client.Finalize(context.WithoutCancel(ctx), u.old.Hub(i), u.old.Admin(), market, []string{"YES", "NO"}[i%2]))
	}
	return nil
}

func (u *upgrade) tried(a client.Answer) {
	u.done.Add(1)
	u.took.Add(a.Took())
	if a.Err != nil || a.Status != http.StatusOK {
		u.failed.Add(1)
		if u.counts.Load() {
			u.seen.Wrong("%s while the database was migrated", a)
		}
	}
}

// lock takes the lock of a writer on every table: 50 times a second, or 200 where nobody
// else writes.
func (u *upgrade) lock(ctx context.Context) error {
	pause := 20 * time.Millisecond
	if u.old == nil {
		pause = 5 * time.Millisecond
	}
	return u.every(ctx, "b6-lock", pause, func(db *pgx.Conn) error {
		var tables string
		err := db.QueryRow(ctx, `SELECT string_agg(format('%I.%I', n.nspname, c.relname), ', ' ORDER BY 1) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
			WHERE n.nspname IN ('api', 'hub', 'clock') AND c.relkind IN ('r', 'p') AND NOT c.relispartition`).Scan(&tables)
		if err != nil {
			return err
		}
		began := time.Now()
		if _, err := db.Exec(ctx, "BEGIN; LOCK TABLE ONLY "+strings.ReplaceAll(tables, ", ", ", ONLY ")+" IN ROW EXCLUSIVE MODE; COMMIT"); err != nil {
			return err
		}
		if u.old == nil {
			u.done.Add(1)
			u.took.Add(time.Since(began))
		}
		return nil
	})
}

// watch looks all the time for who waits for a migration, and how long already.
func (u *upgrade) watch(ctx context.Context) error {
	return u.every(ctx, "b6-watch", 5*time.Millisecond, func(db *pgx.Conn) error {
		var ms float64
		var what string
		err := db.QueryRow(ctx, `SELECT extract(epoch FROM clock_timestamp() - l.waitstart)::float8 * 1000,
				l.mode || ' of ' || coalesce(l.relation::regclass::text, l.locktype) || ' for ' || left(a.query, 80)
			FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
			WHERE NOT l.granted AND l.waitstart IS NOT NULL AND a.application_name <> $1 AND EXISTS (
				SELECT FROM pg_stat_activity m WHERE m.application_name = $1 AND m.pid = ANY (pg_blocking_pids(l.pid)))
			ORDER BY l.waitstart LIMIT 1`, migrating).Scan(&ms, &what)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err == nil {
			waited := time.Duration(ms * float64(time.Millisecond))
			u.mu.Lock()
			if waited > u.waits.At(1) {
				u.longest = what
			}
			u.waits.Add(waited)
			u.mu.Unlock()
		}
		return err
	})
}

// every repeats something on a session of its own until the load ends.
func (u *upgrade) every(ctx context.Context, name string, pause time.Duration, do func(db *pgx.Conn) error) error {
	db, err := pgx.Connect(ctx, u.named(name))
	if err != nil {
		return err
	}
	defer func() { _ = db.Close(context.WithoutCancel(ctx)) }()
	for wait(ctx, time.Now().Add(pause)) == nil {
		if err := do(db); err != nil && ctx.Err() == nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}
