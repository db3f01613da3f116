package skill

import "slices"

// QValues answers for a whole board: for each chance (Report.Above, one per
// operator) the share of false discoveries to expect when everybody is called
// skilled whose chance is not larger (Benjamini and Hochberg 1995).
func QValues(chances []float64) []float64 {
	m := len(chances)
	order := make([]int, m)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case chances[a] < chances[b]:
			return -1
		case chances[a] > chances[b]:
			return 1
		}
		return 0
	})
	q := make([]float64, m)
	least := 1.0
	for rank := m; rank >= 1; rank-- {
		i := order[rank-1]
		least = min(least, mul(chances[i], float64(m))/float64(rank))
		q[i] = least
	}
	return q
}
