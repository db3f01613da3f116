package stack

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// ForgeLogin returns an identity token with any claims, signed with the key of the development issuer, for claims that the
// issuer itself never makes. Claims that are not given are valid.
func (s *Stack) ForgeLogin(t testing.TB, claims JSON) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(s.dir, "idp", "keys.json"))
	if err != nil {
		t.Fatal(err)
	}
	var set struct{ Keys []struct{ Kid, D string } }
	if err := json.Unmarshal(raw, &set); err != nil {
		t.Fatal(err)
	}
	key := set.Keys[len(set.Keys)-1]
	d, err := base64.RawURLEncoding.DecodeString(key.D)
	if err != nil {
		t.Fatal(err)
	}
	private, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), d)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now().Unix()
	all := JSON{"iss": s.IDP, "aud": "signalcast-dev", "iat": now, "exp": now + 600, "sid": "forged"}
	maps.Copy(all, claims)
	signed := segment(t, JSON{"alg": "ES256", "typ": "JWT", "kid": key.Kid}) + "." + segment(t, all)
	sum := sha256.Sum256([]byte(signed))
	a, b, err := ecdsa.Sign(rand.Reader, private, sum[:])
	if err != nil {
		t.Fatal(err)
	}
	half := func(n *big.Int) []byte { return n.FillBytes(make([]byte, 32)) }
	return signed + "." + base64.RawURLEncoding.EncodeToString(append(half(a), half(b)...))
}

// segment returns a part of a JSON Web Token.
func segment(t testing.TB, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return base64.RawURLEncoding.EncodeToString(raw)
}
