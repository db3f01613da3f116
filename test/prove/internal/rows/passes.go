package rows

import (
	"net/http"
	"slices"
	"strings"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/system/openapi"
)

// pass is one way to come to a door, with all that it brings.
type pass struct {
	name string
	as   client.Credential

	takes       []string // schemes of the description that it satisfies
	bearer      bool     // it brings an Authorization header, which is never overlooked
	query       bool     // it brings something in the address
	admin, cron word     // what it says where a secret is asked for
	powers      []string // scopes of a token, permissions of a key; nil: it has no need of any
	handle      string   // whose it is; empty: the ring's holder
	agent       bool     // a token for the agent endpoint of apps, and for nothing else
}

// agentPath takes tokens that were made for it alone.
const agentPath = protocolPath + "/mcp"

// astray reports a token that was made for another address.
func (p pass) astray(op *openapi.Operation) bool {
	return slices.Contains(p.takes, "appToken") && p.agent != (op.Path == agentPath)
}

// word is a secret that was said.
type word int

const (
	unsaid word = iota
	right
	wrong
)

// due is what a door answers to a pass: the status and code of a refusal, or
// nothing when it lets it in.
type due struct {
	status int
	code   string
	need   string // the scope that is missing
}

var (
	letIn      = due{}
	notKnown   = due{status: http.StatusUnauthorized, code: "unauthenticated"}
	notAllowed = due{status: http.StatusForbidden, code: "forbidden"}
)

// at is what the description says of a pass at a door, by nothing but the ways to
// be let in that it lists there.
func (p pass) at(op *openapi.Operation) due {
	fits := slices.ContainsFunc(p.takes, op.Takes) && !p.astray(op)
	unknown := notKnown
	if op.Takes("appCredentials") {
		unknown.code = "invalid_client"
	}
	switch {
	case !op.Knows(http.StatusUnauthorized): // it looks at nothing: it is gone, or tells of its health
		return letIn
	case holds(op) && p.query: // a secret in an address stays in logs
		return unknown
	case p.bearer && fits, !p.bearer && fits && (!op.Takes("adminSecret") || op.Takes("sessionId") && p.admin == unsaid):
		return p.power(op)
	case p.bearer:
		return unknown
	case op.Takes("adminSecret") && p.admin != unsaid:
		return p.admin.due()
	case op.Takes("cronSecret") && p.cron != unsaid:
		return p.cron.due()
	case op.Public():
		return letIn
	}
	return unknown
}

func (w word) due() due {
	if w == right {
		return letIn
	}
	return notAllowed
}

// power is what comes of a good pass where scopes count.
func (p pass) power(op *openapi.Operation) due {
	need, counts := needs[op.Name()]
	if !counts || p.powers == nil {
		return letIn
	}
	asked := need.scope
	if slices.Contains(p.takes, "operatorKey") {
		asked = need.permission
	}
	if asked == "" || slices.Contains(p.powers, asked) {
		return letIn
	}
	due := due{status: http.StatusForbidden, code: "insufficient_scope", need: need.told()}
	if !underProtocol(op.Path) {
		due.need = need.permission // no app comes here
	}
	return due
}

// need is what a token and a key must have been given at a door of the protocol.
type need struct {
	scope      string // of a token; empty: its own grant is enough
	permission string // of a key
}

// told is the scope that a refusal names: for doors where tokens need none, the
// one that the permission stands for.
func (n need) told() string {
	if n.scope != "" {
		return n.scope
	}
	return map[string]string{"read": "profile:read", "signal": "signer:create"}[n.permission]
}

// needs is the column "auth" of the table of the protocol's routes, and webhooks. Elsewhere
// permissions are recorded and not asked for.
var needs = map[string]need{
	"GET hub" + protocolPath + "/me":                     {"profile:read", "read"},
	"GET hub" + protocolPath + "/grants":                 {"", "read"},
	"DELETE hub" + protocolPath + "/grants/{grantId}":    {"", "signal"},
	"POST hub" + protocolPath + "/signers/challenge":     {"signer:create", "signal"},
	"POST hub" + protocolPath + "/signers":               {"signer:create", "signal"},
	"DELETE hub" + protocolPath + "/signers/{publicKey}": {"", "signal"},
	"POST hub" + protocolPath + "/predictions":           {"prediction:create", "signal"},
	"POST hub" + protocolPath + "/signals":               {"signal:create", "signal"},

	"POST api/api/v1/signals/categorize":                 {"", "read"},
	"GET api/api/v1/users/me":                            {"", "read"},
	"GET api/api/v1/users/{handle}/signals":              {"", "read"},
	"GET api/api/v1/users/{handle}/stats":                {"", "read"},
	"POST api" + stationsPath:                            {"", "broadcast"},
	"PUT api" + stationsPath + "/{stationId}":            {"", "broadcast"},
	"DELETE api" + stationsPath + "/{stationId}":         {"", "broadcast"},
	"POST api" + stationsPath + "/{stationId}/heartbeat": {"", "broadcast"},

	"GET api" + hooksPath:                      {"", "read"},
	"POST api" + hooksPath:                     {"", "read"},
	"GET api" + hooksPath + "/{id}":            {"", "read"},
	"PATCH api" + hooksPath + "/{id}":          {"", "read"},
	"DELETE api" + hooksPath + "/{id}":         {"", "read"},
	"POST api" + hooksPath + "/{id}/test":      {"", "read"},
	"POST api" + hooksPath + "/{id}/secret":    {"", "read"},
	"GET api" + hooksPath + "/{id}/deliveries": {"", "read"},
}

// underProtocol tells whether an address is one of those that never read a cookie.
func underProtocol(path string) bool {
	return path == protocolPath || strings.HasPrefix(path, protocolPath+"/")
}
