package httpapi

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/clock/internal/program"
)

// BenchmarkTimeline measures the computation and the encoding of a programme with at most 400 segments.
func BenchmarkTimeline(b *testing.B) {
	for _, n := range []int{1000, 10_000, 100_000} {
		r := rand.New(rand.NewPCG(5, 6))
		lanes := program.Lanes()
		list := make([]program.Market, n)
		for i := range list {
			list[i] = program.Market{
				ID: protocol.MarketID(fmt.Sprint(500000 + i)), Provider: protocol.Polymarket, Title: fmt.Sprintf("Will event number %d happen before the end of the month?", i),
				Lane: lanes[r.IntN(len(lanes))], Yes: protocol.Bps(r.IntN(10001)), Volume: r.ExpFloat64() * 50000, DayVolume: r.ExpFloat64() * 5000,
				End: noon.Add(time.Duration(r.IntN(30*86400)) * time.Second).UnixMilli(), Status: protocol.MarketOpen,
			}
		}
		pool := program.NewPool(list, noon, 1)
		for _, preset := range []program.Preset{program.Default, program.Hot} {
			q := program.NewQuery(preset, program.Spec{}, nil, program.Lanes())
			b.Run(fmt.Sprintf("%s/%d", preset, n), func(b *testing.B) {
				size := 0
				for b.Loop() {
					body, err := EncodeProgram(program.Compute(&q, q.Pick(pool, noon), pool, noon).Cut(program.MaxLimit))
					if err != nil {
						b.Fatal(err)
					}
					size = len(body)
				}
				b.ReportMetric(float64(size), "bytes")
			})
		}
	}
}
