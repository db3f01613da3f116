package oidc_test

import (
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/oidc"
	"github.com/signalcast/signalcast/pkg/testkit"
)

func TestTimeDoesNotFool(t *testing.T) {
	rig := func(t *testing.T, m *testkit.Machine) (*bundle, *oidc.Verifier) {
		t.Helper()
		b := setup(t)
		return b, oidc.NewVerifier(oidc.Config{Providers: []oidc.Provider{b.provider("main")}}, m.Now)
	}
	testkit.Tricks(t, "login", noon, func(t *testing.T, m *testkit.Machine) {
		b, v := rig(t, m)
		token := b.sign(t, "key-1", good(set{"exp": noon.Unix() + 600}))
		m.Pass(599 * time.Second)
		m.Trick()
		if _, err := v.Verify(t.Context(), token); err != nil {
			t.Errorf("before its end: %v", err)
		}
		m.Pass(62 * time.Second) // with the minute that clocks may be apart
		if _, err := v.Verify(t.Context(), token); err == nil {
			t.Error("a token does not end")
		}
	})
	testkit.Tricks(t, "key cache", noon, func(t *testing.T, m *testkit.Machine) {
		b, v := rig(t, m)
		token := b.sign(t, "key-1", good(set{"exp": noon.Unix() + 7200}))
		look := func(fetches int) {
			t.Helper()
			if _, err := v.Verify(t.Context(), token); err != nil || b.fetched() != fetches {
				t.Errorf("%d fetches, not %d: %v", b.fetched(), fetches, err)
			}
		}
		look(1)
		m.Pass(59 * time.Minute)
		m.Trick()
		look(1)
		m.Pass(time.Minute)
		look(2)
	})
}
