package rows

import "github.com/signalcast/signalcast/test/prove/internal/frame"

// secrets are the rows of what must not be seen, and of time.
var secrets = []frame.Row{}
