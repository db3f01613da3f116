package rows

import (
	"context"
	"fmt"
	"time"

	"github.com/signalcast/signalcast/test/prove/internal/frame"
	"github.com/signalcast/signalcast/test/prove/stack"
)

// illness is one way in which the venues of C6 fail: by their connections, or by
// what they say.
type illness struct {
	how  stack.Fault
	says spoil
}

// readable tells whether an answer of such a venue can still be read as one.
func (i illness) readable() bool {
	return i.says == types || i.says == notNumber || i.says == negative || i.says == huge
}

func (i illness) String() string { return string(i.how) + string(i.says) }

// illnesses are those that are tried, the one that bites first before all.
func illnesses(env *frame.Env) []illness {
	all := []illness{{says: endless}}
	if env.Size == frame.Small {
		return all
	}
	for _, how := range stack.Faults {
		all = append(all, illness{how: how})
	}
	for _, says := range []spoil{truncated, html, types, notNumber, bareNaN, redirect, negative, huge} {
		all = append(all, illness{says: says})
	}
	return all
}

// c6 reads markets that are held, and some that are not, while all four venues
// are ill. What only a venue knows, a market that nobody has read or its history,
// has to wait for it: that is C1.
var c6 = frame.Row{
	ID: "C6", Title: "a venue that is down, slow or garbage does not reach the user", Limit: 2 * time.Minute,
	Fault: frame.Fault{What: "a venue's answer is read to its end, however long"},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		list := illnesses(env)
		s, err := newSickbay(ctx, env, seen, list)
		if err != nil {
			return nil, err
		}
		defer s.close()
		s.round(ctx, 0, &s.before)
		for i, ill := range list {
			if err := s.suffer(ctx, i, ill); err != nil {
				return nil, err
			}
		}
		bad, err := s.badRows(ctx)
		if err != nil {
			return nil, err
		}
		const most, mostBody, inFlight = 300 * time.Millisecond, 16 << 20, 8 << 20
		p99 := s.during.At(.99)
		seen.Figure("p99", p99)
		seen.Figure("p99Before", s.before.At(.99))
		seen.Figure("worst", s.during.At(1))
		seen.Figure("unseenWorst", s.unseen.At(1))
		seen.Figure("pricesTakenAway", s.lost.Load())
		seen.Figure("bodyBytes", s.front.taken.Load())
		seen.Check(p99 <= most+generous*s.before.At(.99), "p99 is %v, and %v while the venues are well", p99, s.before.At(.99))
		seen.Check(bad == 0, "%d bad rows are stored", bad)
		// What was sent and not read yet lies in the buffers of the machine.
		taken := s.front.taken.Load()
		seen.Check(taken > 0 && taken <= mostBody+inFlight, "%d MB of one body were taken", taken>>20)
		seen.Check(s.canary.hits.Load() == 0, "%d redirects were followed", s.canary.hits.Load())
		seen.Promise("p99 ≤ 300 ms, bad rows 0, one body ≤ 16 MB", fmt.Sprintf("p99 %d ms (%d before), %d, %d MB taken",
			p99.Milliseconds(), s.before.At(.99).Milliseconds(), bad, taken>>20))
		seen.Volume("%s reads, %d illnesses of %d venues", frame.Number(s.during.Len()), len(list), len(providers))
		return seen, nil
	},
}
