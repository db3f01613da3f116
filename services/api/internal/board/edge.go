package board

import "github.com/signalcast/signalcast/pkg/skill"

// ByEdge is the order of a board by the lower end of the edge.
const ByEdge = "edge"

// Edge is how much better than the prices an operator has called: the mean of won
// less price, and between what the true one lies (docs/method.md).
type Edge struct {
	Calls                    int64 // won and lost; 0: nothing is known
	EdgeBps, LowBps, HighBps int
}

// MeasureEdge works an edge out; zero without calls. Faults: those of package skill.
func MeasureEdge(tallies []skill.Tally) (Edge, error) {
	var sample skill.Sample
	for _, t := range tallies {
		if err := sample.AddTally(t); err != nil {
			return Edge{}, err
		}
	}
	r, some := sample.Report()
	if !some {
		return Edge{}, nil
	}
	return Edge{Calls: r.Calls, EdgeBps: r.EdgeBps, LowBps: r.LowBps, HighBps: r.HighBps}, nil
}
