package postgres_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/hub/internal/message"
)

func TestClockChanges(t *testing.T) {
	testkit.ClockChanges(t, "challenge", midday, func(t *testing.T, m *testkit.Machine) {
		d := newDesk(t)
		d.Service = message.NewService(message.Config{
			Issuer: issuer, Now: m.Now, NewID: func() string { return uuid.Must(uuid.NewV7()).String() },
			Keys: d.Keys, Store: d.store, Apply: d.ledger.Apply, Moderation: shownText{},
		})
		good, late := newClient("alice", alice), newClient("late", alice)
		asked, tooLate := good.ask(t, d, nil), late.ask(t, d, nil)
		m.Advance(message.ChallengeAge - time.Second)
		m.ChangeClock()
		if _, err := d.RegisterSigner(t.Context(), good.owner, asked); err != nil {
			t.Errorf("a second before the expiry: %v", err)
		}
		m.Advance(time.Second)
		refuses(t, "challenge_expired")(d.RegisterSigner(t.Context(), late.owner, tooLate))
	})
}
