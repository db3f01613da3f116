package rows

import (
	"slices"
	"strings"

	"github.com/signalcast/signalcast/test/prove/internal/frame"
	"github.com/signalcast/signalcast/test/system/openapi"
)

// accepted is the specification's table of credentials: where each is accepted.
var accepted = map[string]func(op *openapi.Operation) bool{
	"operatorKey": func(op *openapi.Operation) bool {
		write := op.Method != "GET" && op.Host == "hub"
		return write || underProtocol(op.Path) || op.Host == "api" || op.Path == "/api/network/field-record/me" ||
			op.Path == "/api/streamer/me" || op.Path == "/api/streamer/analytics"
	},
	"sessionId":        firstParty,
	"sessionSignature": firstParty,
	"identityToken": func(op *openapi.Operation) bool { // key management, sign-in, stream provisioning
		return strings.HasPrefix(op.Path, "/api/dev/") || op.Path == "/api/auth/privy" || op.Path == "/api/streamer/stream" ||
			op.Host == "api" && op.Path == "/api/v1/agent/keys"
	},
	"developerToken": func(op *openapi.Operation) bool {
		return op.Path == "/dev" || strings.HasPrefix(op.Path, "/dev/keys") || strings.HasPrefix(op.Path, "/dev/apps") || op.Path == "/dev/signers/revoke" || op.Path == "/dev/stream"
	},
	"appToken":       func(op *openapi.Operation) bool { return op.Host == "hub" && underProtocol(op.Path) },
	"appCredentials": func(op *openapi.Operation) bool { return strings.HasPrefix(op.Path, protocolPath+"/oauth/") },
	"adminSecret": func(op *openapi.Operation) bool {
		return strings.HasPrefix(op.Path, "/api/admin/") || strings.HasPrefix(op.Path, "/api/resolution/") && op.Method == "POST" ||
			op.Path == "/api/broadcast/preempt" || op.Path == "/api/streamer/analytics" || strings.HasPrefix(op.Path, stationsPath+"/{stationId}") ||
			op.Path == "/api/v1/markets/{marketId}/lane" || strings.HasPrefix(op.Path, "/api/v1/users/{handle}/")
	},
	"cronSecret": func(op *openapi.Operation) bool {
		return op.Path == "/api/admin/resolve-signals" || op.Path == "/api/admin/daily-digest" && op.Method == "POST"
	},
}

// firstParty is every surface of our own app: the protocol never reads a cookie.
func firstParty(op *openapi.Operation) bool { return op.Host == "hub" && !underProtocol(op.Path) }

// auth is the column "auth" of the specification's tables, and of those of the
// protocol's routes, for everything that a credential opens or that changes
// something.
const auth = `
POST   /api/predictions                          session key
POST   /api/m/{marketId}/streams                 session key
DELETE /api/m/{marketId}/streams                 session key
POST   /api/signals/{id}/events                  session key
POST   /api/dev/keys                             jwt
GET    /api/dev/keys                             jwt
DELETE /api/dev/keys                             jwt
GET    /api/dev/whoami                           jwt
POST   /api/user/follow                          session
DELETE /api/user/follow                          session
GET    /api/user/follow                          none session
POST   /api/identity/claim                       session
GET    /api/identity/claim                       session
DELETE /api/identity/claim                       session
GET    /api/m/{marketId}/crowd                   none session
POST   /api/resolution/finalize                  admin
POST   /api/resolution/dispute                   admin
POST   /api/admin/resolve-signals                admin cron
GET    /api/admin/resolve-signals                admin cron
POST   /api/admin/daily-digest                   admin cron
POST   /api/admin/markets                        admin
POST   /api/admin/markets/{marketId}             admin
POST   /api/admin/operators                      admin
POST   /api/admin/apps/{appId}                   admin
GET    /api/admin/pins                           admin
POST   /api/admin/pins                           admin
DELETE /api/admin/pins                           admin
GET    /api/broadcast/preempt                    admin
POST   /api/broadcast/preempt                    admin
POST   /api/auth/privy                           jwt
DELETE /api/auth/privy                           none session
POST   /api/v1/agent/keys                        jwt
GET    /ws                                       none key
POST   /api/v1/webhooks                          key
GET    /api/v1/webhooks                          key
GET    /api/v1/webhooks/{id}                     key
PATCH  /api/v1/webhooks/{id}                     key
DELETE /api/v1/webhooks/{id}                     key
POST   /api/v1/webhooks/{id}/test                key
POST   /api/v1/webhooks/{id}/secret              key
GET    /api/v1/webhooks/{id}/deliveries          key
POST   /api/v1/signals/categorize                key
PUT    /api/v1/markets/{marketId}/lane           admin
GET    /api/v1/users/me                          key
GET    /api/network/field-record/me              key
GET    /api/v1/users/{handle}/signals            key admin
GET    /api/v1/users/{handle}/stats              key admin
POST   /api/v1/stations                          key
PUT    /api/v1/stations/{stationId}              key
DELETE /api/v1/stations/{stationId}              key admin
POST   /api/v1/stations/{stationId}/heartbeat    key
POST   /api/v1/stations/{stationId}/status       admin
POST   /api/network/tapes/{id}/view              none
POST   /api/dev/apps                             jwt
GET    /api/dev/apps                             jwt
PATCH  /api/dev/apps/{appId}                     jwt
DELETE /api/dev/apps/{appId}                     jwt
POST   /api/dev/apps/{appId}/secret              jwt
GET    /protocol/authorize                       none session
POST   /protocol/authorize                       session
POST   /api/protocol/v1/oauth/token              none client
POST   /api/protocol/v1/oauth/revoke             none client
POST   /api/protocol/v1/oauth/introspect         client
GET    /api/protocol/v1/me                       token key
GET    /api/protocol/v1/grants                   token key
DELETE /api/protocol/v1/grants/{grantId}         token key
GET    /api/user/grants                          session
DELETE /api/user/grants/{grantId}                session
POST   /api/protocol/v1/signers/challenge        token key
POST   /api/protocol/v1/signers                  token key
DELETE /api/protocol/v1/signers/{publicKey}      token key
DELETE /api/user/signers/{publicKey}             session
POST   /api/protocol/v1/messages                 none token key
POST   /api/protocol/v1/messages/verify          none
POST   /api/protocol/v1/predictions              token key
POST   /api/protocol/v1/signals                  token key
POST   /api/mcp                                  none key
POST   /api/protocol/v1/mcp                      none token
GET    /apps                                     none session
POST   /apps/revoke                              session
GET    /dev                                      none developer
POST   /dev/keys                                 developer
POST   /dev/keys/revoke                          developer
POST   /dev/apps                                 developer
POST   /dev/apps/change                          developer
POST   /dev/apps/secret                          developer
POST   /dev/apps/disable                         developer
POST   /dev/signers/revoke                       developer
POST   /dev/stream                               developer
POST   /dev/session                              none
GET    /studio                                   none session
GET    /live/{handle}                            none session
GET    /sign-in                                  none session
POST   /sign-out                                 none
GET    /profile                                  none session
POST   /profile                                  session
POST   /profile/claims                           session
POST   /profile/claims/drop                      session
GET    /u/{handle}                               none session
POST   /u/{handle}/follow                        session
POST   /u/{handle}/unfollow                      session
POST   /api/streamer/profile                     session key
POST   /api/streamer/signal                      session key
DELETE /api/streamer/signal                      session key
POST   /api/streamer/heartbeat                   session key
POST   /api/live/{handle}/view                   none
POST   /api/streamer/register                    session
GET    /api/streamer/me                          session key
GET    /api/streamer/analytics                   session key admin
POST   /api/admin/streamers                      admin
GET    /api/admin/moderation                     admin
POST   /api/admin/moderation                     admin
POST   /api/reports                              session key
POST   /api/streamer/stream                      jwt
POST   /api/live/{handle}/clip                   session
`

// schemeWords are the words of that column for the schemes of the description.
var schemeWords = map[string]string{
	"sessionId": "session", "operatorKey": "key", "identityToken": "jwt", "adminSecret": "admin", "cronSecret": "cron",
	"appToken": "token", "appCredentials": "client", "developerToken": "developer",
}

// agrees holds the description against the specification.
func agrees(doc *openapi.Document, seen *frame.Seen) {
	table := map[string]string{}
	for line := range strings.SplitSeq(strings.TrimSpace(auth), "\n") {
		words := strings.Fields(line)
		table[words[0]+" "+words[1]] = strings.Join(words[2:], " ")
	}
	for _, op := range doc.Operations {
		var words []string
		if op.Public() {
			words = append(words, "none")
		}
		for _, scheme := range op.Schemes() {
			rule := accepted[scheme]
			seen.Check(rule != nil && rule(op), "%s is described as taking %s, which is not accepted there", op.Name(), scheme)
			if word := schemeWords[scheme]; word != "" {
				words = append(words, word)
			}
		}
		if op.Gone() || op.Method == "GET" && strings.Join(words, "") == "none" {
			continue // a read for everybody needs no line
		}
		name := op.Method + " " + op.Path
		want := strings.Fields(table[name])
		slices.Sort(want)
		slices.Sort(words)
		seen.Check(slices.Equal(want, words), "%s is described as taking %q, and has to take %q", op.Name(), words, want)
		delete(table, name)
	}
	for name := range table {
		seen.Wrong("%s is not described", name)
	}
}
