package skill

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

func BenchmarkReport(b *testing.B) {
	for _, n := range []int{20, 200, 2000, 20_000, 200_000, MaxCalls} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(9, 9))
			s := play(b, rng, choose(rng, n, styles["everything"]), right)
			for b.Loop() {
				if _, ok := s.Report(); !ok {
					b.Fatal("empty")
				}
			}
		})
	}
}
