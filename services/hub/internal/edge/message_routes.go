package edge

import (
	"net/http"

	"github.com/signalcast/signalcast/pkg/web"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
	"github.com/signalcast/signalcast/services/hub/internal/grant"
)

// sender is nobody, or whoever shows a bearer beside a signature.
const sender = caller.TakeNone | delegate

// messageRoutes are those of signers, signed messages and the calls that the hub
// attests.
func (s *server) messageRoutes() []route {
	const get, post, del = http.MethodGet, http.MethodPost, http.MethodDelete
	const p, proto = protocolBase, web.Protocol
	return []route{
		{method: get, path: p + "/keys", who: public, cors: proto, cache: cacheSpec, handler: s.hubKeys},
		{method: get, path: p + "/schemas/:type", who: public, cors: proto, cache: cacheSpec, handler: s.payloadSchema},

		{method: post, path: p + "/signers/challenge", who: delegate, scope: grant.SignerCreate, cors: proto, handler: s.challengeSigner},
		{method: post, path: p + "/signers", who: delegate, scope: grant.SignerCreate, cors: proto, handler: s.registerSigner},
		{method: get, path: p + "/signers", who: public, cors: proto, cache: cacheNever, handler: s.listSigners},
		{method: get, path: p + "/signers/:publicKey", who: public, cors: proto, cache: cacheNever, handler: s.signer},
		{method: del, path: p + "/signers/:publicKey", who: delegate, cors: proto, handler: s.revokeSigner, permission: grant.Signal},
		{method: del, path: "/api/user/signers/:publicKey", who: owner, handler: s.revokeSigner},

		{method: post, path: p + "/messages", who: sender, cors: proto, handler: s.submitMessage, permission: grant.Signal},
		{method: post, path: p + "/messages/verify", who: public, cors: proto, handler: s.verifyMessage},
		{method: get, path: p + "/messages", who: public, cors: proto, cache: cacheShort, handler: s.listMessages},
		{method: get, path: p + "/messages/:id", who: public, cors: proto, cache: cacheShort, handler: s.message},

		{method: post, path: p + "/predictions", who: delegate, scope: grant.PredictionCreate, cors: proto, handler: s.createPrediction},
		{method: post, path: p + "/signals", who: delegate, scope: grant.SignalCreate, cors: proto, handler: s.createSignal},
	}
}
