package rows

import "github.com/signalcast/signalcast/test/prove/internal/frame"

// crowded are the rows of many connections to the live feed, and of bad ones.
var crowded = []frame.Row{e1, e2, e7}

// following are the rows of who follows the feed and comes back to it.
var following = []frame.Row{e3, e4}
