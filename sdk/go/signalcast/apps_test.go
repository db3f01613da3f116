package signalcast

import (
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestRegisterSignerSignsTheExpiryItSends checks that the signature covers the expiresAt of the body, also for milliseconds that
// end in zero, because encoding/json encodes 120 ms as .12.
func TestRegisterSignerSignsTheExpiryItSends(t *testing.T) {
	for _, ends := range []string{"2026-11-23T12:00:00.000Z", "2026-11-23T12:00:00.120Z", "2026-11-23T12:00:00.123Z"} {
		t.Run(ends, func(t *testing.T) {
			key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
			signer, err := NewSigner(key)
			if err != nil {
				t.Fatal(err)
			}
			var sent map[string]any
			c, _ := served(t, Options{}, func(_ int, w http.ResponseWriter, r *http.Request) {
				switch {
				case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/signers"):
					if err := json.NewDecoder(r.Body).Decode(&sent); err != nil {
						t.Error(err)
					}
					say(w, 201, `{}`)
				case strings.HasSuffix(r.URL.Path, "/challenge"):
					say(w, 200, fmt.Sprintf(`{"challenge":"abc","expiresAt":%q}`, ends))
				case strings.HasSuffix(r.URL.Path, "/me"):
					say(w, 200, `{"denpaId":"7d0a36a6-58c1-4a3c-9f64-3a1a2a3a4a5a","grant":null}`)
				default:
					say(w, 200, `{"issuer":"https://hub.example"}`)
				}
			})
			if _, err := c.Messages.RegisterSigner(t.Context(), signer, []string{"signal:create"}, "test"); err != nil {
				t.Fatal(err)
			}
			text, _ := sent["expiresAt"].(string)
			if at, err := time.Parse(time.RFC3339, text); err != nil || !at.After(time.Date(2027, 2, 19, 0, 0, 0, 0, time.UTC)) {
				t.Errorf("expiresAt is %q; want 89 days after the challenge", text)
			}
			signed, err := covered(signerPrefix, "https://hub.example", map[string]any{
				"appId": nil, "challenge": "abc", "denpaId": "7d0a36a6-58c1-4a3c-9f64-3a1a2a3a4a5a", "expiresAt": text,
				"publicKey": signer.PublicKey(), "scopes": []string{"signal:create"},
			})
			if err != nil {
				t.Fatal(err)
			}
			proof, _ := sent["proof"].(string)
			signature, err := hex.DecodeString(proof)
			if err != nil || !ed25519.Verify(key.Public().(ed25519.PublicKey), signed, signature) {
				t.Errorf("the proof does not cover expiresAt %q of the body", text)
			}
		})
	}
}
