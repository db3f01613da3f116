package oidc

import (
	"encoding/json"
	"testing"
	"time"
)

// FuzzIdentity checks that identity accepts only payloads with a subject and a valid issue time, and returns only
// wallets with an address.
func FuzzIdentity(f *testing.F) {
	for _, seed := range []string{
		`{"sub":"a","iat":1,"exp":9e9,"linked_accounts":"[{\"type\":\"wallet\",\"address\":\"0x1\",\"lv\":1}]"}`,
		`{"sub":"a","iat":1,"exp":9e9,"w":{"x":["0x1",{"address":"0x2"}]}}`,
		`{"sub":"a","iat":1,"exp":9e9,"linked_accounts":"[null,7,{\"type\":7}]"}`,
		`{"sub":"a","iat":1,"exp":9e9,"w":{"x":{"address":{}}}}`, `{"w":null}`, `{}`, `null`,
	} {
		f.Add([]byte(seed))
	}
	now := time.Unix(1_790_000_000, 0)
	f.Fuzz(func(t *testing.T, payload []byte) {
		var c claims
		if json.Unmarshal(payload, &c) != nil {
			return
		}
		for _, from := range []string{WalletsIdentityToken, walletsClaim + "w.x", walletsClaim + "."} {
			who, err := c.identity(Provider{WalletsFrom: from}, now)
			if err == nil && (who.Subject == "" || who.IssuedAt.After(now.Add(leeway))) {
				t.Errorf("wallets from %s: payload %s was accepted as %+v", from, payload, who)
			}
			for _, w := range who.Wallets {
				if from != WalletsIdentityToken && w.Address == "" {
					t.Errorf("wallets from %s: payload %s returned a wallet without an address", from, payload)
				}
			}
		}
	})
}
