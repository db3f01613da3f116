package attention_test

import (
	"fmt"
	"testing"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/api/internal/attention"
)

// BenchmarkRefresh measures the computation for 50,000 markets that are read already. There are three markets to an
// event, and one market in twenty-five moves.
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
