package postgres

import (
	"context"
	"embed"
	"io/fs"
	"maps"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalcast/signalcast/pkg/batch"
	"github.com/signalcast/signalcast/pkg/cache"
	"github.com/signalcast/signalcast/pkg/dbtime"
	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/services/api/internal/postgres/db"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Migrations are the numbered files of schema api.
func Migrations() fs.FS {
	sub, err := fs.Sub(migrations, "migrations")
	if err != nil {
		panic(err) // the folder is embedded at build time
	}
	return sub
}

// Store is the ledger's database as the role api_rw sees it.
type Store struct {
	pool    *pgxpool.Pool
	acts    *pgxpool.Pool // what writes by key
	reads   *pg.DB        // the same pool; frees its caller when the database hangs
	q       *db.Queries   // on pool
	rq      *db.Queries   // on reads
	aq      *db.Queries   // on acts
	rules   Rules
	now     func() time.Time
	filings *batch.Queue[*filing]
	patient *batch.Queue[*filing] // calls on locked markets
	bell    *batch.Queue[struct{}]
	stop    context.CancelFunc // ends the pauses of notify
	cuts    *cache.Cache[struct{}, lastingCut]
	noted   noted
}

// New makes a store over an open pool and is ready to file.
func New(pool *pgxpool.Pool, rules Rules, now func() time.Time) *Store {
	if rules.ReadBudget == 0 {
		rules.ReadBudget = pg.ReadBudget
	}
	rules.HubURL = strings.TrimRight(rules.HubURL, "/")
	s := &Store{pool: pool, reads: pg.Bound(pool, rules.ReadBudget), q: db.New(pool), rules: rules, now: now}
	s.rq = db.New(s.reads)
	s.acts = actingPool(pool)
	s.aq = db.New(s.acts)
	s.cuts = newCuts(now)
	s.patient = newPatient(s.filePatient)
	s.filings = newFilings(s.fileQuick)
	open, stop := context.WithCancel(context.Background())
	s.stop = stop
	s.bell = batch.New(batch.Config[struct{}]{Size: 1, Bound: 1, Flight: 1, Send: func([]struct{}) { s.notify(open) }})
	return s
}

// Close answers the filings that wait and ends the workers. The pool stays open.
func (s *Store) Close() {
	s.filings.Close()
	s.patient.Close()
	s.cuts.Close()
	s.stop()
	s.bell.Close()
	s.acts.Close()
}

// notifyEvery is the least time between two notifications of the relay.
const notifyEvery = 25 * time.Millisecond

// notify notifies the relay, in whichever process it runs, that the outbox has entries. It then waits notifyEvery, or until open
// ends. A notification in the transaction of a filing would serialize the commits and wake the relay for a few entries. If one is
// lost, the relay is late by a second, because it also reads the outbox without a notification.
func (s *Store) notify(open context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(open), time.Second)
	defer cancel()
	_ = s.aq.NotifyRelay(ctx)
	_ = dbtime.Sleep(open, notifyEvery)
}

// Ping tells whether the database answers.
func (s *Store) Ping(ctx context.Context) error {
	_, err := s.reads.Exec(ctx, "SELECT 1")
	return err
}

// Waiting is the number of calls that wait to be written.
func (s *Store) Waiting() int { return s.filings.Len() + s.patient.Len() }

// SweepKeys deletes idempotency keys that have run out.
func (s *Store) SweepKeys(ctx context.Context) error {
	return pg.Fault(wrap("sweep idempotency keys", s.q.DeleteOldIdempotencyKeys(ctx, s.now().UTC())))
}

// acting has the settings of the connections that write. Their statements find a few rows by key and are planned once. Without
// these settings, a plan that was made while a table was small would read the whole table, also when it has grown.
var acting = map[string]string{
	"plan_cache_mode":  "force_generic_plan",
	"enable_seqscan":   "off",
	"enable_hashjoin":  "off",
	"enable_mergejoin": "off",
	"enable_material":  "off",
	"enable_memoize":   "off",
}

// actors is the number of connections that write: one for each worker of the filings, the feed and the bell.
const actors = filers + patients + 2

// actingPool opens a second pool for the statements that write, so that a filing never waits for a connection that reads use.
func actingPool(pool *pgxpool.Pool) *pgxpool.Pool {
	cfg := pool.Config()
	cfg.MaxConns, cfg.MinIdleConns = actors, 1
	cfg.ConnConfig.RuntimeParams = maps.Clone(cfg.ConnConfig.RuntimeParams)
	maps.Copy(cfg.ConnConfig.RuntimeParams, acting)
	acts, err := pgxpool.NewWithConfig(context.Background(), cfg)
	if err != nil {
		panic(err) // the same settings made the first pool; nothing is connected yet
	}
	return acts
}
