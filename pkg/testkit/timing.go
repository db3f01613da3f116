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
	// Leak is how far from zero Welch's t may be; more is a difference in time.
	Leak = 4.5

	timingTries  = 3
	timingBatch  = 32                   // most comparisons in one sample,
	timingSample = 4 * time.Microsecond // which is at least that long: the timer's steps drown
	timingUsual  = 20_000
	timingWanted = "TIMING_SAMPLES"
)

// ConstantTime fails the test when do takes another time after set(0) than after
// set(1): the test of dudect. Set must leave both classes in the same memory, and do
// must come to the same result in both. Other work on the machine can make one try
// look like a leak; a real one is there each time, so three tries must agree. Under
// the race detector, whose own book-keeping takes most of the time, it judges nothing.
func ConstantTime(t testing.TB, name string, set func(class int), do func()) {
	t.Helper()
	samples := timingUsual
	if n, err := strconv.Atoi(os.Getenv(timingWanted)); err == nil && n > 0 {
		samples = n
	}
	if underRace {
		Timing(timingTries, set, do)
		return
	}
	var seen float64
	for range timingTries {
		seen = Timing(samples, set, do)
		t.Logf("timing %s t=%.2f samples=%d", name, seen, samples)
		if math.Abs(seen) < Leak {
			return
		}
	}
	t.Errorf("%s: the time depends on what is compared, t is %.1f", name, seen)
}

// Timing takes samples of do, of both classes in random order, and gives Welch's t
// of their times. Samples beyond the ninth decile are those in which the machine did
// something else, and left out.
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
		do() // what set has moved is in the cache again
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

// batchOf is how many comparisons make a sample.
func batchOf(do func()) int {
	const tries = 200
	began := time.Now()
	for range tries {
		do()
	}
	one := max(time.Since(began)/tries, time.Nanosecond)
	return int(min(timingSample/one+1, timingBatch))
}
