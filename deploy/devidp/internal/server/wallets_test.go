package server_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/config"
	"github.com/signalcast/signalcast/pkg/oidc"
)

// TestWalletsAreVerified checks that the services accept only linked wallets, in both token profiles. The services read wallets
// from identity tokens and from the users API.
func TestWalletsAreVerified(t *testing.T) {
	t.Parallel()
	i := start(t, t.TempDir(), "")
	const wallet = "0x52908400098527886E0F7030069857D2E4169EE7"
	for profile, issuer := range map[string]string{"oidc": i.url, "privy": "privy.io"} {
		row := oidc.Provider{
			Name: profile, Issuer: issuer, Audience: "signalcast-dev", Algs: []string{"ES256"}, JWKSURL: i.url + "/jwks.json",
			WalletsFrom: oidc.WalletsIdentityToken, UsersAPI: i.url + "/dev/idp", UsersSecret: config.NewSecret("pw"),
		}
		wrong := row
		wrong.UsersSecret = config.NewSecret("guess")
		quiet := row
		quiet.UsersAPI = ""
		ask := func(row oidc.Provider, subject, token string) (bool, error) {
			v := oidc.NewVerifier(oidc.Config{Providers: []oidc.Provider{row}}, time.Now)
			return v.Linked(t.Context(), issuer, subject, token, func(w oidc.Wallet) bool {
				return w.Chain == "ethereum" && strings.EqualFold(w.Address, wallet)
			})
		}
		_, alice, token := i.mint(`{"user":"alice","profile":"` + profile + `"}`)
		_, _, old := i.mint(`{"user":"alice","age":301,"profile":"` + profile + `"}`)
		_, bob, bobs := i.mint(`{"user":"bob","profile":"` + profile + `"}`)
		for name, c := range map[string]struct {
			row            oidc.Provider
			subject, token string
			linked         bool
			err            error
		}{
			"token only":                   {quiet, alice, token, true, nil},
			"old token":                    {quiet, alice, old, false, nil},
			"old token and users API":      {row, alice, old, true, nil},
			"users API":                    {row, alice, "", true, nil},
			"wallet of another person":     {row, bob, bobs, false, nil},
			"token of another person":      {row, bob, token, false, oidc.ErrUnauthenticated},
			"unknown person":               {row, "did:idp:unknown", "", false, nil},
			"wrong password":               {wrong, alice, "", false, oidc.ErrUnavailable},
			"no token and no users API":    {quiet, alice, "", false, nil},
			"wrong password and new token": {wrong, alice, token, true, nil},
		} {
			if linked, err := ask(c.row, c.subject, c.token); linked != c.linked || !errors.Is(err, c.err) {
				t.Errorf("%s, %s: %v %v", profile, name, linked, err)
			}
		}
	}
	_, sub, _ := i.mint(`{"user":"zoe"}`)
	if status, v := i.send("POST", "/users/"+sub+"/wallets", `{"address":"0x00000000000000000000000000000000000000Ab","chainType":"ethereum"}`); status != 200 {
		t.Fatal(status, v)
	}
	_, _, token := i.mint(`{"user":"zoe","profile":"privy"}`)
	who, err := oidc.NewVerifier(oidc.Config{Providers: []oidc.Provider{{
		Name: "p", Issuer: "privy.io", Audience: "signalcast-dev", Algs: []string{"ES256"}, JWKSURL: i.url + "/jwks.json", WalletsFrom: oidc.WalletsIdentityToken,
	}}}, time.Now).VerifyIdentity(t.Context(), "privy.io", sub, token)
	if err != nil || who.Username != "zoe" || len(who.Wallets) != 1 {
		t.Errorf("%+v %v", who, err)
	}
}
