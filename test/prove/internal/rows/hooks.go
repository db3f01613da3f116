package rows

import (
	"strings"
)

// hooksPath is where webhooks are registered, at the ledger's own host.
const hooksPath = "/api/v1/webhooks"

// underHooks tells whether an address is that of webhooks.
func underHooks(path string) bool { return path == hooksPath || strings.HasPrefix(path, hooksPath+"/") }

// hook is a webhook, and the secret that was shown when it was registered.
type hook struct{ id, secret string }

const (
	// deafHost is a name that nobody can ever have.
	deafHost = "https://hooks.example"
	// quietChannel is one of a market that does not exist: nothing is ever sent.
	quietChannel = "market:native-ffffffffffffffffffffffffffffffff"
)
