package frame

import (
	"context"
	"encoding/binary"
	"hash/fnv"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/stack"
)

// Size is how much a run tries.
type Size int

// The sizes.
const (
	Small Size = iota // enough to turn red under a planted fault
	Usual             // the size of every change
	Full              // the size of the table, by hand
)

// Env is what a row works on.
type Env struct {
	Stack  *stack.Stack
	Client *client.Client
	DB     *pgxpool.Pool // as the administrator, to look at the record
	Root   string        // of the repository
	Seed   uint64
	Size   Size
	Hubs   []string // addresses of all hubs; a fault may replace them
	Doubt  *Doubts

	shared map[string]any
}

// Shared gives what several rows look at, each for its own promise: the first
// that asks makes it. Rows run one after the other.
func (e *Env) Shared(name string, made func() (any, error)) (any, error) {
	if v, ok := e.shared[name]; ok {
		return v, nil
	}
	v, err := made()
	if err != nil {
		return nil, err
	}
	if e.shared == nil {
		e.shared = map[string]any{}
	}
	e.shared[name] = v
	return v, nil
}

// Replace puts something in the place of what Shared would make, for a fault.
func (e *Env) Replace(name string, v any) {
	if e.shared == nil {
		e.shared = map[string]any{}
	}
	e.shared[name] = v
}

// Of picks a number by the size of the run.
func (e *Env) Of(small, usual, full int) int {
	return [...]int{small, usual, full}[e.Size]
}

// Rand is a source that depends on the seed and on what it is for.
func (e *Env) Rand(purpose string) *rand.Rand {
	h := fnv.New64a()
	_, _ = h.Write(binary.BigEndian.AppendUint64([]byte(purpose), e.Seed))
	return rand.New(rand.NewPCG(e.Seed, h.Sum64()))
}

// Hub is the i-th hub, counted round.
func (e *Env) Hub(i int) string { return e.Hubs[i%len(e.Hubs)] }

// Admin is the administrators' secret.
func (e *Env) Admin() client.Admin { return client.Admin(e.Stack.AdminSecret) }

// Count reads one number from the database.
func (e *Env) Count(ctx context.Context, sql string, args ...any) (n int, err error) {
	err = e.DB.QueryRow(ctx, sql, args...).Scan(&n)
	return n, err
}

// Text reads one text from the database.
func (e *Env) Text(ctx context.Context, sql string, args ...any) (s string, err error) {
	err = e.DB.QueryRow(ctx, sql, args...).Scan(&s)
	return s, err
}

// Until asks again until done, at most for the time given.
func Until(ctx context.Context, within time.Duration, done func() (bool, error)) (bool, error) {
	end := time.Now().Add(within)
	for {
		ok, err := done()
		if ok || err != nil || time.Now().After(end) {
			return ok, err
		}
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Each runs n jobs, at most width at a time, and waits for all.
func Each(n, width int, do func(i int)) {
	var wg sync.WaitGroup
	next := make(chan int)
	for range min(n, width) {
		wg.Go(func() {
			for i := range next {
				do(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
}

// AtOnce runs n jobs that all begin at the same moment.
func AtOnce(n int, do func(i int)) {
	var ready, wg sync.WaitGroup
	gate := make(chan struct{})
	ready.Add(n)
	for i := range n {
		wg.Go(func() {
			ready.Done()
			<-gate
			do(i)
		})
	}
	ready.Wait()
	close(gate)
	wg.Wait()
}
