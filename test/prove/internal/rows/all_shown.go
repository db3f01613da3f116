package rows

import "github.com/signalcast/signalcast/test/prove/internal/frame"

// shown are the rows of what browsers make of what is shown.
var shown = []frame.Row{h4, h5, h7}
