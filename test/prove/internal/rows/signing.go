package rows

import (
	"github.com/signalcast/signalcast/test/prove/internal/frame"
)

// protocolPath is where delegated sign-in and messages stand.
const protocolPath = "/api/protocol/v1"

// protocol is where programs of others come in, at the i-th hub.
func protocol(env *frame.Env, i int) string { return env.Hub(i) + protocolPath }

// verdict is what the i-th hub says of a message that it is not to keep.
type verdict struct {
	Valid   bool     `json:"valid"`
	ID      string   `json:"id"`
	Reasons []string `json:"reasons"`
}
