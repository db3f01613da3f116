package oracle_test

import (
	"fmt"
	"testing"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/api/internal/oracle"
)

// BenchmarkRefresh works everything out of 50,000 markets that are read already,
// three to an event, one in twenty-five of which moves.
func BenchmarkRefresh(b *testing.B) {
	s := &shelf{}
	for i := range 50_000 {
		s.facts = append(s.facts, fact(fmt.Sprint(500_000+i), float64(i), inEvent(fmt.Sprint(i/3)), func(f *oracle.Fact) {
			f.Lane = syntax.Lanes[i%len(syntax.Lanes)]
			if i%25 == 0 {
				from(4700)(f)
			}
		}))
	}
	o := oracle.NewService(s, testkit.NewClock(noon).Now)
	for b.Loop() {
		if err := o.Refresh(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
