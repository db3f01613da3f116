package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/signalcast/signalcast/test/system/stack"
)

// bench is one run. It is the testing.TB of the harness: a failure of the harness ends the run, as every other error does.
type bench struct {
	testing.TB // nil; the methods below are those that the harness calls
	options
	ctx      context.Context
	dir      string  // of this run
	main     *system // of the sections that share one
	report   report
	cleanups []func()
}

// failure is the panic with which check and the methods of bench end a run.
type failure struct{ error }

// check ends the run unless err is nil.
func check(err error) {
	if err != nil {
		panic(failure{err})
	}
}

// must returns v, or ends the run.
func must[T any](v T, err error) T {
	check(err)
	return v
}

// caught returns the error with which check ended do.
func caught(do func()) (err error) {
	defer func() {
		if p := recover(); p != nil {
			f, ok := p.(failure)
			if !ok {
				panic(p)
			}
			err = f.error
		}
	}()
	do()
	return nil
}

// scope runs do, then the cleanups that it has registered.
func (b *bench) scope(do func()) {
	outer := b.cleanups
	b.cleanups = nil
	defer func() {
		inner := b.cleanups
		b.cleanups = outer
		for _, cleanup := range inner {
			defer cleanup() // the last one first, and all of them after a failure, too
		}
	}()
	do()
}

// Cleanup makes the current scope call a function at its end.
func (b *bench) Cleanup(do func()) { b.cleanups = append(b.cleanups, do) }

// Context ends with the signal that ends the run.
func (b *bench) Context() context.Context { return b.ctx }

// Helper does nothing.
func (b *bench) Helper() {}

// Failed returns false: no code runs after a failure but cleanups.
func (b *bench) Failed() bool { return false }

// Logf prints a line.
func (b *bench) Logf(format string, args ...any) { fmt.Printf(format+"\n", args...) }

// Errorf prints an error to standard error.
func (b *bench) Errorf(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "bench: "+format+"\n", args...)
}

// Fatalf ends the run.
func (b *bench) Fatalf(format string, args ...any) { panic(failure{fmt.Errorf(format, args...)}) }

// Fatal ends the run.
func (b *bench) Fatal(args ...any) { panic(failure{errors.New(fmt.Sprint(args...))}) }

// databaseSettings are settings of Postgres for product and limit. Commits are durable.
var databaseSettings = []string{
	"shared_buffers=2GB", "work_mem=64MB", "maintenance_work_mem=1GB", "max_wal_size=8GB", "checkpoint_timeout=15min",
	"random_page_cost=1.1", "jit=off", "max_parallel_workers_per_gather=0",
}

// untracked switches off the counting of statements, which has a cost.
const untracked = "pg_stat_statements.track=none"

// start runs a system until the end of the scope, with further settings of Postgres.
func (b *bench) start(database []string, opts ...stack.Option) *system {
	fmt.Println("starting a system")
	opts = append(opts, stack.Env("RATE_LIMIT_ANON", "0"))
	for _, set := range [][]string{databaseSettings, {untracked}, database} {
		for _, value := range set {
			opts = append(opts, stack.Postgres(value))
		}
	}
	s := &system{Stack: stack.Start(b, opts...), b: b}
	b.Cleanup(func() {
		if b.logs == "" {
			return
		}
		to := filepath.Join(b.logs, "bench-logs", filepath.Base(s.Dir()))
		_ = os.RemoveAll(to) // of the last run
		if err := os.CopyFS(to, os.DirFS(filepath.Join(s.Dir(), "logs"))); err != nil {
			b.Errorf("copy the logs: %v", err)
		}
	})
	return s
}
