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

// bench is one run of the command. It implements testing.TB for package stack: a fatal failure in that package ends the run.
type bench struct {
	testing.TB // nil; bench defines the methods that package stack calls
	options
	ctx      context.Context
	dir      string  // directory of this run
	main     *system // system of the sections that share one
	report   report
	cleanups []func()
}

// failure is the panic value of the functions check, Fatal and Fatalf, which end a run.
type failure struct{ error }

// check ends the run if err is not nil.
func check(err error) {
	if err != nil {
		panic(failure{err})
	}
}

// must returns v. It ends the run if err is not nil.
func must[T any](v T, err error) T {
	check(err)
	return v
}

// recoverError calls the function do. If do ends through check, Fatal or Fatalf, recoverError returns the error. Otherwise it
// returns nil. It does not recover from other panics.
func recoverError(do func()) (err error) {
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

// scope calls the function do, and then, in reverse order, the cleanup functions that do has registered. The cleanup
// functions run even if do fails.
func (b *bench) scope(do func()) {
	outer := b.cleanups
	b.cleanups = nil
	defer func() {
		inner := b.cleanups
		b.cleanups = outer
		for _, cleanup := range inner {
			defer cleanup() // the last cleanup runs first, and all of them run even after a failure
		}
	}()
	do()
}

// Cleanup registers a function that runs at the end of the current scope, even after a failure.
func (b *bench) Cleanup(do func()) { b.cleanups = append(b.cleanups, do) }

// Context returns the context of the run. It is cancelled when the process receives a signal to stop.
func (b *bench) Context() context.Context { return b.ctx }

// Helper does nothing. testing.TB requires the method.
func (b *bench) Helper() {}

// Failed always returns false, even after a failure.
func (b *bench) Failed() bool { return false }

// Logf prints a line to standard output.
func (b *bench) Logf(format string, args ...any) { fmt.Printf(format+"\n", args...) }

// Errorf prints an error to standard error and continues.
func (b *bench) Errorf(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "bench: "+format+"\n", args...)
}

// Fatalf ends the run with an error.
func (b *bench) Fatalf(format string, args ...any) { panic(failure{fmt.Errorf(format, args...)}) }

// Fatal ends the run with an error.
func (b *bench) Fatal(args ...any) { panic(failure{errors.New(fmt.Sprint(args...))}) }

// databaseSettings are the Postgres settings of every system that the command starts.
var databaseSettings = []string{
	"shared_buffers=2GB", "work_mem=64MB", "maintenance_work_mem=1GB", "max_wal_size=8GB", "checkpoint_timeout=15min",
	"random_page_cost=1.1", "jit=off", "max_parallel_workers_per_gather=0",
}

// untracked is the Postgres setting that disables statement statistics, because collecting them takes time.
const untracked = "pg_stat_statements.track=none"

// start starts a system that runs until the end of the current scope. Its Postgres settings are databaseSettings, untracked
// and the settings in database. If the option logs is set, start copies the logs of the system at the end.
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
		_ = os.RemoveAll(to) // logs of the previous run
		if err := os.CopyFS(to, os.DirFS(filepath.Join(s.Dir(), "logs"))); err != nil {
			b.Errorf("copy the logs: %v", err)
		}
	})
	return s
}
