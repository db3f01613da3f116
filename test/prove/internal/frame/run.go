package frame

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"time"
)

// Result is one row as prove.json keeps it.
type Result struct {
	ID       string         `json:"id"`
	Title    string         `json:"title"`
	Promised string         `json:"promised"`
	Seen     string         `json:"seen"`
	Volume   string         `json:"volume"`
	Seconds  float64        `json:"seconds"`
	OK       bool           `json:"ok"`
	Broken   bool           `json:"broken,omitempty"` // it could not be run to its end
	Unwell   bool           `json:"unwell,omitempty"` // the services were not ready again after the row
	Wrong    []string       `json:"wrong,omitempty"`
	Figures  map[string]any `json:"figures,omitempty"`
}

// Report is a whole run.
type Report struct {
	StartedAt time.Time `json:"startedAt"`
	Seconds   float64   `json:"seconds"`
	Seed      uint64    `json:"seed"`
	Full      bool      `json:"full"`
	CPUs      int       `json:"cpus"`
	Go        string    `json:"go"`
	Passed    int       `json:"passed"`
	Failed    int       `json:"failed"`
	Rows      []Result  `json:"rows"`
}

const usualLimit = 90 * time.Second

// One runs a row, and then waits until the system has come to rest again.
func One(ctx context.Context, env *Env, row Row) Result {
	limit := row.Limit
	if limit == 0 {
		limit = usualLimit
	}
	if env.Size == Full {
		limit *= 10
	}
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	began := time.Now()
	seen, err := row.Run(bounded, env)
	if seen == nil {
		seen = NewSeen()
	}
	if err != nil {
		seen.Wrong("the row could not be run: %v", err)
	}
	took := time.Since(began)
	unwell := false
	if env.Stack.Teeth() == "" {
		if err := env.Stack.Ready(ctx); err != nil {
			unwell = true
			seen.Wrong("the system is not well afterwards: %v\n%s", err, env.Stack.Said())
		}
	}
	return Result{
		ID: row.ID, Title: row.Title, Promised: seen.promised, Seen: seen.seen, Volume: seen.volume,
		Seconds: float64(took.Milliseconds()) / 1000, OK: seen.OK(), Broken: err != nil, Unwell: unwell, Wrong: seen.Mistakes(), Figures: seen.figures,
	}
}

// Print writes the line of a row, and below it what was wrong.
func (r Result) Print(w io.Writer) {
	verdict := "ok"
	if !r.OK {
		verdict = "FAILED"
	}
	_, _ = fmt.Fprintf(w, "%s %s | promised %s | seen %s | %s | %.1f s | %s\n",
		r.ID, r.Title, or(r.Promised), or(r.Seen), or(r.Volume), r.Seconds, verdict)
	for _, line := range r.Wrong {
		_, _ = fmt.Fprintf(w, "     %s\n", line)
	}
}

// Recall writes once more what was wrong, below all the rows that went well: the end of a
// log says what failed. Nothing, if nothing was wrong.
func (r *Report) Recall(w io.Writer) {
	if r.Failed == 0 {
		return
	}
	_, _ = fmt.Fprintf(w, "\n%d of %d promises FAILED:\n", r.Failed, len(r.Rows))
	for _, row := range r.Rows {
		if row.OK {
			continue
		}
		_, _ = fmt.Fprintf(w, "%s %s | promised %s | seen %s\n", row.ID, row.Title, or(row.Promised), or(row.Seen))
		for _, line := range row.Wrong {
			_, _ = fmt.Fprintf(w, "     %s\n", line)
		}
	}
}

func or(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// Begin is an empty report.
func Begin(env Size, seed uint64) *Report {
	return &Report{StartedAt: time.Now().UTC(), Seed: seed, Full: env == Full, CPUs: runtime.NumCPU(), Go: runtime.Version()}
}

// Add counts a row.
func (r *Report) Add(row Result) {
	r.Rows = append(r.Rows, row)
	if row.OK {
		r.Passed++
	} else {
		r.Failed++
	}
	r.Seconds = time.Since(r.StartedAt).Seconds()
}
