package rows

import (
	"slices"

	"github.com/signalcast/signalcast/test/prove/internal/frame"
)

// All lists the rows in the order in which they run.
func All() []frame.Row {
	return slices.Concat([]frame.Row{
		a8,
		b1, b2, b3,
	}, rest, credentials, signed, secrets,
		[]frame.Row{b4}, // when the edges of the many that the first ones planted have been worked out
		copied, supply)
}
