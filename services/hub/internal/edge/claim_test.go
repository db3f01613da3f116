package edge_test

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/signalcast/signalcast/pkg/idp"
	"github.com/signalcast/signalcast/services/hub/internal/memledger"
)

func TestIdentityClaim(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.people.linked["did:idp:mara_k"] = []string{strings.ToLower(wallet)}
	golden(t, "claim/none", b.send("GET", "/api/identity/claim", "", b.bySession()))
	golden(t, "claim/made", b.send("POST", "/api/identity/claim", `{"station":"partner","address":"`+wallet+`"}`, b.bySession(), withIdentity("id.did:idp:mara_k.token")))
	if b.people.seen != "id.did:idp:mara_k.token" {
		t.Errorf("the provider was shown %q", b.people.seen)
	}
	want(t, b.send("POST", "/api/identity/claim", `{"address":"`+strings.ToLower(wallet)+`"}`, b.bySession()), 200, "") // the only station is meant
	golden(t, "claim/list", b.send("GET", "/api/identity/claim", "", b.bySession()))
	public := b.send("GET", "/api/network/identity/MARA_K", "")
	golden(t, "claim/network", public)
	if public.Header().Get("Access-Control-Allow-Origin") != "*" || public.Header().Get("Etag") == "" {
		t.Errorf("headers %v", public.Header())
	}
	want(t, b.send("DELETE", "/api/identity/claim?station=other", "", b.bySession()), 400, "invalid_station")
	golden(t, "claim/dropped", b.send("DELETE", "/api/identity/claim?station=partner", "", b.bySession()))
	golden(t, "claim/dropped_again", b.send("DELETE", "/api/identity/claim", "", b.bySession()))
	golden(t, "claim/network_none", b.send("GET", "/api/network/identity/mara_k", ""))
	want(t, b.send("GET", "/api/network/identity/nobody_there", ""), 404, "not_found")
	want(t, b.send("GET", "/api/network/identity/no%20handle", ""), 404, "not_found")
}

// TestClaimsThatAreRefused: what is not proven is not kept.
func TestClaimsThatAreRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.people.linked["did:idp:mara_k"] = []string{wallet}
	claiming := func(body string, headers ...header) (int, string) {
		w := b.send("POST", "/api/identity/claim", body, append(headers, b.bySession())...)
		return w.Code, field(w, "error")
	}
	address := func(a string) string { return `{"address":"` + a + `"}` }
	for body, want := range map[string]string{
		`{}`:                              "missing_address",
		`{"address":null}`:                "missing_address",
		`{"address":7}`:                   "invalid_address",
		`{"station":7,"address":"0x"}`:    "invalid_station",
		`{"station":"else","address":""}`: "missing_address",
		`{"station":"else","address":"` + wallet + `"}`:    "invalid_station",
		`{"station":"PARTNER","address":"` + wallet + `"}`: "invalid_station",
		address("0x"):         "invalid_address",
		address(wallet[:41]):  "invalid_address",
		address(wallet + "0"): "invalid_address",
		address(strings.ToLower(wallet[:20]) + wallet[20:]): "invalid_address", // neither one case nor the checksum
		address("0X" + wallet[2:]):                          "invalid_address",
		address(" " + wallet):                               "invalid_address",
		address(strings.Repeat("1", 44)):                    "invalid_address",
		address("0OIl" + strings.Repeat("1", 30)):           "invalid_address",
		`[]`: "invalid_body",
	} {
		if status, code := claiming(body); status != 400 || code != want {
			t.Errorf("%s: %d %s, want %s", body, status, code, want)
		}
	}
	if status, code := claiming(address("0x" + strings.Repeat("1", 40))); status != 403 || code != "wallet_not_linked" {
		t.Errorf("another wallet: %d %s", status, code)
	}
	for name, token := range map[string]string{"foreign": "id.did:idp:bob.token", "broken": "x", "empty": ""} {
		if status, code := claiming(address(wallet), withIdentity(token)); status != 401 || code != "unauthenticated" {
			t.Errorf("%s identity token: %d %s", name, status, code)
		}
	}
	b.people.away = idp.ErrUnavailable
	w := b.send("POST", "/api/identity/claim", address(wallet), b.bySession())
	want(t, w, 503, "identity_provider_unavailable")
	if w.Header().Get("Retry-After") == "" {
		t.Errorf("headers %v", w.Header())
	}
	b.people.away, b.people.fail = nil, memledger.ErrDB
	want(t, b.send("POST", "/api/identity/claim", address(wallet), b.bySession()), 503, "db_unavailable")
	b.people.fail = nil
	for _, method := range []string{"POST", "GET", "DELETE"} {
		body := map[string]string{"POST": address(wallet)}[method]
		want(t, b.send(method, "/api/identity/claim", body), 401, "unauthenticated")
		want(t, b.send(method, "/api/identity/claim", body, b.byKey()), 401, "unauthenticated")
		want(t, b.send(method, "/api/identity/claim", body, byLogin("mara_k")), 401, "unauthenticated")
		if method != "GET" {
			want(t, b.send(method, "/api/identity/claim", body, with("Cookie", b.cookie)), 403, "forbidden")
		}
	}
	if n := len(b.people.claims); n != 0 {
		t.Errorf("%d claims", n)
	}
}

func TestPayout(t *testing.T) {
	t.Parallel()
	b := setup(t)
	golden(t, "claim/payout_unset", b.send("GET", "/api/network/payout/mara_k", ""))
	for _, nobody := range []string{"nobody_there", "x", "no%20handle"} {
		w := b.send("GET", "/api/network/payout/"+nobody, "")
		if w.Code != 200 || w.Body.String() != `{"eligible":false}` {
			t.Errorf("%s: %d %s", nobody, w.Code, w.Body)
		}
	}
	set := func(kind, tier string) {
		b.ledger.Lock()
		defer b.ledger.Unlock()
		op := b.ledger.Operators[b.mara.GetId()]
		op.PayoutAddress, op.OperatorType, op.Tier = proto.String("0x2222222222222222222222222222222222222222"), kind, tier
	}
	set("human", "independent")
	golden(t, "claim/payout", b.send("GET", "/api/network/payout/mara_k", ""))
	for tier, kind := range map[string]string{"house": "human", "automated": "ai_agent"} {
		set(kind, tier)
		if w := b.send("GET", "/api/network/payout/mara_k", ""); field(w, "eligible") != map[string]string{"house": "true", "automated": "false"}[tier] {
			t.Errorf("%s: %s", tier, w.Body)
		}
	}
}
