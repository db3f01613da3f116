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

// better is the direction in which a value improves. Its values are lower and higher.
type better int

const (
	lower better = iota
	higher
)

// result is one comparison: of the product with a limit, or of this source tree with an older one.
type result struct {
	Job    string    `json:"job"`
	Unit   string    `json:"unit"`
	Ours   float64   `json:"ours"`  // median
	Limit  float64   `json:"limit"` // median
	Ratio  float64   `json:"ratio"` // ratio of the medians
	Best   float64   `json:"bestRounds"`
	Target string    `json:"target,omitempty"`
	OK     *bool     `json:"ok,omitempty"` // whether the best rounds reach the target; absent without a target
	Rounds []float64 `json:"rounds"`
	Limits []float64 `json:"limitRounds"`
	IQR    float64   `json:"iqr,omitempty"`      // interquartile range of the rounds; only with -against
	OldIQR float64   `json:"limitIQR,omitempty"` // interquartile range of the older tree
}

// report contains the results of a run. The command writes it as JSON to the file that the flag -out names.
type report struct {
	Started time.Time `json:"started"`
	CPUs    int       `json:"cpus"`
	Go      string    `json:"go"`
	Length  string    `json:"length"`
	Noise   float64   `json:"otherWork"` // largest share of the CPU that other work used
	Results []result  `json:"results"`
	Notes   []string  `json:"notes,omitempty"`
}

func newReport(o options) report {
	return report{Started: time.Now().UTC(), CPUs: runtime.NumCPU(), Go: runtime.Version(), Length: o.length.String()}
}

// ratio adds a comparison of the product with a limit to the report and prints it. With a target of 0, the comparison has no
// verdict. The target applies to the best rounds, because other work on the machine slows down both sides by different amounts.
// If the best limit is 0, ratio adds a note instead.
func (r *report) ratio(job, unit string, way better, target float64, ours, limit []float64) {
	best, sign := slices.Min[[]float64], "<="
	if way == higher {
		best, sign = slices.Max[[]float64], ">="
	}
	if best(limit) == 0 { // CPU time is measured in units of 10 ms
		r.note("%s: the limit is too small to measure", job)
		return
	}
	res := result{
		Job: job, Unit: unit, Ours: quartile(ours, 2), Limit: quartile(limit, 2),
		Ratio: quartile(ours, 2) / quartile(limit, 2), Best: best(ours) / best(limit), Rounds: ours, Limits: limit,
	}
	line := fmt.Sprintf("RATIO %s: %.3f (%s / %s %s), best rounds %.3f",
		job, res.Ratio, figure(res.Ours), figure(res.Limit), unit, res.Best)
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

// against adds a comparison of this source tree with an older one to the report and prints it. The result is OK if the median of
// this tree is not worse by more than the allowed difference. This is tolerance times the old median, or the larger interquartile
// range of the two trees if that is greater.
func (r *report) against(job, unit string, way better, tolerance float64, now, old []float64) {
	res := result{
		Job: job, Unit: unit, Ours: quartile(now, 2), Limit: quartile(old, 2), Rounds: now, Limits: old,
		IQR: quartile(now, 3) - quartile(now, 1), OldIQR: quartile(old, 3) - quartile(old, 1),
	}
	worse := res.Ours - res.Limit
	res.Best = slices.Min(now) / max(slices.Min(old), 1e-9)
	if way == higher {
		worse = -worse
		res.Best = slices.Max(now) / max(slices.Max(old), 1e-9)
	}
	if res.Limit != 0 {
		res.Ratio = res.Ours / res.Limit
	}
	ok := worse <= max(tolerance*res.Limit, res.IQR, res.OldIQR)
	res.OK, res.Target = &ok, fmt.Sprintf("%.0f %%", 100*tolerance)
	r.Results = append(r.Results, res)
	fmt.Printf("AGAINST %s: %.3f (%s now, interquartile range %s; %s before, %s %s), %s\n  now    %s\n  before %s\n", job, res.Ratio,
		figure(res.Ours), figure(res.IQR), figure(res.Limit), figure(res.OldIQR), unit, verdict(ok), figures(now), figures(old))
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

// summary prints all results that have a target, and the number of missed targets.
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

func (r *report) save(path string) {
	raw := must(json.MarshalIndent(r, "", "  "))
	check(os.WriteFile(path, append(raw, '\n'), 0o644))
}

// quartile returns the quartile q (1, 2 or 3) of a list, or 0 for an empty list. Quartile 2 is the median.
func quartile(list []float64, q int) float64 {
	if len(list) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(list))
	low, part := q*(len(s)-1)/4, float64(q*(len(s)-1)%4)/4
	return s[low] + part*(s[min(low+1, len(s)-1)]-s[low])
}

func figures(list []float64) string {
	var out []string
	for _, v := range list {
		out = append(out, figure(v))
	}
	return strings.Join(out, "  ")
}

// each calls a function for every element of a list and returns the results in the same order.
func each[T any](list []T, of func(T) float64) []float64 {
	out := make([]float64, len(list))
	for i, v := range list {
		out[i] = of(v)
	}
	return out
}

// figure formats a number with no decimals if it is at least 100, with two decimals if it is at least 1, and otherwise with
// three.
func figure(v float64) string {
	switch {
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 1:
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprintf("%.3f", v)
}

// quantile returns the latency at quantile q, from 0 to 1, or 0 for an empty list. It sorts the list.
func quantile(list []time.Duration, q float64) time.Duration {
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	return list[min(len(list)-1, int(q*float64(len(list))))]
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// micros returns d in microseconds, divided by n. It returns 0 if n is not positive.
func micros(d time.Duration, n float64) float64 {
	if n <= 0 {
		return 0
	}
	return float64(d.Nanoseconds()) / 1000 / n
}
