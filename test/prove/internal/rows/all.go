package rows

import (
	"slices"

	"github.com/signalcast/signalcast/test/prove/internal/frame"
)

// All lists the rows in the order in which they run.
func All() []frame.Row {
	return slices.Concat(rest, credentials, signed, secrets, supply)
}
