package rows

import "github.com/signalcast/signalcast/test/prove/internal/frame"

// lives are the rows of how processes start, stop and bear too much.
var lives = []frame.Row{c9, f1, f2, f4}
