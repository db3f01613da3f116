package postgres

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalcast/signalcast/pkg/batch"
	"github.com/signalcast/signalcast/pkg/cache"
	"github.com/signalcast/signalcast/pkg/dbtime"
	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/services/api/internal/operator"
	"github.com/signalcast/signalcast/services/api/internal/postgres/db"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Migrations returns the migrations of the database schema api.
func Migrations() fs.FS {
	sub, err := fs.Sub(migrations, "migrations")
	if err != nil {
		panic(err) // the directory is embedded at build time
	}
	return sub
}

// Store provides the database operations of the ledger. It requires the permissions of the database role api_rw.
type Store struct {
	pool          *pgxpool.Pool
	writes        *pgxpool.Pool // connections with writeSettings, for statements that write by key
	reads         *pg.DB        // the same pool as pool; a read returns at its timeout even if the database does not answer
	q             *db.Queries   // on pool
	rq            *db.Queries   // on reads
	wq            *db.Queries   // on writes
	rules         Rules
	now           func() time.Time
	filings       *batch.Queue[*filing]
	lockedFilings *batch.Queue[*filing]  // calls on locked markets
	notifier      *batch.Queue[struct{}] // notifies the relay, which publishes the outbox
	stop          context.CancelFunc     // ends the pause in notify
	cuts          *cache.Cache[struct{}, lastingCut]
	tolerance     toleranceState
	onMoved       func(ctx context.Context, ids []string) // nil: none
}

// New returns a store that uses an open pool, and starts the workers of its queues. Close stops the workers.
func New(pool *pgxpool.Pool, rules Rules, now func() time.Time) *Store {
	if rules.ReadBudget == 0 {
		rules.ReadBudget = pg.ReadBudget
	}
	rules.HubURL = strings.TrimRight(rules.HubURL, "/")
	s := &Store{pool: pool, reads: pg.Bound(pool, rules.ReadBudget), q: db.New(pool), rules: rules, now: now}
	s.rq = db.New(s.reads)
	s.writes = openWritePool(pool)
	s.wq = db.New(s.writes)
	s.cuts = newCuts(now)
	s.lockedFilings = newLockedFilings(s.fileWaiting)
	s.filings = newFilings(s.fileQuick)
	open, stop := context.WithCancel(context.Background())
	s.stop = stop
	s.notifier = batch.New(batch.Config[struct{}]{Size: 1, Bound: 1, Flight: 1, Send: func([]struct{}) { s.notify(open) }})
	return s
}

// Close waits for the queued calls to be answered and stops the workers. The pool given to New remains open.
func (s *Store) Close() {
	s.filings.Close()
	s.lockedFilings.Close()
	s.cuts.Close()
	s.stop()
	s.notifier.Close()
	s.writes.Close()
}

// notifyEvery is the shortest time between two notifications of the relay.
const notifyEvery = 25 * time.Millisecond

// notify sends the database notification that wakes the relay, which may run in another process. It then waits for
// notifyEvery, or until open ends. A notification in the transaction of each filing would serialize the commits and wake the
// relay for a few entries. A lost notification delays the relay by at most one second, because the relay also polls the
// outbox.
func (s *Store) notify(open context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(open), time.Second)
	defer cancel()
	_ = s.wq.NotifyRelay(ctx)
	_ = dbtime.Sleep(open, notifyEvery)
}

// Ping returns an error if the database does not answer before the timeout of reads.
func (s *Store) Ping(ctx context.Context) error {
	_, err := s.reads.Exec(ctx, "SELECT 1")
	return err
}

// Waiting returns the number of calls in the queues that are not yet written.
func (s *Store) Waiting() int { return s.filings.Len() + s.lockedFilings.Len() }

// SweepKeys deletes idempotency keys that are older than 24 hours, former handles whose time has ended, notices that are older
// than operator.NoticeLife, and the references to accounts that were deleted operator.FormerPeriod ago.
func (s *Store) SweepKeys(ctx context.Context) error {
	now := s.now().UTC()
	if err := s.q.DeleteOldFormerAccounts(ctx, now.Add(-operator.FormerPeriod)); err != nil {
		return pg.Fault(fmt.Errorf("delete old former accounts: %w", err))
	}
	if err := s.q.DeleteOldFormerHandles(ctx, now); err != nil {
		return pg.Fault(fmt.Errorf("delete old former handles: %w", err))
	}
	if err := s.q.DeleteOldNotices(ctx, now.Add(-operator.NoticeLife)); err != nil {
		return pg.Fault(fmt.Errorf("delete old notices: %w", err))
	}
	return pg.Fault(wrap("delete old idempotency keys", s.q.DeleteOldIdempotencyKeys(ctx, now)))
}

// writeSettings are the settings of the connections that write. Their statements find a few rows by key and are planned
// once. Without these settings, a plan that was made while a table was small would scan the whole table after it has
// grown.
var writeSettings = map[string]string{
	"plan_cache_mode":  "force_generic_plan",
	"enable_seqscan":   "off",
	"enable_hashjoin":  "off",
	"enable_mergejoin": "off",
	"enable_material":  "off",
	"enable_memoize":   "off",
}

// writeConns is the number of connections in the pool for writes: one for each worker of the queues of calls, one for the
// feed, and one for the notifier.
const writeConns = writers + lockWaiters + 2

// openWritePool opens a second pool, with the settings writeSettings, for the statements that write. A filing therefore
// never waits for a connection that reads use.
func openWritePool(pool *pgxpool.Pool) *pgxpool.Pool {
	cfg := pool.Config()
	cfg.MaxConns, cfg.MinIdleConns = writeConns, 1
	cfg.ConnConfig.RuntimeParams = maps.Clone(cfg.ConnConfig.RuntimeParams)
	maps.Copy(cfg.ConnConfig.RuntimeParams, writeSettings)
	writes, err := pgxpool.NewWithConfig(context.Background(), cfg)
	if err != nil {
		panic(err) // the same settings are valid for the first pool, and NewWithConfig does not connect
	}
	return writes
}
