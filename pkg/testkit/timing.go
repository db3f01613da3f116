package testkit

import (
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"
)

const (
	// Leak is the absolute value of Welch's t from which two classes of durations count as different.
	Leak = 4.5

	timingAttempts  = 3
	timingBatch     = 32                   // maximum number of calls in one sample
	timingSample    = 4 * time.Microsecond // minimum duration of a sample, so that the resolution of the timer does not matter
	defaultSamples  = 20_000
	samplesVariable = "TIMING_SAMPLES"
)

// ConstantTime fails the test if the duration of the function do after set(0) differs from that after set(1). It uses the method
// of dudect. set must store both inputs at the same memory address, and do must have the same result for both. Other load on the
// machine can look like a difference, so the test fails only if three measurements show one. Under the race detector, whose
// overhead hides the difference, ConstantTime never fails.
func ConstantTime(t testing.TB, name string, set func(class int), do func()) {
	t.Helper()
	samples := defaultSamples
	if n, err := strconv.Atoi(os.Getenv(samplesVariable)); err == nil && n > 0 {
		samples = n
	}
	if underRace {
		Timing(timingAttempts, set, do)
		return
	}
	var seen float64
	for range timingAttempts {
		seen = Timing(samples, set, do)
		t.Logf("timing %s t=%.2f samples=%d", name, seen, samples)
		if math.Abs(seen) < Leak {
			return
		}
	}
	t.Errorf("%s: the duration depends on the input, t is %.1f", name, seen)
}

// Timing measures the duration of do after set(0) and after set(1), in random order. It returns Welch's t of the two groups of
// durations. It ignores the longest tenth of the samples, in which the machine may have been interrupted.
func Timing(samples int, set func(class int), do func()) float64 {
	type sample struct {
		class int
		took  float64
	}
	all := make([]sample, samples)
	times := make([]float64, samples)
	set(0)
	batch := batchOf(do)
	for i := range all {
		class := rand.IntN(2)
		set(class)
		do() // load the data that set changed into the CPU cache
		began := time.Now()
		for range batch {
			do()
		}
		all[i] = sample{class, float64(time.Since(began).Nanoseconds())}
		times[i] = all[i].took
	}
	slices.Sort(times)
	most := times[samples*9/10]
	var n, mean, m2 [2]float64
	for _, s := range all {
		if s.took > most {
			continue
		}
		n[s.class]++
		d := s.took - mean[s.class]
		mean[s.class] += d / n[s.class]
		m2[s.class] += d * (s.took - mean[s.class])
	}
	spread := m2[0]/(n[0]-1)/n[0] + m2[1]/(n[1]-1)/n[1]
	if spread == 0 {
		return 0
	}
	return (mean[0] - mean[1]) / math.Sqrt(spread)
}

// batchOf returns how often a sample calls the function do, so that the sample takes about timingSample. It is at most
// timingBatch.
func batchOf(do func()) int {
	const tries = 200
	began := time.Now()
	for range tries {
		do()
	}
	one := max(time.Since(began)/tries, time.Nanosecond)
	return int(min(timingSample/one+1, timingBatch))
}
