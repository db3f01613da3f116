package app

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/hub/internal/edge"
	"github.com/signalcast/signalcast/services/hub/internal/message"
)

const protocol = "/api/protocol/v1"

// signerOf makes a key a signer of a key's owner by the front door.
func signerOf(t *testing.T, h *hub, key, denpaID string) ed25519.PrivateKey {
	t.Helper()
	seed := sha256.Sum256([]byte(key))
	private := ed25519.NewKeyFromSeed(seed[:])
	public := hex.EncodeToString(private[32:])
	by := []string{"Authorization", "Bearer " + key}
	status, _, body := h.do("POST", protocol+"/signers/challenge", fmt.Sprintf(`{"publicKey":%q}`, public), by...)
	var c struct{ Challenge string }
	if err := json.Unmarshal([]byte(body), &c); err != nil || status != 200 {
		t.Fatal(status, body)
	}
	d := message.SignerDraft{PublicKey: public, Scopes: []string{"signal:create", "broadcast:create"}, Challenge: c.Challenge, ExpiresAt: syntax.Stamp(time.Now().Add(24 * time.Hour))}
	proof, err := message.SignerProof("http://hub.test"+protocol, message.Owner{DenpaID: denpaID}, d)
	if err != nil {
		t.Fatal(err)
	}
	d.Proof = hex.EncodeToString(ed25519.Sign(private, proof))
	raw, err := json.Marshal(map[string]any{"publicKey": public, "scopes": d.Scopes, "challenge": d.Challenge, "expiresAt": d.ExpiresAt, "proof": d.Proof})
	if err != nil {
		t.Fatal(err)
	}
	if status, _, body = h.do("POST", protocol+"/signers", string(raw), by...); status != 201 {
		t.Fatal(status, body)
	}
	return private
}

func signed(t *testing.T, private ed25519.PrivateKey, denpaID, kind, nonce string, payload any) string {
	t.Helper()
	m := map[string]any{
		"version": 1, "type": kind, "denpaId": denpaID, "appId": nil, "timestamp": time.Now().UnixMilli(), "nonce": nonce,
		"payload": payload, "signer": map[string]any{"kind": "ed25519", "publicKey": hex.EncodeToString(private[32:])},
	}
	raw, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	canonical, err := message.Canonical(raw)
	if err != nil {
		t.Fatal(err)
	}
	m["signature"] = hex.EncodeToString(ed25519.Sign(private, []byte("denpa-message-v1\nhttp://hub.test"+protocol+"\n"+string(canonical))))
	if raw, err = json.Marshal(m); err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// patient submits a message as a sender does: what is left open by a part that is too
// busy is sent again.
func (h *hub) patient(raw string) (status int, body string) {
	for range 20 {
		if status, _, body = h.do("POST", protocol+"/messages", raw); status != 503 {
			break
		}
	}
	return status, body
}

// One message that comes to two hubs fifty times at once is one call; what one hub
// knows the other knows.
func TestOneMessageAtTwoHubs(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	w.environ["REDIS_TIMEOUT"] = "5s"
	hubs := []*hub{w.hub(), w.hub()}
	mara := w.ledger.AddOperator("mara_k").GetId()
	key := w.ledger.AddKey(mara)
	private := signerOf(t, hubs[0], key, mara)
	raw := signed(t, private, mara, "signal.create", "a-nonce-of-this-test", map[string]any{"marketId": "701122", "position": "YES", "priceBps": 3150})
	var made, again atomic.Int32
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			switch status, body := hubs[i%2].patient(raw); {
			case status == 201:
				made.Add(1)
			case status == 200 && strings.Contains(body, `"replayed":true`):
				again.Add(1)
			default:
				t.Error(status, body)
			}
		})
	}
	wg.Wait()
	if made.Load() != 1 || again.Load() != 49 || len(w.ledger.Signals) != 1 {
		t.Errorf("%d made, %d again, %d signals", made.Load(), again.Load(), len(w.ledger.Signals))
	}
	public := hex.EncodeToString(private[32:])
	if status, _, body := hubs[1].do("DELETE", protocol+"/signers/"+public, "", "Authorization", "Bearer "+key); status != 200 {
		t.Error(status, body)
	}
	late := signed(t, private, mara, "signal.create", "another-nonce-of-this-test", map[string]any{"marketId": "701122", "position": "YES"})
	if status, _, body := hubs[0].do("POST", protocol+"/messages", late); status != 401 || !strings.Contains(body, `"signer_revoked"`) {
		t.Error(status, body)
	}
	for _, h := range hubs {
		if strings.Contains(h.logs.String(), good()["HUB_KEYS"][10:60]) {
			t.Error("the hub's key is in the log")
		}
	}
}

// Thirty messages of one key in any minute over all hubs, however they race.
func TestMessageLimitOverTwoHubs(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	w.environ["REDIS_TIMEOUT"] = "5s"
	hubs := []*hub{w.hub(), w.hub()}
	mara := w.ledger.AddOperator("mara_k").GetId()
	private := signerOf(t, hubs[0], w.ledger.AddKey(mara), mara)
	var taken, limited atomic.Int32
	var wg sync.WaitGroup
	kept := make([]string, 2*edge.MessageLimit)
	turns := make(chan struct{}, 6) // a busy database answers 503, and a message that is sent again counts again
	for i := range 2 * edge.MessageLimit {
		raw := signed(t, private, mara, "broadcast.create", fmt.Sprintf("nonce-of-the-limit-%d", i), map[string]any{"title": "abc"})
		wg.Go(func() {
			turns <- struct{}{}
			defer func() { <-turns }()
			switch status, _, body := hubs[i%2].do("POST", protocol+"/messages", raw); status {
			case 201:
				taken.Add(1)
				kept[i] = raw
			case 429:
				limited.Add(1)
			default:
				t.Error(status, body)
			}
		})
	}
	wg.Wait()
	if taken.Load() != edge.MessageLimit || limited.Load() != edge.MessageLimit {
		t.Errorf("%d taken, %d limited", taken.Load(), limited.Load())
	}
	// Kept messages are public: whoever sends them again, to a hub that has not seen
	// them, uses up nothing, and hears what became of them.
	for i, raw := range kept {
		if raw == "" {
			continue
		}
		if status, body := hubs[1-i%2].patient(raw); status != 200 {
			t.Error(status, body)
		}
	}
}

// seedKey is the public half of a key made of a name.
func seedKey(name string) []byte {
	seed := sha256.Sum256([]byte(name))
	return ed25519.NewKeyFromSeed(seed[:])[32:]
}
