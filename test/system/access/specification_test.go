package access

import (
	"slices"
	"strings"
	"testing"

	"github.com/signalcast/signalcast/test/system/openapi"
	"github.com/signalcast/signalcast/test/system/stack"
)

const (
	webhooksPath = "/api/v1/webhooks"
	stationsPath = "/api/v1/stations"
)

// power contains the scope and the permission that a route requires.
type power struct {
	scope      string // scope that a token requires; empty: none
	permission string // permission that a key requires
}

// named returns the scope that a refusal of the route names. If tokens need no scope, it returns the scope that corresponds to
// the permission.
func (p power) named(op *openapi.Operation) string {
	switch {
	case !underProtocol(op.Path):
		return p.permission
	case p.scope != "":
		return p.scope
	}
	return map[string]string{"read": "profile:read", "signal": "signer:create"}[p.permission]
}

// requiredPowers lists the routes that require a scope or a permission. On other routes, the permissions of the keys in this
// test have no effect.
var requiredPowers = map[string]power{
	"GET hub" + stack.ProtocolPath + "/me":                     {"profile:read", "read"},
	"GET hub" + stack.ProtocolPath + "/grants":                 {"", "read"},
	"DELETE hub" + stack.ProtocolPath + "/grants/{grantId}":    {"", "signal"},
	"POST hub" + stack.ProtocolPath + "/signers/challenge":     {"signer:create", "signal"},
	"POST hub" + stack.ProtocolPath + "/signers":               {"signer:create", "signal"},
	"DELETE hub" + stack.ProtocolPath + "/signers/{publicKey}": {"", "signal"},
	"POST hub" + stack.ProtocolPath + "/predictions":           {"prediction:create", "signal"},
	"POST hub" + stack.ProtocolPath + "/signals":               {"signal:create", "signal"},

	"POST api/api/v1/signals/categorize":                 {"", "read"},
	"GET api/api/v1/users/me":                            {"", "read"},
	"GET api/api/v1/users/{handle}/signals":              {"", "read"},
	"GET api/api/v1/users/{handle}/stats":                {"", "read"},
	"POST api" + stationsPath:                            {"", "broadcast"},
	"PUT api" + stationsPath + "/{stationId}":            {"", "broadcast"},
	"DELETE api" + stationsPath + "/{stationId}":         {"", "broadcast"},
	"POST api" + stationsPath + "/{stationId}/heartbeat": {"", "broadcast"},

	"GET api" + webhooksPath:                      {"", "read"},
	"POST api" + webhooksPath:                     {"", "read"},
	"GET api" + webhooksPath + "/{id}":            {"", "read"},
	"PATCH api" + webhooksPath + "/{id}":          {"", "read"},
	"DELETE api" + webhooksPath + "/{id}":         {"", "read"},
	"POST api" + webhooksPath + "/{id}/test":      {"", "read"},
	"POST api" + webhooksPath + "/{id}/secret":    {"", "read"},
	"GET api" + webhooksPath + "/{id}/deliveries": {"", "read"},

	"POST api" + webhooksPath + "/{id}/deliveries/{deliveryId}/resend": {"", "read"},
}

// credentialTable lists the accepted credentials of each route that accepts a credential or changes stored data.
const credentialTable = `
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
POST   /api/admin/clips                          admin
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
POST   /api/v1/webhooks/{id}/deliveries/{deliveryId}/resend key
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
GET    /settings/apps                            none session
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
POST   /studio                                   session
GET    /live/{handle}                            none session
GET    /clips/{id}                               none session
GET    /tip/{handle}                             none session
GET    /sign-in                                  none session
GET    /welcome                                  none session
POST   /welcome                                  session
POST   /sign-out                                 none
POST   /settings/theme                           none
GET    /settings                                 none session
POST   /settings/sessions/revoke                 session
POST   /settings/sessions/revoke-all             session
POST   /settings/push                            session
POST   /settings/email                           session
POST   /email/confirm                            none
POST   /unsubscribe                              none
POST   /settings/handle                          session
POST   /settings/export                          session
POST   /settings/delete                          session
POST   /settings/delete/cancel                   session
GET    /settings/export/{id}                     none session
GET    /report                                   none session
POST   /report                                   session
GET    /settings/profile                         none session
POST   /profile                                  session
POST   /m/{marketId}/call                        none session
POST   /receipts/{id}/events                     none session
POST   /m/{marketId}/watch                       session
POST   /profile/claims                           session
POST   /profile/claims/drop                      session
GET    /following                                none session
POST   /u/{handle}/mute                          session
POST   /u/{handle}/unmute                        session
GET    /notifications                            none session
POST   /notifications/read                       session
GET    /settings/notifications                   none session
POST   /settings/notifications                   session
GET    /api/user/notifications                   session key
POST   /api/user/notifications/read              session key
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

// schemeWords maps the security schemes of the OpenAPI document to the words of credentialTable.
var schemeWords = map[string]string{
	"sessionId": "session", "operatorKey": "key", "identityToken": "jwt", "adminSecret": "admin", "cronSecret": "cron",
	"appToken": "token", "appCredentials": "client", "developerToken": "developer",
}

// specification returns the words of credentialTable by route.
func specification() map[string][]string {
	out := map[string][]string{}
	for line := range strings.Lines(strings.TrimSpace(credentialTable)) {
		words := strings.Fields(line)
		out[words[0]+" "+words[1]] = slices.Sorted(slices.Values(words[2:]))
	}
	return out
}

// TestDocumentedCredentialsMatchTheSpecification checks that the OpenAPI document states the credentials of
// credentialTable for each route.
func TestDocumentedCredentialsMatchTheSpecification(t *testing.T) {
	t.Parallel()
	specified := specification()
	for _, op := range openapi.ForTest(t).Operations {
		var words []string
		if op.Public() {
			words = append(words, "none")
		}
		for _, scheme := range op.Schemes() {
			if word := schemeWords[scheme]; word != "" {
				words = append(words, word)
			}
		}
		name := op.Method + " " + op.Path
		if op.Gone() || op.Method == "GET" && slices.Equal(words, []string{"none"}) {
			continue // public reads are not listed in the table
		}
		slices.Sort(words)
		if want := specified[name]; !slices.Equal(want, words) {
			t.Errorf("the OpenAPI document states the credentials %[2]q for %[1]s; want %[3]q", name, words, want)
		}
		delete(specified, name)
	}
	for name := range specified {
		t.Errorf("credentialTable lists %s, which the OpenAPI document does not describe", name)
	}
}
