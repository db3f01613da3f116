package oidc_test

import (
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/oidc"
	"github.com/signalcast/signalcast/pkg/testkit"
)

func TestClockChanges(t *testing.T) {
	newVerifier := func(t *testing.T, m *testkit.Machine) (*bundle, *oidc.Verifier) {
		t.Helper()
		b := setup(t)
		return b, oidc.NewVerifier(oidc.Config{Providers: []oidc.Provider{b.provider("main")}}, m.Now)
	}
	testkit.ClockChanges(t, "login", noon, func(t *testing.T, m *testkit.Machine) {
		b, v := newVerifier(t, m)
		token := b.sign(t, "key-1", validClaims(set{"exp": noon.Unix() + 600}))
		m.Advance(599 * time.Second)
		m.ChangeClock()
		if _, err := v.Verify(t.Context(), token); err != nil {
			t.Errorf("a token before its expiry was rejected: %v", err)
		}
		m.Advance(62 * time.Second) // beyond the tolerance of one minute for clock differences
		if _, err := v.Verify(t.Context(), token); err == nil {
			t.Error("an expired token was accepted")
		}
	})
	testkit.ClockChanges(t, "key cache", noon, func(t *testing.T, m *testkit.Machine) {
		b, v := newVerifier(t, m)
		token := b.sign(t, "key-1", validClaims(set{"exp": noon.Unix() + 7200}))
		verify := func(fetches int) {
			t.Helper()
			if _, err := v.Verify(t.Context(), token); err != nil || b.fetched() != fetches {
				t.Errorf("%d key requests, want %d; error %v", b.fetched(), fetches, err)
			}
		}
		verify(1)
		m.Advance(59 * time.Minute)
		m.ChangeClock()
		verify(1)
		m.Advance(time.Minute)
		verify(2)
	})
}
