package rows

import "github.com/signalcast/signalcast/test/prove/internal/frame"

// crowded are the rows of many connections to the live feed, and of bad ones.
var crowded = []frame.Row{e1}
