package attention_test

import (
	"fmt"
	"testing"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/api/internal/attention"
)

// BenchmarkRefresh measures the computation of Refresh for 50,000 markets in memory. Each event has three markets, and one
// market in 25 moves.
func BenchmarkRefresh(b *testing.B) {
	s := &memoryStore{}
	for i := range 50_000 {
		s.facts = append(s.facts, fact(fmt.Sprint(500_000+i), float64(i), inEvent(fmt.Sprint(i/3)), func(f *attention.Fact) {
			f.Lane = protocol.Lanes[i%len(protocol.Lanes)]
			if i%25 == 0 {
				from(4700)(f)
			}
		}))
	}
	o := attention.NewService(s, testkit.NewClock(noon).Now)
	for b.Loop() {
		if err := o.Refresh(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
