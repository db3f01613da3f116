package program

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

func manyMarkets(n int) *Pool {
	r := rand.New(rand.NewPCG(5, 6))
	lanes := Lanes()
	markets := make([]Market, n)
	for i := range markets {
		markets[i] = market(fmt.Sprint(500000+i), in(lanes[r.IntN(len(lanes))]), volume(r.ExpFloat64()*50000),
			ends(time.Duration(r.IntN(30*24))*time.Hour), func(m *Market) { m.Yes = 3150; m.Takes = int64(r.IntN(3)) })
	}
	return poolOf(markets...)
}

func BenchmarkBuild(b *testing.B) {
	for _, n := range []int{1000, 10_000, 100_000} {
		pool := manyMarkets(n)
		for _, p := range Presets {
			q := NewQuery(p, Spec{}, nil, DefaultLanes())
			b.Run(fmt.Sprintf("%s/%d", p, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					Compute(&q, q.Pick(pool, noon), pool, noon)
				}
			})
		}
	}
}

func BenchmarkPlan(b *testing.B) {
	pool := manyMarkets(10_000)
	q := NewQuery(Default, Spec{}, nil, DefaultLanes())
	for b.Loop() {
		Plan(&q, pool, nil, noon)
	}
}
