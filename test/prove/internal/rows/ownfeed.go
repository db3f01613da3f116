package rows

import (
	"context"
	"fmt"
	"net/url"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalcast/signalcast/test/prove/internal/frame"
	"github.com/signalcast/signalcast/test/prove/stack"
)

// ownFeed is a ledger with a feed of its own: another database of the same server and
// another of the same Redis. What is done to its days harms nobody else.
type ownFeed struct {
	env  *frame.Env
	name string
	api  *stack.Side
	db   *pgxpool.Pool // as the administrator
}

func newOwnFeed(ctx context.Context, env *frame.Env, name string) (*ownFeed, error) {
	f := &ownFeed{env: env, name: name}
	if _, err := env.DB.Exec(ctx, "CREATE DATABASE "+name); err != nil {
		return nil, err
	}
	if err := f.open(ctx); err != nil {
		f.close(ctx)
		return nil, err
	}
	return f, nil
}

func (f *ownFeed) open(ctx context.Context) error {
	settings, err := stack.Environment(f.env.Stack.PID("api"))
	if err != nil {
		return err
	}
	admin, err := inDatabase(f.env.Stack.DatabaseURL, f.name)
	if err != nil {
		return err
	}
	own, err := inDatabase(settings["DATABASE_URL"], f.name)
	if err != nil {
		return err
	}
	redis, err := inDatabase(settings["REDIS_URL"], "1")
	if err != nil {
		return err
	}
	password, err := f.env.Stack.Secret("databasePassword")
	if err != nil {
		return err
	}
	migrate := exec.CommandContext(ctx, filepath.Join(f.env.Stack.Bin(), "api"), "migrate")
	migrate.Env = []string{"ENV=development", "MIGRATE_DATABASE_URL=" + admin, "DB_RW_PASSWORD=" + password}
	if out, err := migrate.CombinedOutput(); err != nil {
		return fmt.Errorf("migrate %s: %w\n%s", f.name, err, out)
	}
	if f.db, err = pgxpool.New(ctx, admin); err != nil {
		return err
	}
	f.api, err = f.env.Stack.Side(ctx, "api", map[string]string{"DATABASE_URL": own, "REDIS_URL": redis})
	return err
}

func inDatabase(address, name string) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", err
	}
	u.Path = "/" + name
	return u.String(), nil
}

func (f *ownFeed) close(ctx context.Context) {
	if f.api != nil {
		f.api.Stop()
	}
	if f.db != nil {
		f.db.Close()
	}
	_, _ = f.env.DB.Exec(context.WithoutCancel(ctx), "DROP DATABASE "+f.name+" WITH (FORCE)") // it goes with the system anyway
}

// happen puts n facts about a market into the feed, at a time, and waits until they have
// their numbers. It gives the newest number.
func (f *ownFeed) happen(ctx context.Context, market string, n int, at time.Time) (head int64, err error) {
	if _, err := f.db.Exec(ctx, `INSERT INTO api.outbox (type, market_id, data, at)
		SELECT 'market.status', $1, '{"from":"open","to":"closed"}', $2 FROM generate_series(1, $3::int)`, market, at, n); err != nil {
		return 0, err
	}
	if _, err := f.db.Exec(ctx, "SELECT pg_notify('sc_outbox', '')"); err != nil {
		return 0, err
	}
	done, err := frame.Until(ctx, 15*time.Second, func() (bool, error) {
		var waiting int
		err := f.db.QueryRow(ctx, "SELECT (SELECT count(*) FROM api.outbox), seq FROM api.feed_head").Scan(&waiting, &head)
		return waiting == 0, err
	})
	if err == nil && !done {
		err = fmt.Errorf("facts of %s get no numbers", f.name)
	}
	return head, err
}

// age begins the feed with n facts of a day that is over long ago, and has that day
// dropped, as the relay does once a day with the owner's right.
func (f *ownFeed) age(ctx context.Context, market string, n int) error {
	day := time.Now().UTC().AddDate(0, 0, -100).Truncate(24 * time.Hour)
	partition := fmt.Sprintf("CREATE TABLE api.protocol_events_%s PARTITION OF api.protocol_events FOR VALUES FROM ('%s') TO ('%s')",
		day.Format("20060102"), day.Format(time.RFC3339), day.AddDate(0, 0, 1).Format(time.RFC3339))
	// The relay makes and drops days when it begins; it must not find ours before it is used.
	made, err := frame.Until(ctx, 15*time.Second, func() (there bool, err error) {
		err = f.db.QueryRow(ctx, "SELECT to_regclass('api.protocol_events_' || to_char(now() AT TIME ZONE 'UTC', 'YYYYMMDD')) IS NOT NULL").Scan(&there)
		return there, err
	})
	if err == nil && !made {
		err = fmt.Errorf("the relay of %s makes no days", f.name)
	}
	if err == nil {
		_, err = f.db.Exec(ctx, partition)
	}
	if err != nil {
		return err
	}
	if _, err := f.happen(ctx, market, n, day.Add(time.Hour)); err != nil {
		return err
	}
	var dropped int
	tx, err := f.db.Begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(ctx) }()
	if _, err := tx.Exec(ctx, "SET LOCAL ROLE api_rw"); err != nil {
		return err
	}
	if err := tx.QueryRow(ctx, "SELECT api.keep_feed()").Scan(&dropped); err != nil {
		return err
	}
	if dropped != 1 {
		return fmt.Errorf("%d days were dropped", dropped)
	}
	return tx.Commit(ctx)
}
