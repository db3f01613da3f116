package stack

import (
	"crypto/rand"
	"encoding/hex"
	"net/http"
	"strings"
	"testing"
)

// ProtocolScopes lists the OAuth scopes that routes of the protocol require.
var ProtocolScopes = []string{"profile:read", "signer:create", "signal:create", "prediction:create", "offline_access"}

// QuietChannel is the channel of a market that does not exist. A webhook on this channel receives no events.
const QuietChannel = "market:native-ffffffffffffffffffffffffffffffff"

// Owner is an operator with keys, an application, a webhook, a station, a call and other items.
type Owner struct {
	*Operator
	Browser Set // session cookies of the owner

	SecondKey, SecondKeyID string
	Friend                 *Operator // an operator that the owner follows
	App                    *App      // registered by the owner
	Tokens                 Tokens    // tokens of App for the owner
	Signer                 *Signer
	Webhook, WebhookSecret string
	Station                string
	Market, Call           string // a call with an event, on a market with a stream
	Message                string // id of a signed message that the hub has attested
	Wallet, IdentityToken  string
	Clip                   string // id of a ready clip; its video does not exist
}

// NewOwner creates an Owner and the items of all its fields.
func (s *Stack) NewOwner(t testing.TB) *Owner {
	t.Helper()
	w := &Owner{Operator: s.NewOperator(t), Friend: s.NewOperator(t)}
	w.Browser = w.Session(t)
	w.SecondKey, w.SecondKeyID = w.Mint(t, JSON{"label": "second key"})
	w.App = w.NewApp(t, "confidential", ProtocolScopes...)
	w.Tokens = w.App.Grant(t, w.Browser, "profile:read signer:create signal:create offline_access")
	w.Signer = w.NewSigner(t)
	w.Signer.Register(t, Bearer(w.Key), "signal:create")
	w.Webhook, w.WebhookSecret = w.NewWebhook(t, "https://hooks.example/quiet")
	w.Station = strings.ReplaceAll(w.Handle, "_", "-")
	w.NewStation(t, w.Station)
	w.Market = s.NewNativeMarket(t, 5000, nil)
	w.Call = w.File(t, Call(w.Market, "YES", 5000)).Require(http.StatusOK).Text("id")
	w.Message = w.Send(t, ProtocolPath+"/predictions", http.StatusOK, Bearer(w.Key), JSON{
		"marketId": s.NewNativeMarket(t, 5000, nil), "position": "YES", "priceBps": 5000,
	}).Text("messageId")
	w.claimWallet(t)
	w.Send(t, "/api/signals/"+w.Call+"/events", http.StatusCreated, w.Browser, JSON{"type": "note", "payload": JSON{"text": "mine"}})
	w.Send(t, "/api/m/"+w.Market+"/streams", http.StatusOK, w.Browser, JSON{"url": "https://video.example/mine.m3u8", "label": "mine"})
	w.Send(t, "/api/user/follow", http.StatusOK, w.Browser, JSON{"handle": w.Friend.Handle})
	w.Send(t, "/api/streamer/signal", http.StatusOK, w.Browser, JSON{"marketId": w.Market, "name": "mine"})
	w.Clip = w.StoreClip(t, w.Market)
	return w
}

// StoreClip stores a ready clip of a broadcast of the operator in the database and returns its ID.
func (o *Operator) StoreClip(t testing.TB, market string) string {
	t.Helper()
	return Query[string](t, o.s, `INSERT INTO hub.clips (id, handle, market_id, url, status, created_by, created_at, ready_at)
		VALUES (gen_random_uuid(), $1, $2, 'https://video.example/clip.m3u8', 'ready', $1, now(), now()) RETURNING id::text`,
		o.Handle, market)
}

// NewWebhook registers a webhook on QuietChannel and returns the ID and the secret of the webhook.
func (o *Operator) NewWebhook(t testing.TB, url string) (id, secret string) {
	t.Helper()
	a := o.Do(t, http.MethodPost, o.s.API+"/api/v1/webhooks", Bearer(o.Key), Body(JSON{"url": url, "channels": []string{QuietChannel}})).
		Require(http.StatusCreated)
	return a.Text("id"), a.Text("secret")
}

// NewStation registers a partner station for the operator. The station is not approved.
func (o *Operator) NewStation(t testing.TB, id string) {
	t.Helper()
	o.Do(t, http.MethodPost, o.s.API+"/api/v1/stations", Bearer(o.Key), Body(JSON{
		"stationId": id, "name": "Station " + id, "url": "https://station.example",
	})).Require(http.StatusCreated)
}

// claimWallet links a new wallet to the user at the identity provider and claims the wallet at the hub.
func (w *Owner) claimWallet(t testing.TB) {
	t.Helper()
	w.Wallet = NewWallet()
	w.LinkWallet(t, w.Wallet)
	minted := Post(t, w.s.IDP+"/mint", Body(JSON{"user": w.Handle})).Require(http.StatusOK)
	w.Login, w.IdentityToken = minted.Text("token"), minted.Text("identityToken")
	w.ClaimIdentity(t, w.Wallet, w.Browser, Header("Privy-Id-Token", w.IdentityToken)).Require(http.StatusOK)
}

// NewWallet returns a random Ethereum address.
func NewWallet() string {
	address := make([]byte, 20)
	_, _ = rand.Read(address) // never returns an error
	return "0x" + hex.EncodeToString(address)
}

// LinkWallet links a wallet address to the user of the operator at the identity provider.
func (o *Operator) LinkWallet(t testing.TB, address string) {
	t.Helper()
	body := Body(JSON{"address": address, "chainType": "ethereum"})
	Post(t, o.s.IDP+"/users/did:idp:"+o.Handle+"/wallets", body).Require(http.StatusOK)
}

// ClaimIdentity claims a linked wallet at the hub and returns the response. The parameter as sets the credentials.
func (o *Operator) ClaimIdentity(t testing.TB, address string, as ...Set) Answer {
	t.Helper()
	return o.Do(t, http.MethodPost, o.s.Hub+"/api/identity/claim", append(as, Body(JSON{"address": address}))...)
}

// holdings is an SQL query that returns the items of an operator as JSON, given its ID and its handle. It omits members that
// change without a request, such as times of last use.
const holdings = `SELECT jsonb_pretty(jsonb_build_object(
	'user', (SELECT to_jsonb(u) FROM api.users u WHERE id = $1),
	'keys', (SELECT jsonb_agg(to_jsonb(k) - 'last_used_at' ORDER BY k.id) FROM api.operator_keys k WHERE user_id = $1),
	'signals', (SELECT jsonb_agg(to_jsonb(s) ORDER BY s.id) FROM api.signals s WHERE user_id = $1),
	'events', (SELECT jsonb_agg(to_jsonb(v) ORDER BY v.id) FROM api.signal_events v JOIN api.signals s ON s.id = v.signal_id WHERE s.user_id = $1),
	'signal', (SELECT to_jsonb(o) - 'expires_at' FROM hub.overlay_signals o WHERE handle = $2),
	'streamer', (SELECT to_jsonb(r) FROM hub.streamer_profiles r WHERE handle = $2),
	'sessions', (SELECT jsonb_agg(to_jsonb(v) ORDER BY v.id) FROM hub.live_sessions v WHERE handle = $2),
	'streams', (SELECT jsonb_agg(to_jsonb(b) ORDER BY b.market_id) FROM hub.streams b WHERE handle = $2),
	'follows', (SELECT jsonb_agg(to_jsonb(f) ORDER BY f.followed) FROM hub.follows f WHERE follower = $1),
	'claims', (SELECT jsonb_agg(to_jsonb(c) ORDER BY c.station) FROM hub.identity_claims c WHERE user_id = $1),
	'apps', (SELECT jsonb_agg(to_jsonb(p) ORDER BY p.id) FROM hub.apps p WHERE owner_id = $1),
	'grants', (SELECT jsonb_agg(to_jsonb(g) - 'last_used_at' ORDER BY g.id) FROM hub.grants g WHERE user_id = $1),
	'tokens', (SELECT jsonb_agg(to_jsonb(t) ORDER BY t.hash) FROM hub.access_tokens t JOIN hub.grants g ON g.id = t.grant_id WHERE g.user_id = $1),
	'refresh', (SELECT jsonb_agg(to_jsonb(t) ORDER BY t.hash) FROM hub.refresh_tokens t JOIN hub.grants g ON g.id = t.grant_id WHERE g.user_id = $1),
	'signers', (SELECT jsonb_agg(to_jsonb(n) ORDER BY n.public_key) FROM hub.signers n WHERE denpa_id = $1),
	'messages', (SELECT count(*) FROM hub.messages m WHERE denpa_id = $1),
	'stations', (SELECT jsonb_agg(to_jsonb(s) ORDER BY s.station_id) FROM api.stations s WHERE user_id = $1),
	'webhooks', (SELECT jsonb_agg(to_jsonb(w) - 'taken' ORDER BY w.id) FROM api.webhooks w WHERE user_id = $1),
	'deliveries', (SELECT count(*) FROM api.webhook_deliveries d JOIN api.webhooks w ON w.id = d.webhook_id WHERE w.user_id = $1)))`

// Holdings returns the items that the operator owns, as JSON with one member per line. Tests compare two results to detect
// changes.
func (o *Operator) Holdings(t testing.TB) string {
	t.Helper()
	return Query[string](t, o.s, holdings, o.ID, o.Handle)
}
