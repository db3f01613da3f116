package oidc_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/signalcast/signalcast/pkg/oidc"
)

// TestConfigHidesSecrets checks that errors do not contain parts of the setting, and that a printed configuration does
// not contain the secret of a users API.
func TestConfigHidesSecrets(t *testing.T) {
	t.Parallel()
	const fine = `{"name":"a","issuer":"privy.io","audience":"app","jwksURL":"https://x/jwks"}`
	for _, secret := range []string{
		`[{"name":"c4narY","issuer":"c4narY","audience":"app","algs":["c4narY"],"walletsFrom":"c4narY","usersAPI":"c4narY","usersSecret":"c4narY"}]`,
		`[{"name":"a","usersSecret":c4narY}]`, `[{"name":"a","c4narY":""}]`, `[{"name":["c4narY"]}]`,
	} {
		if _, err := oidc.ParseConfig(secret); err == nil || strings.Contains(err.Error(), "c4narY") {
			t.Errorf("configuration %s: error %v; want one without the secret", secret, err)
		}
	}
	c, err := oidc.ParseConfig(`[` + strings.Replace(fine, "}", `,"usersSecret":"c4narY"}`, 1) + `]`)
	if err != nil || c.Providers[0].UsersSecret.Reveal() != "c4narY" || strings.Contains(fmt.Sprintf("%v %+v %#v", c, c, c), "c4narY") {
		t.Errorf("configuration %+v, error %v; want a secret that is not printed", c, err)
	}
}
