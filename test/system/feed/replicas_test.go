package feed

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/test/system/stack"
)

// replicas are two additional api processes that use the database and the Redis of a system. Each reader connects through a
// separate proxy, which acts as a load balancer.
type replicas struct {
	s    *stack.Stack
	side [2]*stack.Side

	mu     sync.Mutex
	up     [2]bool
	routes []*route
}

// route is the proxy of one reader.
type route struct {
	proxy *stack.Proxy

	mu sync.Mutex // locked while the route changes; must be locked before the mutex of replicas
	to int        // index of the replica to which the proxy forwards
}

func newReplicas(t *testing.T, s *stack.Stack) *replicas {
	t.Helper()
	r := &replicas{s: s}
	database, err := url.Parse(s.ServiceDatabase(t, "api"))
	if err != nil {
		t.Fatal(err)
	}
	stack.AtOnce(len(r.side), func(i int) {
		own := *database
		query := own.Query()
		query.Set("application_name", replicaName(i)) // identifies in the database which process is the leader
		own.RawQuery = query.Encode()
		r.side[i] = s.Side(t, "api", map[string]string{
			"DATABASE_URL": own.String(), "DB_MAX_CONNS": "12", "TRUSTED_PROXIES": "127.0.0.0/8",
		})
		r.up[i] = true
	})
	if t.Failed() {
		t.FailNow()
	}
	return r
}

func replicaName(i int) string { return fmt.Sprintf("replica-%d", i) }

func (r *replicas) addr(i int) string { return strings.TrimPrefix(r.side[i].URL, "http://") }

// newRoute creates the route of an additional reader.
func (r *replicas) newRoute(t *testing.T) *route {
	t.Helper()
	to := len(r.routes) % len(r.side)
	route := &route{proxy: stack.NewProxy(t, r.addr(to)), to: to}
	r.routes = append(r.routes, route)
	return route
}

// cut ends the connections of a route in a random way: by a reset within an answer, by a change to the other replica, or by
// closing them.
func (r *replicas) cut(t *testing.T, route *route) {
	t.Helper()
	route.mu.Lock()
	defer route.mu.Unlock()
	switch how := rand.IntN(3); {
	case how == 0:
		route.proxy.Break(t, stack.Reset)
		stack.Wait(t, 100*time.Millisecond) // the reset happens only if an answer is sent within this time
		route.proxy.Repair(t)
		route.proxy.Cut(t)
	case how == 1 && r.isUp(1-route.to):
		r.redirect(t, route)
	default:
		route.proxy.Cut(t)
	}
}

// refuse makes a route refuse connections for the time d.
func (r *replicas) refuse(t *testing.T, route *route, d time.Duration) {
	t.Helper()
	route.mu.Lock()
	defer route.mu.Unlock()
	route.proxy.Break(t, stack.Refused)
	stack.Wait(t, d)
	route.proxy.Redirect(t, r.addr(route.to))
}

// redirect changes a route to the other replica. The caller must lock the mutex of the route.
func (r *replicas) redirect(t *testing.T, route *route) {
	t.Helper()
	route.to = 1 - route.to
	route.proxy.Redirect(t, r.addr(route.to))
}

func (r *replicas) isUp(i int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.up[i]
}

// crash ends a replica and redirects its readers to the other one. kill selects SIGKILL instead of SIGTERM. If one of the
// replicas does not run, crash does nothing and ok is false. restart starts the replica again.
func (r *replicas) crash(t *testing.T, i int, kill bool) (restart func(), ok bool) {
	t.Helper()
	r.mu.Lock()
	ok = r.up[0] && r.up[1]
	r.up[i] = r.up[i] && !ok
	r.mu.Unlock()
	if !ok {
		return nil, false
	}
	if kill {
		r.side[i].Kill()
	} else {
		r.side[i].Stop()
	}
	stack.Each(len(r.routes), 16, func(k int) {
		route := r.routes[k]
		route.mu.Lock()
		defer route.mu.Unlock()
		if route.to == i {
			r.redirect(t, route)
		}
	})
	return func() {
		r.side[i].Start(t)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.up[i] = true
	}, true
}

// leader returns the process that assigns numbers to events: its application name and the process id of its database session.
// session is 0 if there is no leader.
func (r *replicas) leader(t *testing.T) (name string, session int, err error) {
	t.Helper()
	const holder = `
SELECT a.application_name, a.pid FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
WHERE l.locktype = 'advisory' AND l.granted AND l.classid = 0 AND l.objid = 7201005
    AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database()) LIMIT 1`
	if err = r.s.DB(t).QueryRow(t.Context(), holder).Scan(&name, &session); errors.Is(err, pgx.ErrNoRows) {
		err = nil
	}
	return name, session, err
}
