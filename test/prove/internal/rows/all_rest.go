package rows

import "github.com/signalcast/signalcast/test/prove/internal/frame"

// rest are the rows of degradation, limits, keys and input.
var rest = []frame.Row{}
