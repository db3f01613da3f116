package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
	"github.com/signalcast/signalcast/test/prove/stack"
)

// run is one run of the program.
type run struct {
	rows     []frame.Row
	seed     uint64
	full     bool
	dir, bin string

	root string
}

// prepare finds the repository, a directory on disk, and builds the programs.
func (r *run) prepare(ctx context.Context, flags ...string) (cleanup func(), err error) {
	if r.root, err = stack.Root(ctx); err != nil {
		return nil, err
	}
	cleanup = func() {}
	if r.dir == "" {
		// Not the usual place for temporary files, which may be in memory.
		if r.dir, err = os.MkdirTemp("/var/tmp", "signalcast-prove-"); err != nil {
			return nil, err
		}
		cleanup = func() { _ = os.RemoveAll(r.dir) }
	}
	// The database may run as another user, who has to pass through.
	if err = os.MkdirAll(r.dir, 0o711); err == nil {
		err = os.Chmod(r.dir, 0o711)
	}
	if err != nil {
		return cleanup, err
	}
	if r.bin == "" {
		r.bin = filepath.Join(r.dir, "bin")
		return cleanup, stack.Build(ctx, r.root, r.bin, flags...)
	}
	return cleanup, nil
}

// start runs a system with what a row needs to work on it.
func (r *run) start(ctx context.Context, size frame.Size, opts stack.Options) (env *frame.Env, stop func(), err error) {
	opts.Bin, opts.Dir = r.bin, filepath.Join(r.dir, "stack")
	s, err := stack.Start(ctx, opts)
	if err != nil {
		return nil, nil, err
	}
	if s.PID("redis") == 0 {
		s.Stop()
		return nil, nil, fmt.Errorf("no real Redis runs: install redis-server")
	}
	db, err := pgxpool.New(ctx, s.DatabaseURL)
	if err != nil {
		s.Stop()
		return nil, nil, err
	}
	env = &frame.Env{
		Stack: s, Client: client.New(), DB: db, Root: r.root, Seed: r.seed, Size: size, Hubs: s.AllHubs(), Doubt: &frame.Doubts{},
	}
	return env, func() {
		env.Client.Close()
		db.Close()
		s.Stop()
	}, nil
}

// prove runs the rows one after the other on one system.
func (r *run) prove(ctx context.Context) (bool, error) {
	cleanup, err := r.prepare(ctx)
	if err != nil {
		return false, err
	}
	defer cleanup()
	size := frame.Usual
	if r.full {
		size = frame.Full
	}
	env, stop, err := r.start(ctx, size, stack.Options{})
	if err != nil {
		return false, err
	}
	defer stop()
	report := frame.Begin(size, r.seed)
	for _, together := range abreast(r.rows) {
		results := make([]frame.Result, len(together))
		frame.AtOnce(len(together), func(i int) { results[i] = frame.One(ctx, env, together[i]) })
		for _, result := range results {
			result.Print(os.Stdout)
			report.Add(result)
		}
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		if slices.ContainsFunc(results, func(r frame.Result) bool { return r.Unwell }) {
			fmt.Println("the other rows are not run: they would fail for the same reason")
			break
		}
	}
	report.Recall(os.Stdout)
	fmt.Printf("%d of %d promises kept, %.0f s, seed %d\n", report.Passed, len(report.Rows), report.Seconds, r.seed)
	return report.Failed == 0, write(filepath.Join(r.root, "prove.json"), report)
}

// abreast puts rows that run beside others with them; all others run one by one.
func abreast(rows []frame.Row) (out [][]frame.Row) {
	beside := func(row, other frame.Row) bool { return row.Beside == other.ID }
	for _, row := range rows {
		if slices.ContainsFunc(rows, func(other frame.Row) bool { return beside(row, other) }) {
			continue
		}
		together := []frame.Row{row}
		for _, other := range rows {
			if beside(other, row) {
				together = append(together, other)
			}
		}
		out = append(out, together)
	}
	return out
}

func write(path string, v any) error {
	raw, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(raw, '\n'), 0o644)
}
