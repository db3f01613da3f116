package main

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
)

// better says which way a figure should go.
type better int

const (
	lower better = iota
	higher
)

// result is one comparison of the product with its limit.
type result struct {
	Job    string    `json:"job"`
	Unit   string    `json:"unit"`
	Ours   float64   `json:"ours"`  // median
	Limit  float64   `json:"limit"` // median
	Ratio  float64   `json:"ratio"` // of the medians
	Best   float64   `json:"bestRounds"`
	Target string    `json:"target,omitempty"`
	OK     *bool     `json:"ok,omitempty"` // of the best rounds; absent without a target
	Rounds []float64 `json:"rounds"`
	Limits []float64 `json:"limitRounds"`
}

// report collects what a run found.
type report struct {
	Started time.Time `json:"started"`
	CPUs    int       `json:"cpus"`
	Go      string    `json:"go"`
	Length  string    `json:"length"`
	Noise   float64   `json:"otherWork"` // share of the machine that others used
	Results []result  `json:"results"`
	Notes   []string  `json:"notes,omitempty"`

	noise float64
}

func newReport(o options) report {
	return report{Started: time.Now().UTC(), CPUs: runtime.NumCPU(), Go: runtime.Version(), Length: o.length.String()}
}

// ratio adds a comparison; a target of 0 only informs. The target is judged on
// the best rounds: noise makes both sides slower, and never by as much.
func (r *report) ratio(job, unit string, way better, target float64, ours, limit []float64) {
	best, sign := slices.Min[[]float64], "<="
	if way == higher {
		best, sign = slices.Max[[]float64], ">="
	}
	if best(limit) == 0 { // CPU is counted in hundredths of a second
		r.note("%s: less than can be measured", job)
		return
	}
	res := result{
		Job: job, Unit: unit, Ours: median(ours), Limit: median(limit),
		Ratio: median(ours) / median(limit), Best: best(ours) / best(limit), Rounds: ours, Limits: limit,
	}
	line := fmt.Sprintf("RATIO %s: %.3f (%s / %s %s), best rounds %.3f", job, res.Ratio, figure(res.Ours), figure(res.Limit), unit, res.Best)
	if target > 0 {
		ok := res.Best <= target
		if way == higher {
			ok = res.Best >= target
		}
		res.OK, res.Target = &ok, fmt.Sprintf("%s %.2f", sign, target)
		line += fmt.Sprintf(", target %s: %s", res.Target, verdict(ok))
	}
	r.Results = append(r.Results, res)
	fmt.Println(line)
}

func verdict(ok bool) string {
	if ok {
		return "ok"
	}
	return "short"
}

func (r *report) note(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	r.Notes = append(r.Notes, text)
	fmt.Println(text)
}

// summary repeats what has a target.
func (r *report) summary() {
	short := 0
	var b strings.Builder
	for _, res := range r.Results {
		if res.OK == nil {
			continue
		}
		if !*res.OK {
			short++
		}
		fmt.Fprintf(&b, "  %-46s median %.3f  best %.3f  target %s  %s\n", res.Job, res.Ratio, res.Best, res.Target, verdict(*res.OK))
	}
	fmt.Printf("\n%s%d short\n", b.String(), short)
}

func (r *report) save(path string) error {
	r.Noise = r.noise
	raw, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(raw, '\n'), 0o644)
}

func median(list []float64) float64 {
	if len(list) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(list))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// figure prints three digits or more.
func figure(v float64) string {
	switch {
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 1:
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprintf("%.3f", v)
}

// quantile of latencies; the list is sorted by it.
func quantile(list []time.Duration, q float64) time.Duration {
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	return list[min(len(list)-1, int(q*float64(len(list))))]
}

func micros(d time.Duration, n float64) float64 {
	if n <= 0 {
		return 0
	}
	return float64(d.Nanoseconds()) / 1000 / n
}
