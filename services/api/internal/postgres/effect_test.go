package postgres

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/operator"
	"github.com/signalcast/signalcast/services/api/internal/resolution"
	"github.com/signalcast/signalcast/services/api/internal/signal"
)

// messageID returns the id of the n-th signed message of a test.
func messageID(n int) string { return fmt.Sprintf("msg_%064x", n) }

// lanes returns a market.Classify that assigns the lane OTHER to every market.
func lanes() market.Classify {
	return market.Classify{
		Lane:     func(string, []string) protocol.Lane { return protocol.LaneOther },
		Category: func(protocol.Lane, string, []string) string { return "" },
	}
}

func (b *bundle) draft(by string, message int) market.Draft {
	return market.Draft{
		Question: "Will the mill race be dry?", CutoffAt: b.clock.Now().Add(48 * time.Hour), Lane: protocol.LaneScience,
		CreatedBy: by, MessageID: messageID(message),
	}
}

func limited(err error) bool { return apperr.Of(err).Kind == apperr.Limited }

func TestOneMarketForAMessage(t *testing.T) {
	t.Parallel()
	b := setup(t)
	mara, _ := b.operator("mara_k")
	s := market.NewService(b.Store, nil, lanes(), true, b.clock.Now)
	var wg sync.WaitGroup
	ids := make([]protocol.MarketID, 8)
	for i := range ids {
		wg.Go(func() {
			m, err := s.CreateNative(t.Context(), b.draft(mara, 1))
			if err != nil {
				t.Error(err)
			}
			ids[i] = m.ID
		})
	}
	wg.Wait()
	for _, id := range ids {
		if id == "" || id != ids[0] {
			t.Errorf("one message created the markets %v", ids)
		}
	}
	if n := b.count(`SELECT count(*) FROM api.markets`); n != 1 {
		t.Errorf("%d markets, want 1", n)
	}
	late := b.draft(mara, 1)
	b.clock.Advance(60 * time.Hour) // the dates of the message would be rejected now
	if m, err := s.CreateNative(t.Context(), late); err != nil || m.ID != ids[0] || m.Status != protocol.MarketClosed {
		t.Errorf("the same message later: %v, %v", m.ID, err)
	}
}

func TestFiveMarketsADay(t *testing.T) {
	t.Parallel()
	b := setup(t)
	mara, _ := b.operator("mara_k")
	joe, _ := b.operator("joe")
	s := market.NewService(b.Store, nil, lanes(), true, b.clock.Now)
	for n := range market.MaxDaily {
		if _, err := s.CreateNative(t.Context(), b.draft(mara, n)); err != nil {
			t.Fatal(err)
		}
		b.clock.Advance(time.Hour)
	}
	_, err := s.CreateNative(t.Context(), b.draft(mara, 100))
	f := apperr.Of(err)
	if !limited(err) || f.Extra["limit"] != market.MaxDaily || f.Extra["retryAfterMs"] != (19*time.Hour).Milliseconds() {
		t.Errorf("sixth market: %v %v", err, f.Extra)
	}
	if _, err := s.CreateNative(t.Context(), b.draft(mara, 2)); err != nil {
		t.Errorf("repeated message of one of the five: %v", err)
	}
	if _, err := s.CreateNative(t.Context(), b.draft(joe, 101)); err != nil {
		t.Errorf("market of another operator: %v", err)
	}
	b.clock.Advance(19 * time.Hour)
	if _, err := s.CreateNative(t.Context(), b.draft(mara, 100)); err != nil {
		t.Errorf("24 hours after the first market: %v", err)
	}
}

func TestOnlyHumansCreateMarkets(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := market.NewService(b.Store, nil, lanes(), true, b.clock.Now)
	n := 0
	for name, c := range map[string]struct {
		change string
		made   bool
	}{
		"independent": {"", true},
		"house":       {"is_house = true", true},
		"agent":       {"operator_type = 'ai_agent'", false},
		"bot":         {"operator_type = 'system_bot'", false},
		"seeded":      {"seeded = true", false},
	} {
		id, _ := b.operator(name)
		if c.change != "" {
			b.exec(`UPDATE api.users SET `+c.change+` WHERE id = $1`, id)
		}
		n++
		_, err := s.CreateNative(t.Context(), b.draft(id, n))
		if (err == nil) != c.made || err != nil && !errors.Is(err, market.ErrTier) {
			t.Errorf("native market of an operator of kind %s: %v", name, err)
		}
	}
	if _, err := s.CreateNative(t.Context(), b.draft("0199f0a4-0000-7000-8000-00000000dead", 99)); apperr.Of(err).Kind != apperr.Forbidden {
		t.Errorf("unknown operator: %v", err)
	}
}

func TestProfileOfAMessage(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, _ := b.operator("mara_k")
	s := operator.NewService(b.Store, "0123456789abcdef0123456789abcdef", b.clock.Now)
	text := func(v string) *string { return &v }
	update := func(n int, p operator.Profile) operator.Operator {
		t.Helper()
		if err := s.UpdateProfile(t.Context(), id, messageID(n), p); err != nil {
			t.Fatal(err)
		}
		return must(s.Operator(t.Context(), "", id))(t)
	}
	wallet := "0x" + strings.Repeat("Ab", 20)
	first := operator.Profile{
		DisplayName: text("Mara"), Bio: text("rivers"), Avatar: operator.Change{Given: true, Text: text("https://a.example/m.png")},
		Links: []string{"https://m.example"}, PayoutAddress: operator.Change{Given: true, Text: &wallet},
	}
	o := update(1, first)
	if o.DisplayName != "Mara" || *o.Bio != "rivers" || *o.AvatarURL != "https://a.example/m.png" || len(o.Links) != 1 || *o.PayoutAddress != wallet {
		t.Errorf("after the first message: %+v", o)
	}
	o = update(2, operator.Profile{Bio: text("lakes"), Avatar: operator.Change{Given: true}, Links: []string{}})
	if o.DisplayName != "Mara" || *o.Bio != "lakes" || o.AvatarURL != nil || len(o.Links) != 0 || *o.PayoutAddress != wallet {
		t.Errorf("after the second message: %+v", o)
	}
	if o = update(1, first); *o.Bio != "lakes" || o.AvatarURL != nil {
		t.Errorf("repeating the first message undid the second: %+v", o)
	}
	if err := s.UpdateProfile(t.Context(), "0199f0a4-0000-7000-8000-00000000dead", messageID(3), first); apperr.Of(err).Kind != apperr.Forbidden {
		t.Errorf("unknown operator: %v", err)
	}
}

func TestSnapshotOfFifteenMinutes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.venueMarket("1", 3150)
	s := market.NewService(b.Store, nil, lanes(), true, b.clock.Now)
	price := func() *protocol.Bps {
		t.Helper()
		return must(s.Snapshot(t.Context(), "1"))(t)
	}
	for _, age := range []time.Duration{0, market.LiveFor + time.Second, market.SnapshotAge} {
		b.clock.Set(noon.Add(age))
		if yes := price(); yes == nil || *yes != 3150 {
			t.Errorf("snapshot after %s: %v", age, yes)
		}
	}
	b.clock.Advance(time.Millisecond)
	if yes := price(); yes != nil {
		t.Errorf("an expired snapshot was returned: %v", *yes)
	}
	if _, err := s.Snapshot(t.Context(), "2"); !errors.Is(err, market.ErrNotFound) {
		t.Errorf("unknown market: %v", err)
	}
}

// TestACallIsTheSameAfterTheClose checks that a repeated signed message returns its first call, also after the market has
// closed or has an outcome.
func TestACallIsTheSameAfterTheClose(t *testing.T) {
	t.Parallel()
	s := newProposals(t)
	d := newDraft(s.market, protocol.Yes, 5000)
	caller := signal.Caller{OperatorID: s.mara}
	if f := s.try(caller, d); f.Verdict != signal.VerdictFiled {
		t.Fatal(f)
	}
	again := func(when string) {
		t.Helper()
		if f := s.try(caller, d); f.Verdict != signal.VerdictReplay || f.FirstID != d.ID {
			t.Errorf("repeated call %s: %+v", when, f)
		}
		if f := s.try(caller, newDraft(s.market, protocol.Yes, 5000)); f.Verdict != signal.VerdictDuplicate || f.FirstID != d.ID {
			t.Errorf("%s, new message: %+v", when, f)
		}
	}
	again("open")
	if err := s.propose(1, protocol.VerdictYes); err != nil {
		t.Fatal(err)
	}
	again("provisional")
	if _, err := s.resolves.Finalize(t.Context(), resolution.Claim{MarketID: s.market, Verdict: protocol.VerdictNo}); err != nil {
		t.Fatal(err)
	}
	again("resolved")
}
