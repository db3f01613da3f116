package grant_test

import (
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/hub/internal/grant"
	"github.com/signalcast/signalcast/services/hub/internal/postgres"
)

// on returns a rig with the database of r, whose server uses the clock of the machine m.
func (r rig) on(t *testing.T, m *testkit.Machine) *rig {
	t.Helper()
	r.t, r.owner = t, newUser()
	store := postgres.NewGrants(testkit.Pool(t, r.db.URL("hub_rw")), readTimeout)
	var err error
	r.Service, err = grant.New(grant.Deps{
		Store: store, Failures: failures(t, m.Now), Now: m.Now,
		Settings: grant.Settings{Issuer: issuer, Resources: []string{mcp}, SuccessorKeys: [][]byte{[]byte(serverKey)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return &r
}

func TestClockChanges(t *testing.T) {
	r := newRig(t)
	testkit.ClockChanges(t, "code", noon, func(t *testing.T, m *testkit.Machine) {
		r := r.on(t, m)
		c := r.app(grant.Public)
		good, late := r.code(c.query()), r.code(c.query())
		m.Advance(59 * time.Second)
		m.ChangeClock()
		r.token("after 59 s", c.redemption(good), "")
		m.Advance(time.Second)
		r.token("after a minute", c.redemption(late), "invalid_grant")
	})
	testkit.ClockChanges(t, "app token", noon, func(t *testing.T, m *testkit.Machine) {
		r := r.on(t, m)
		got := r.tokens(r.app(grant.Public))
		m.Advance(got.ExpiresIn - time.Second)
		m.ChangeClock()
		if !r.lives(got.AccessToken) {
			t.Error("a token expired too early")
		}
		m.Advance(time.Second)
		if r.lives(got.AccessToken) {
			t.Error("a token did not expire")
		}
	})
	testkit.ClockChanges(t, "refresh again", noon, func(t *testing.T, m *testkit.Machine) {
		r := r.on(t, m)
		c := r.app(grant.Public)
		first := r.tokens(c)
		second := r.issued(c.refreshing(first.RefreshToken))
		m.Advance(9 * time.Second)
		m.ChangeClock()
		again, err := r.Token(t.Context(), c.refreshing(first.RefreshToken))
		if err != nil || again.RefreshToken != second.RefreshToken {
			t.Errorf("after 9 s: %v", err)
		}
		m.Advance(2 * time.Second)
		r.token("after 11 s", c.refreshing(first.RefreshToken), "invalid_grant")
	})
}
