package postgres

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/fault"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/operator"
	"github.com/signalcast/signalcast/services/api/internal/resolve"
	"github.com/signalcast/signalcast/services/api/internal/signal"
)

// messageID is the nth message of a test.
func messageID(n int) string { return fmt.Sprintf("msg_%064x", n) }

// lanes puts every market into no category.
func lanes() market.Classify {
	return market.Classify{
		Lane:     func(string, []string) syntax.Lane { return syntax.LaneOther },
		Category: func(syntax.Lane, string, []string) string { return "" },
	}
}

func (b *bundle) draft(by string, message int) market.Draft {
	return market.Draft{
		Question: "Will the mill race be dry?", CutoffAt: b.clock.Now().Add(48 * time.Hour), Lane: syntax.LaneScience,
		CreatedBy: by, MessageID: messageID(message),
	}
}

func limited(err error) bool { return fault.Of(err).Kind == fault.Limited }

func TestOneMarketForAMessage(t *testing.T) {
	t.Parallel()
	b := setup(t)
	mara, _ := b.operator("mara_k")
	s := market.NewService(b.Store, nil, lanes(), true, b.clock.Now)
	var wg sync.WaitGroup
	ids := make([]syntax.MarketID, 8)
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
			t.Errorf("one message made %v", ids)
		}
	}
	if n := b.count(`SELECT count(*) FROM api.markets`); n != 1 {
		t.Errorf("%d markets", n)
	}
	late := b.draft(mara, 1)
	b.clock.Advance(60 * time.Hour) // its dates would be refused now
	if m, err := s.CreateNative(t.Context(), late); err != nil || m.ID != ids[0] || m.Status != syntax.MarketClosed {
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
	f := fault.Of(err)
	if !limited(err) || f.Extra["limit"] != market.MaxDaily || f.Extra["retryAfterMs"] != (19*time.Hour).Milliseconds() {
		t.Errorf("the sixth: %v %v", err, f.Extra)
	}
	if _, err := s.CreateNative(t.Context(), b.draft(mara, 2)); err != nil {
		t.Errorf("one of the five again: %v", err)
	}
	if _, err := s.CreateNative(t.Context(), b.draft(joe, 101)); err != nil {
		t.Errorf("somebody else: %v", err)
	}
	b.clock.Advance(19 * time.Hour)
	if _, err := s.CreateNative(t.Context(), b.draft(mara, 100)); err != nil {
		t.Errorf("a day after the first: %v", err)
	}
}

func TestHumansOfTheirOwnMakeMarkets(t *testing.T) {
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
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := s.CreateNative(t.Context(), b.draft("0199f0a4-0000-7000-8000-00000000dead", 99)); fault.Of(err).Kind != fault.Forbidden {
		t.Errorf("nobody: %v", err)
	}
}

// stand is one native market of mara's with somebody who calls on it.
type stand struct {
	*bundle
	mara, market string
	caller       []byte
	resolves     *resolve.Service
}

func newStand(t *testing.T) *stand {
	t.Helper()
	b := setup(t)
	st := &stand{bundle: b, market: "native-0000000001", resolves: resolve.NewService(b.Store, b.clock.Now)}
	st.mara, _ = b.operator("mara_k")
	_, st.caller = b.operator("joe")
	b.nativeMarket(st.market, 5000)
	b.exec(`UPDATE api.markets SET created_by = $2, end_date = $3 WHERE market_id = $1`, st.market, st.mara, noon.AddDate(1, 0, 0))
	return st
}

func (s *stand) propose(message int, verdict syntax.Verdict) error {
	return s.resolves.Propose(s.t.Context(), resolve.Proposal{
		MarketID: s.market, OperatorID: s.mara, MessageID: messageID(message), Verdict: verdict,
	})
}

// takes tells whether the market takes a call now, without leaving one.
func (s *stand) takes(name string) bool {
	s.t.Helper()
	_, hash := s.operator(name)
	f := s.try(signal.Caller{KeyHash: hash}, newDraft(s.market, syntax.Yes, 5000))
	if f.Verdict != signal.VerdictFiled && f.Verdict != signal.VerdictProvisional && f.Verdict != signal.VerdictSettled {
		s.t.Fatalf("verdict %s", f.Verdict)
	}
	return f.Verdict == signal.VerdictFiled
}

// read is the market as it is served.
func (s *stand) read() market.Market {
	s.t.Helper()
	m, err := market.NewService(s.Store, nil, lanes(), true, s.clock.Now).Get(s.t.Context(), syntax.MarketID(s.market))
	if err != nil {
		s.t.Fatal(err)
	}
	return m
}

// TestLineAfterAProposalThatRanOut: it closes at the claim, as if nothing had been
// proposed, also before anybody has cleared away.
func TestLineAfterAProposalThatRanOut(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		wait time.Duration
		line time.Duration // when it closed, since the proposal
	}{
		"alive":   {market.ProposalLife - time.Second, 0},
		"run out": {market.ProposalLife, market.ProposalLife},
	} {
		s := newStand(t)
		at := s.clock.Now()
		if err := s.propose(1, syntax.VerdictYes); err != nil {
			t.Fatal(err)
		}
		s.clock.Advance(c.wait)
		if _, err := s.resolves.Finalize(t.Context(), resolve.Claim{MarketID: s.market, Verdict: syntax.VerdictNo}); err != nil {
			t.Fatal(err)
		}
		if n := s.count(`SELECT count(*) FROM api.market_resolutions WHERE close_at = $1`, at.Add(c.line)); n != 1 {
			t.Errorf("%s: the line closed at another time", name)
		}
	}
}

func TestProposalHoldsCallsUntilItEnds(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(s *stand) (open bool, err error){
		"it lapses after seven days": func(s *stand) (bool, error) {
			s.clock.Advance(market.ProposalLife - time.Millisecond)
			if err := s.LapseProposals(s.t.Context()); err != nil || s.takes("early") {
				return true, errors.Join(errors.New("it ended too soon"), err)
			}
			s.clock.Advance(time.Millisecond)
			if !s.takes("at the end") { // nobody has cleared away yet
				return true, errors.New("it goes on after seven days")
			}
			if m := s.read(); m.Provisional || m.ProvisionalAt != nil || m.Status != syntax.MarketOpen {
				return true, fmt.Errorf("it is read as provisional: %+v", m)
			}
			return true, s.LapseProposals(s.t.Context())
		},
		"a newer one has seven days of its own": func(s *stand) (bool, error) {
			s.clock.Advance(6 * 24 * time.Hour)
			if err := s.propose(2, syntax.VerdictNo); err != nil {
				return true, err
			}
			s.clock.Advance(market.ProposalLife - time.Millisecond)
			if s.takes("early") || !s.read().Provisional {
				return true, errors.New("it ended with the older one")
			}
			s.clock.Advance(time.Millisecond)
			if !s.takes("at the end") {
				return true, errors.New("it goes on after seven days")
			}
			return true, s.LapseProposals(s.t.Context())
		},
		"a dispute is cleared": func(s *stand) (bool, error) {
			if _, _, err := s.resolves.Dispute(s.t.Context(), s.market, true, nil); err != nil || s.takes("disputed") {
				return true, errors.Join(errors.New("a dispute takes calls"), err)
			}
			_, _, err := s.resolves.Dispute(s.t.Context(), s.market, false, nil)
			return true, err
		},
		"the market is finalized": func(s *stand) (bool, error) {
			_, err := s.resolves.Finalize(s.t.Context(), resolve.Claim{MarketID: s.market, Verdict: syntax.VerdictNo})
			return false, err
		},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			s := newStand(t)
			if !s.takes("first") {
				t.Fatal("an open market takes no call")
			}
			if err := s.propose(1, syntax.VerdictYes); err != nil {
				t.Fatal(err)
			}
			if s.takes("second") {
				t.Error("a market with a proposal takes calls")
			}
			open, err := end(s)
			if err != nil || s.takes("third") != open {
				t.Errorf("afterwards open is not %v: %v", open, err)
			}
			if n := s.count(`SELECT count(*) FROM api.resolution_proposals`); n != 0 {
				t.Errorf("%d proposals are left", n)
			}
			if n := s.count(`SELECT count(*) FROM api.markets WHERE provisional_at IS NOT NULL`); open && n != 0 {
				t.Error("the line stays closed at a proposal that came to nothing")
			}
			if err := s.propose(1, syntax.VerdictYes); err != nil || s.takes("fourth") != open {
				t.Errorf("the old message has an effect again: %v", err)
			}
		})
	}
}

func TestWhoMayPropose(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	s.venueMarket("1", 5000)
	joe, _ := s.operator("joe_x")
	n := 0
	for name, c := range map[string]struct {
		p    resolve.Proposal
		want error
	}{
		"somebody else":  {resolve.Proposal{MarketID: s.market, OperatorID: joe, Verdict: syntax.VerdictYes}, resolve.ErrCreator},
		"no market":      {resolve.Proposal{MarketID: "native-00000000zz", OperatorID: s.mara, Verdict: syntax.VerdictYes}, resolve.ErrNotFound},
		"a venue's":      {resolve.Proposal{MarketID: "1", OperatorID: s.mara, Verdict: syntax.VerdictYes}, resolve.ErrNative},
		"another word":   {resolve.Proposal{MarketID: s.market, OperatorID: s.mara, Verdict: "MAYBE"}, resolve.ErrVerdict},
		"nobody's, then": {resolve.Proposal{MarketID: s.market, OperatorID: "0199f0a4-0000-7000-8000-00000000dead", Verdict: syntax.VerdictYes}, errNobody},
	} {
		n++
		c.p.MessageID = messageID(n)
		if err := s.resolves.Propose(t.Context(), c.p); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := s.count(`SELECT count(*) FROM api.message_effects`); n != 0 {
		t.Errorf("%d refused proposals are kept as done", n)
	}
	for n := range resolve.MaxDaily {
		if err := s.propose(100+n, syntax.VerdictYes); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.propose(500, syntax.VerdictNo); !limited(err) {
		t.Errorf("the 21st of a day: %v", err)
	}
	s.exec(`UPDATE api.markets SET disputed = true WHERE market_id = $1`, s.market)
	s.clock.Advance(25 * time.Hour)
	if err := s.propose(501, syntax.VerdictNo); !errors.Is(err, resolve.ErrDisputed) {
		t.Errorf("a disputed market: %v", err)
	}
	s.exec(`UPDATE api.markets SET disputed = false WHERE market_id = $1`, s.market)
	if _, err := s.resolves.Finalize(t.Context(), resolve.Claim{MarketID: s.market, Verdict: syntax.VerdictNo}); err != nil {
		t.Fatal(err)
	}
	if err := s.propose(502, syntax.VerdictNo); !errors.Is(err, resolve.ErrResolved) {
		t.Errorf("a resolved market: %v", err)
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
		o, err := s.Operator(t.Context(), "", id)
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	wallet := "0x" + strings.Repeat("Ab", 20)
	first := operator.Profile{
		DisplayName: text("Mara"), Bio: text("rivers"), Avatar: operator.Change{Given: true, Text: text("https://a.example/m.png")},
		Links: []string{"https://m.example"}, PayoutAddress: operator.Change{Given: true, Text: &wallet},
	}
	o := update(1, first)
	if o.DisplayName != "Mara" || *o.Bio != "rivers" || *o.AvatarURL != "https://a.example/m.png" || len(o.Links) != 1 || *o.PayoutAddress != wallet {
		t.Errorf("after the first: %+v", o)
	}
	o = update(2, operator.Profile{Bio: text("lakes"), Avatar: operator.Change{Given: true}, Links: []string{}})
	if o.DisplayName != "Mara" || *o.Bio != "lakes" || o.AvatarURL != nil || len(o.Links) != 0 || *o.PayoutAddress != wallet {
		t.Errorf("after the second: %+v", o)
	}
	if o = update(1, first); *o.Bio != "lakes" || o.AvatarURL != nil {
		t.Errorf("the first again undid the second: %+v", o)
	}
	if err := s.UpdateProfile(t.Context(), "0199f0a4-0000-7000-8000-00000000dead", messageID(3), first); fault.Of(err).Kind != fault.Forbidden {
		t.Errorf("nobody: %v", err)
	}
}

func TestSnapshotOfFifteenMinutes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.venueMarket("1", 3150)
	s := market.NewService(b.Store, nil, lanes(), true, b.clock.Now)
	price := func() *syntax.Bps {
		t.Helper()
		yes, err := s.Snapshot(t.Context(), "1")
		if err != nil {
			t.Fatal(err)
		}
		return yes
	}
	for _, age := range []time.Duration{0, market.LiveFor + time.Second, market.SnapshotAge} {
		b.clock.Set(noon.Add(age))
		if yes := price(); yes == nil || *yes != 3150 {
			t.Errorf("after %s: %v", age, yes)
		}
	}
	b.clock.Advance(time.Millisecond)
	if yes := price(); yes != nil {
		t.Errorf("a snapshot that is too old: %v", *yes)
	}
	if _, err := s.Snapshot(t.Context(), "2"); !errors.Is(err, market.ErrNotFound) {
		t.Errorf("no such market: %v", err)
	}
}

// A message that is asked for again after its market has closed, or was resolved,
// hears of the call that it filed.
func TestACallIsTheSameAfterTheClose(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	d := newDraft(s.market, syntax.Yes, 5000)
	caller := signal.Caller{OperatorID: s.mara}
	if f := s.try(caller, d); f.Verdict != signal.VerdictFiled {
		t.Fatal(f)
	}
	again := func(when string) {
		t.Helper()
		if f := s.try(caller, d); f.Verdict != signal.VerdictReplay || f.FirstID != d.ID {
			t.Errorf("%s: %+v", when, f)
		}
		if f := s.try(caller, newDraft(s.market, syntax.Yes, 5000)); f.Verdict != signal.VerdictDuplicate || f.FirstID != d.ID {
			t.Errorf("%s, another message: %+v", when, f)
		}
	}
	again("open")
	if err := s.propose(1, syntax.VerdictYes); err != nil {
		t.Fatal(err)
	}
	again("provisional")
	if _, err := s.resolves.Finalize(t.Context(), resolve.Claim{MarketID: s.market, Verdict: syntax.VerdictNo}); err != nil {
		t.Fatal(err)
	}
	again("resolved")
}
