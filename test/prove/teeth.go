package main

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"time"

	"github.com/signalcast/signalcast/test/prove/internal/frame"
	"github.com/signalcast/signalcast/test/prove/stack"
)

// bite is one fault as teeth.json keeps it.
type bite struct {
	ID      string   `json:"id"`
	Fault   string   `json:"fault"`
	Caught  bool     `json:"caught"`
	Seconds float64  `json:"seconds"`
	Told    []string `json:"told"`
}

// teeth plants the fault of each row in a system of its own and wants the row to
// turn red.
func (r *run) teeth(ctx context.Context) (bool, error) {
	cleanup, err := r.prepare(ctx, "-tags=teeth")
	if err != nil {
		return false, err
	}
	defer cleanup()
	var all []bite
	caught := 0
	for _, row := range r.rows {
		b, err := r.plant(ctx, row)
		if err != nil {
			return false, fmt.Errorf("%s: %w", row.ID, err)
		}
		verdict := "NOT CAUGHT"
		if b.Caught {
			verdict = "caught"
			caught++
		}
		fmt.Printf("%s %s | %s | %.1f s\n", b.ID, verdict, b.Fault, b.Seconds)
		for _, line := range b.Told[:min(len(b.Told), 2)] {
			first, _, _ := strings.Cut(line, "\n")
			fmt.Printf("     %s\n", first)
		}
		all = append(all, b)
	}
	fmt.Printf("%d of %d faults caught\n", caught, len(all))
	return caught == len(all), write(filepath.Join(r.root, "teeth.json"), all)
}

// plant runs one row with its fault.
func (r *run) plant(ctx context.Context, row frame.Row) (bite, error) {
	began := time.Now()
	b := bite{ID: row.ID, Fault: row.Fault.What}
	set := map[string]string{"TEETH": row.ID}
	maps.Copy(set, row.Fault.Env)
	env, stop, err := r.start(ctx, frame.Small, stack.Options{Env: set, Settings: row.Fault.Settings})
	if err != nil {
		return b, err
	}
	defer stop()
	if row.Fault.SQL != "" {
		if _, err := env.DB.Exec(ctx, row.Fault.SQL); err != nil {
			return b, fmt.Errorf("plant the fault: %w", err)
		}
	}
	if row.Fault.Plant != nil {
		if err := row.Fault.Plant(ctx, env); err != nil {
			return b, fmt.Errorf("plant the fault: %w", err)
		}
	}
	result := frame.One(ctx, env, row)
	b.Caught, b.Told = !result.OK && !result.Broken, result.Wrong
	b.Seconds = float64(time.Since(began).Milliseconds()) / 1000
	return b, nil
}
