package openapi_test

import (
	"strings"
	"testing"

	"github.com/signalcast/signalcast/test/system/openapi"
)

// specified lists the routes that the protocol defines, with their methods.
const specified = `
/api/admin/daily-digest                POST
/api/admin/markets                     POST
/api/admin/moderation                  GET POST
/api/admin/resolve-signals             GET POST
/api/admin/streamers                   POST
/api/aura/history                      GET
/api/aura/score                        GET
/api/aura/top                          GET
/api/auth/privy                        DELETE POST
/api/broadcast/bumpers                 GET
/api/broadcast/feed                    GET
/api/broadcast/influence               GET
/api/broadcast/preempt                 GET POST
/api/broadcast/program                 GET
/api/broadcast/schedule                GET
/api/broadcast/spotlight               GET
/api/c/{code}                          GET
/api/card/{kind}/{id}                  GET
/api/dev/keys                          DELETE GET POST
/api/embed/market/{marketId}           GET
/api/embed/oembed                      GET
/api/embed/operator/{handle}           GET
/api/embed/signal/{id}                 GET
/api/fashion/signals                   GET
/api/identity/claim                    DELETE GET POST
/api/live/{handle}/clip                POST
/api/live/{handle}/view                POST
/api/m/{marketId}                      GET
/api/m/{marketId}/clips                GET
/api/m/{marketId}/crowd                GET
/api/m/{marketId}/related              GET
/api/m/{marketId}/sentiment            GET
/api/m/{marketId}/signals              GET
/api/m/{marketId}/streams              DELETE GET POST
/api/markets/airable                   GET
/api/mcp                               POST
/api/network/crowd                     GET
/api/network/field-record/me           GET
/api/network/field-record/{handle}     GET
/api/network/identity/{handle}         GET
/api/network/market/{marketId}         GET
/api/network/operators                 GET
/api/network/payout/{handle}           GET
/api/network/program                   GET
/api/network/pulse                     GET
/api/network/tapes                     GET
/api/network/tapes/{id}/view           POST
/api/operator/leaderboard              GET
/api/operator/{handle}                 GET
/api/polymarket/featured               GET
/api/polymarket/history                GET
/api/polymarket/market                 GET
/api/polymarket/market-history         GET
/api/polymarket/markets                GET
/api/polymarket/resolved               GET
/api/predictions                       POST
/api/protocol/v1                       GET
/api/protocol/v1/predictions           POST
/api/protocol/v1/signals               POST
/api/reports                           POST
/api/resolution/dispute                POST
/api/resolution/finalize               POST
/api/resolution/markets                GET
/api/resolution/outcome                GET
/api/signals/feed                      GET
/api/signals/{id}                      GET
/api/signals/{id}/events               GET POST
/api/situations                        GET
/api/streamer/analytics                GET
/api/streamer/heartbeat                POST
/api/streamer/profile                  POST
/api/streamer/recap                    GET
/api/streamer/receipts                 GET
/api/streamer/signal                   DELETE GET POST
/api/streamer/stream                   POST
/api/streamer/stream/state             GET
/api/streamers/live                    GET
/api/user/follow                       DELETE POST
/api/v1/agent/keys                     POST
/api/v1/feed                           GET
/api/v1/markets/{marketId}/lane        PUT
/api/v1/oracle/markets/{marketId}      GET
/api/v1/signals                        GET
/api/v1/signals/categories             GET
/api/v1/signals/categorize             POST
/api/v1/signals/external               GET
/api/v1/signals/leaderboard            GET
/api/v1/stations                       GET POST
/api/v1/stations/{stationId}           DELETE GET PUT
/api/v1/stations/{stationId}/heartbeat POST
/api/v1/stations/{stationId}/program   GET
/api/v1/stations/{stationId}/status    POST
/api/v1/users/me                       GET
/api/v1/users/{handle}/signals         GET
/api/v1/users/{handle}/stats           GET
/api/wire                              GET
/docs/openapi.json                     GET
/feed                                  GET
/healthz                               GET
/llms.txt                              GET
/openapi.json                          GET
/program/channel                       GET
/program/next                          GET
/program/now                           GET
/program/timeline                      GET
/readyz                                GET
/ws                                    GET
`

// added lists the routes for programs that this product has in addition to those of the protocol. It does not list pages, and
// operations with the tags retired and machine.
const added = `
/.well-known/oauth-authorization-server/api/protocol/v1   GET
/.well-known/oauth-protected-resource/api/protocol/v1     GET
/.well-known/oauth-protected-resource/api/protocol/v1/mcp GET
/api/admin/apps/{appId}                                   POST
/api/admin/clips                                          POST
/api/admin/markets/{marketId}                             POST
/api/admin/operators                                      POST
/api/admin/pins                                           DELETE GET POST
/api/dev/apps                                             GET POST
/api/dev/apps/{appId}                                     DELETE PATCH
/api/dev/apps/{appId}/secret                              POST
/api/dev/whoami                                           GET
/api/markets                                              GET
/api/operator/{handle}/record                             GET
/api/operator/{handle}/skill                              GET
/api/oracle/featured                                      GET
/api/protocol/v1/apps/{appId}                             GET
/api/protocol/v1/grants                                   GET
/api/protocol/v1/grants/{grantId}                         DELETE
/api/protocol/v1/keys                                     GET
/api/protocol/v1/mcp                                      POST
/api/protocol/v1/me                                       GET
/api/protocol/v1/messages                                 GET POST
/api/protocol/v1/messages/verify                          POST
/api/protocol/v1/messages/{id}                            GET
/api/protocol/v1/oauth/introspect                         POST
/api/protocol/v1/oauth/revoke                             POST
/api/protocol/v1/oauth/token                              POST
/api/protocol/v1/passports/{id}                           GET
/api/protocol/v1/schemas/{type}                           GET
/api/protocol/v1/signers                                  GET POST
/api/protocol/v1/signers/challenge                        POST
/api/protocol/v1/signers/{publicKey}                      DELETE GET
/api/streamer/me                                          GET
/api/streamer/profile                                     GET
/api/streamer/register                                    POST
/api/user/follow                                          GET
/api/user/grants                                          GET
/api/user/grants/{grantId}                                DELETE
/api/user/notifications                                   GET
/api/user/notifications/read                              POST
/api/user/signers/{publicKey}                             DELETE
/api/v1/feed/stream                                       GET
/api/v1/webhooks                                          GET POST
/api/v1/webhooks/{id}                                     DELETE GET PATCH
/api/v1/webhooks/{id}/deliveries                          GET
/api/v1/webhooks/{id}/deliveries/{deliveryId}/resend      POST
/api/v1/webhooks/{id}/secret                              POST
/api/v1/webhooks/{id}/test                                POST
`

// TestDocumentHasTheRoutesOfTheProtocol checks that the document contains each route in specified, and that all its other
// routes for programs are in added.
func TestDocumentHasTheRoutesOfTheProtocol(t *testing.T) {
	t.Parallel()
	want := map[string]bool{}
	for line := range strings.Lines(strings.TrimSpace(specified) + "\n" + strings.TrimSpace(added)) {
		words := strings.Fields(line)
		for _, method := range words[1:] {
			want[method+" "+words[0]] = true
		}
	}
	found := map[string]bool{}
	for _, op := range openapi.ForTest(t).Operations {
		name := op.Method + " " + op.Path
		found[name] = true
		if !want[name] && !op.Gone() && op.Tag() != "pages" && op.Tag() != "machine" {
			t.Errorf("the document contains %s, which is in neither list", name)
		}
	}
	for name := range want {
		if !found[name] {
			t.Errorf("the document lacks %s, which is in a list", name)
		}
	}
}
