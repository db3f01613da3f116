package rows

import "github.com/signalcast/signalcast/test/prove/internal/frame"

// signed are the rows of delegated sign-in, messages and repeated requests.
var signed = []frame.Row{}
