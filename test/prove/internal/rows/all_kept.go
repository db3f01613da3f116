package rows

import "github.com/signalcast/signalcast/test/prove/internal/frame"

// copied are the rows of what the record is worth to those who keep copies of it.
var copied = []frame.Row{b5, b6}
