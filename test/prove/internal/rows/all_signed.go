package rows

import "github.com/signalcast/signalcast/test/prove/internal/frame"

// signed are the rows of delegated sign-in, messages and repeated requests.
var signed = []frame.Row{
	a10, j1, j2, j3, j4, j5, j6, d4, d5,
}
