package rows

import "github.com/signalcast/signalcast/test/prove/internal/frame"

// rest are the rows of degradation, limits, keys and input.
var rest = []frame.Row{c1, c2, c3, c4, c5, c6, c7, c8, c10, g1, g3}
