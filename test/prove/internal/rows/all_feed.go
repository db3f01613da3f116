package rows

import "github.com/signalcast/signalcast/test/prove/internal/frame"

// following are the rows of who follows the feed and comes back to it.
var following = []frame.Row{e3, e4, e5}
