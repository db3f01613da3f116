package rows

import "github.com/signalcast/signalcast/test/prove/internal/frame"

// acting are the rows of programs that act for people by tools.
var acting = []frame.Row{k1, k2, k3, k4}
