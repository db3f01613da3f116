package rows

import "github.com/signalcast/signalcast/test/prove/internal/frame"

// supply are the rows of what is shipped, and of how it stands there.
var supply = []frame.Row{}
