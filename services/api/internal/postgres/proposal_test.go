package postgres

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/resolution"
	"github.com/signalcast/signalcast/services/api/internal/signal"
)

// stand is one native market of mara's with somebody who calls on it.
type stand struct {
	*bundle
	mara, market string
	caller       []byte
	resolves     *resolution.Service
}

func newStand(t *testing.T) *stand {
	t.Helper()
	b := setup(t)
	st := &stand{bundle: b, market: "native-0000000001", resolves: resolution.NewService(b.Store, b.clock.Now)}
	st.mara, _ = b.operator("mara_k")
	_, st.caller = b.operator("joe")
	b.nativeMarket(st.market, 5000)
	b.exec(`UPDATE api.markets SET created_by = $2, end_date = $3 WHERE market_id = $1`, st.market, st.mara, noon.AddDate(1, 0, 0))
	return st
}

func (s *stand) propose(message int, verdict protocol.Verdict) error {
	return s.resolves.Propose(s.t.Context(), resolution.Proposal{
		MarketID: s.market, OperatorID: s.mara, MessageID: messageID(message), Verdict: verdict,
	})
}

// takes tells whether the market takes a call now, without leaving one.
func (s *stand) takes(name string) bool {
	s.t.Helper()
	_, hash := s.operator(name)
	f := s.try(signal.Caller{KeyHash: hash}, newDraft(s.market, protocol.Yes, 5000))
	if f.Verdict != signal.VerdictFiled && f.Verdict != signal.VerdictProvisional && f.Verdict != signal.VerdictSettled {
		s.t.Fatalf("verdict %s", f.Verdict)
	}
	return f.Verdict == signal.VerdictFiled
}

// read is the market as it is served.
func (s *stand) read() market.Market {
	s.t.Helper()
	m := must(market.NewService(s.Store, nil, lanes(), true, s.clock.Now).Get(s.t.Context(), protocol.MarketID(s.market)))(s.t)
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
		if err := s.propose(1, protocol.VerdictYes); err != nil {
			t.Fatal(err)
		}
		s.clock.Advance(c.wait)
		if _, err := s.resolves.Finalize(t.Context(), resolution.Claim{MarketID: s.market, Verdict: protocol.VerdictNo}); err != nil {
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
			if m := s.read(); m.Provisional || m.ProvisionalAt != nil || m.Status != protocol.MarketOpen {
				return true, fmt.Errorf("it is read as provisional: %+v", m)
			}
			return true, s.LapseProposals(s.t.Context())
		},
		"a newer one has seven days of its own": func(s *stand) (bool, error) {
			s.clock.Advance(6 * 24 * time.Hour)
			if err := s.propose(2, protocol.VerdictNo); err != nil {
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
			_, err := s.resolves.Finalize(s.t.Context(), resolution.Claim{MarketID: s.market, Verdict: protocol.VerdictNo})
			return false, err
		},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			s := newStand(t)
			if !s.takes("first") {
				t.Fatal("an open market takes no call")
			}
			if err := s.propose(1, protocol.VerdictYes); err != nil {
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
			if err := s.propose(1, protocol.VerdictYes); err != nil || s.takes("fourth") != open {
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
		p    resolution.Proposal
		want error
	}{
		"somebody else":  {resolution.Proposal{MarketID: s.market, OperatorID: joe, Verdict: protocol.VerdictYes}, resolution.ErrCreator},
		"no market":      {resolution.Proposal{MarketID: "native-00000000zz", OperatorID: s.mara, Verdict: protocol.VerdictYes}, resolution.ErrNotFound},
		"a venue's":      {resolution.Proposal{MarketID: "1", OperatorID: s.mara, Verdict: protocol.VerdictYes}, resolution.ErrNative},
		"another word":   {resolution.Proposal{MarketID: s.market, OperatorID: s.mara, Verdict: "MAYBE"}, resolution.ErrVerdict},
		"nobody's, then": {resolution.Proposal{MarketID: s.market, OperatorID: "0199f0a4-0000-7000-8000-00000000dead", Verdict: protocol.VerdictYes}, errNobody},
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
	for n := range resolution.MaxDaily {
		if err := s.propose(100+n, protocol.VerdictYes); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.propose(500, protocol.VerdictNo); !limited(err) {
		t.Errorf("the 21st of a day: %v", err)
	}
	s.exec(`UPDATE api.markets SET disputed = true WHERE market_id = $1`, s.market)
	s.clock.Advance(25 * time.Hour)
	if err := s.propose(501, protocol.VerdictNo); !errors.Is(err, resolution.ErrDisputed) {
		t.Errorf("a disputed market: %v", err)
	}
	s.exec(`UPDATE api.markets SET disputed = false WHERE market_id = $1`, s.market)
	if _, err := s.resolves.Finalize(t.Context(), resolution.Claim{MarketID: s.market, Verdict: protocol.VerdictNo}); err != nil {
		t.Fatal(err)
	}
	if err := s.propose(502, protocol.VerdictNo); !errors.Is(err, resolution.ErrResolved) {
		t.Errorf("a resolved market: %v", err)
	}
}
