package rows

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/signalcast/signalcast/test/prove/internal/frame"
	"github.com/signalcast/signalcast/test/system/feedclient"
)

// victims are what is killed at random, with how many of sixty.
var victims = []struct {
	name string
	of60 int
}{
	{"client", 14}, {"proxy", 12}, {"replica", 10}, {"relay", 6}, {"api", 4}, {"redis", 8}, {"postgres", 6},
}

// takeoverMost is how long numbers may stand still when their giver is killed: the others
// try for the lease each second.
const takeoverMost = generous * 2 * time.Second

// kills kills one thing after the other, without waiting for what was killed before.
type kills struct {
	*resume
	rand *rand.Rand
	last map[string]int // process that was killed last, by its name
	back sync.WaitGroup // those that are started again
	errs chan error

	takeover frame.Times // from the end of one relay to the next
}

// kill kills n times. Which, and in which order, follows from the seed.
func (e *resume) kill(ctx context.Context, n int) error {
	k := &kills{resume: e, rand: e.env.Rand("kills"), last: map[string]int{}, errs: make(chan error, n)}
	var order []string
	for _, v := range victims {
		order = append(order, slices.Repeat([]string{v.name}, v.of60*n/60)...)
		e.seen.Figure("killed_"+v.name, v.of60*n/60)
	}
	k.rand.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	err := func() error {
		for _, name := range order {
			if err := wait(ctx, time.Now().Add(time.Duration(50+k.rand.IntN(800))*time.Millisecond)); err != nil {
				return err
			}
			if err := k.insist(ctx, name); err != nil {
				return fmt.Errorf("kill %s: %w", name, err)
			}
			e.killed++
		}
		return nil
	}()
	k.back.Wait()
	close(k.errs)
	for again := range k.errs {
		err = errors.Join(err, again)
	}
	e.seen.Check(k.takeover.At(1) <= takeoverMost, "nobody gave numbers for %v after a relay was killed", k.takeover.At(1))
	e.seen.Figure("slowestTakeover", k.takeover.At(1))
	e.seen.Figure("takeovers", k.takeover.Len())
	return err
}

// insist kills what may be down at the moment, as soon as it is up.
func (k *kills) insist(ctx context.Context, name string) error {
	var err error
	_, late := frame.Until(ctx, time.Minute, func() (bool, error) {
		err = k.one(ctx, name)
		return !errors.Is(err, errDown), nil
	})
	return errors.Join(err, late)
}

func (k *kills) one(ctx context.Context, name string) error {
	switch name {
	case "client":
		list := k.readers
		if k.rand.IntN(2) == 0 {
			list = slices.DeleteFunc(slices.Clone(list), func(r *feedclient.Reader) bool { return r.Kind != feedclient.Process })
		}
		list[k.rand.IntN(len(list))].Kill()
		return nil
	case "proxy":
		l := k.lines[k.rand.IntN(len(k.lines))]
		lasting := time.Duration(k.rand.IntN(500)) * time.Millisecond
		k.later(ctx, 0, func(ctx context.Context) error { return k.replicas.refuse(ctx, l, lasting) })
		return nil
	case "replica":
		return k.replica(ctx, k.rand.IntN(2))
	case "relay":
		return k.relay(ctx)
	}
	return k.process(name)
}

// later does something beside what goes on.
func (k *kills) later(ctx context.Context, after time.Duration, do func(context.Context) error) {
	k.back.Go(func() {
		if err := wait(ctx, time.Now().Add(after)); err == nil {
			err = do(ctx)
			if err != nil {
				k.errs <- err
			}
		}
	})
}

// process kills what the launcher starts again.
func (k *kills) process(name string) error {
	pid := k.env.Stack.PID(name)
	if pid == 0 || pid == k.last[name] {
		return errDown
	}
	k.last[name] = pid
	return k.env.Stack.Kill(name)
}

func (k *kills) replica(ctx context.Context, i int) error {
	again, err := k.replicas.crash(ctx, i, true)
	if again != nil {
		k.later(ctx, time.Duration(100+k.rand.IntN(1500))*time.Millisecond, again)
	}
	return err
}

// relay kills the process that gives the numbers, and sees how soon another does.
func (k *kills) relay(ctx context.Context) error {
	name, session, err := k.replicas.leader(ctx)
	if err != nil || session == 0 {
		return errDown // the database may be down; or nobody leads yet
	}
	if number, is := strings.CutPrefix(name, "replica-"); is {
		i, err := strconv.Atoi(number)
		if err == nil {
			err = k.replica(ctx, i)
		}
		if err != nil {
			return err
		}
	} else if err := k.process("api"); err != nil {
		return err
	}
	began := time.Now()
	well := true
	_, err = frame.Until(ctx, time.Minute, func() (bool, error) {
		_, next, err := k.replicas.leader(ctx)
		well = well && err == nil // else the database was away meanwhile, and the time says nothing
		return next != 0 && next != session, nil
	})
	if well {
		k.takeover.Add(time.Since(began))
	}
	return err
}
