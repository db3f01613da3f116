package rows

import "github.com/signalcast/signalcast/test/prove/internal/frame"

// credentials are the rows of who may do what.
var credentials = []frame.Row{}
