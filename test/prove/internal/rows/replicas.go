package rows

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/test/prove/internal/frame"
	"github.com/signalcast/signalcast/test/prove/stack"
)

// replicas are two more ledgers on the database and the Redis of the system, and before
// them what a balancer is: each reader has a line that leads to either.
type replicas struct {
	env  *frame.Env
	seen *frame.Seen

	mu    sync.Mutex
	rand  *rand.Rand
	side  [2]*stack.Side
	up    [2]bool
	lines []*line
}

// line is the way of one reader.
type line struct {
	proxy *stack.Proxy

	mu sync.Mutex // held while it is being changed; taken before that of all
	at int        // which replica it leads to
}

func newReplicas(ctx context.Context, env *frame.Env, seen *frame.Seen) (*replicas, error) {
	r := &replicas{env: env, seen: seen, rand: env.Rand("replicas")}
	settings, err := stack.Environment(env.Stack.PID("api"))
	if err != nil {
		return nil, err
	}
	database, err := url.Parse(settings["DATABASE_URL"])
	if err != nil {
		return nil, err
	}
	var wg sync.WaitGroup
	errs := make([]error, len(r.side))
	for i := range r.side {
		own := *database
		q := own.Query()
		q.Set("application_name", replicaName(i)) // so that the database tells which of them leads
		own.RawQuery = q.Encode()
		wg.Go(func() {
			r.side[i], errs[i] = env.Stack.Side(ctx, "api", map[string]string{
				"DATABASE_URL": own.String(), "DB_MAX_CONNS": "12", "TRUSTED_PROXIES": "127.0.0.0/8",
			})
			r.up[i] = errs[i] == nil
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

func replicaName(i int) string { return fmt.Sprintf("replica-%d", i) }

func (r *replicas) close() {
	for _, l := range r.lines {
		l.proxy.Close()
	}
	for i, side := range r.side {
		if side != nil && r.up[i] {
			side.Stop()
		}
	}
}

func (r *replicas) addr(i int) string { return strings.TrimPrefix(r.side[i].URL, "http://") }

// newLine makes the way of one more reader.
func (r *replicas) newLine() (*line, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	l := &line{at: len(r.lines) % len(r.side)}
	var err error
	if l.proxy, err = stack.NewProxy(r.addr(l.at)); err != nil {
		return nil, err
	}
	r.lines = append(r.lines, l)
	return l, nil
}

// chance is a random number below n.
func (r *replicas) chance(n int) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.rand.IntN(n)
}

// cut ends the connections of a line in one of three ways: by a reset in the middle of an
// answer, at once, or because the balancer sends the reader to the other replica.
func (r *replicas) cut(ctx context.Context, l *line) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch r.chance(3) {
	case 0:
		if err := l.proxy.Break(stack.Reset); err != nil {
			return err
		}
		_ = wait(ctx, time.Now().Add(100*time.Millisecond)) // nothing may come meanwhile
		if err := l.proxy.Mend(ctx); err != nil {
			return err
		}
	case 1:
		if r.lives(1 - l.at) {
			return r.turn(ctx, l)
		}
	}
	return l.proxy.Cut(ctx)
}

// refuse takes a line away for a while.
func (r *replicas) refuse(ctx context.Context, l *line, lasting time.Duration) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.proxy.Break(stack.Refused); err != nil {
		return err
	}
	_ = wait(ctx, time.Now().Add(lasting))
	return l.proxy.Turn(ctx, r.addr(l.at))
}

// turn sends a line, which the caller holds, to the other replica.
func (r *replicas) turn(ctx context.Context, l *line) error {
	l.at = 1 - l.at
	return l.proxy.Turn(ctx, r.addr(l.at))
}

func (r *replicas) lives(i int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.up[i]
}

// crash ends a replica, by force or in order, while the other lives, sends its readers
// there, and gives what starts it again.
func (r *replicas) crash(ctx context.Context, i int, force bool) (again func(context.Context) error, err error) {
	r.mu.Lock()
	if !r.up[0] || !r.up[1] {
		r.mu.Unlock()
		return nil, errDown
	}
	r.up[i] = false
	lines := r.lines
	r.mu.Unlock()
	if force {
		r.side[i].Kill()
	} else {
		r.side[i].Stop()
	}
	errs := make([]error, len(lines))
	frame.Each(len(lines), 16, func(k int) {
		l := lines[k]
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.at == i {
			errs[k] = r.turn(ctx, l)
		}
	})
	return func(ctx context.Context) error {
		if err := r.side[i].Start(ctx); err != nil {
			return err
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.up[i] = true
		return nil
	}, errors.Join(errs...)
}

// errDown says that what is to be killed is not there at the moment.
var errDown = errors.New("it is down already")

// leader names who gives the numbers: a replica, or "api" for the ledger of the system,
// with the session that holds the lease; nobody is session 0.
func (r *replicas) leader(ctx context.Context) (name string, session int, err error) {
	err = r.env.DB.QueryRow(ctx, `SELECT a.application_name, a.pid FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
		WHERE l.locktype = 'advisory' AND l.granted AND l.classid = 0 AND l.objid = 7201005
			AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database()) LIMIT 1`).Scan(&name, &session)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return "", 0, nil
	case !strings.HasPrefix(name, "replica-"):
		name = "api"
	}
	return name, session, err
}
