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

// proposals is a database with one native market that the operator mara created.
type proposals struct {
	*bundle
	mara, market string
	caller       []byte
	resolves     *resolution.Service
}

func newProposals(t *testing.T) *proposals {
	t.Helper()
	b := setup(t)
	st := &proposals{bundle: b, market: "native-0000000001", resolves: resolution.NewService(b.Store, b.clock.Now)}
	st.mara, _ = b.operator("mara_k")
	_, st.caller = b.operator("joe")
	b.nativeMarket(st.market, 5000)
	b.exec(`UPDATE api.markets SET created_by = $2, end_date = $3 WHERE market_id = $1`, st.market, st.mara, noon.AddDate(1, 0, 0))
	return st
}

func (s *proposals) propose(message int, verdict protocol.Verdict) error {
	return s.resolves.Propose(s.t.Context(), resolution.Proposal{
		MarketID: s.market, OperatorID: s.mara, MessageID: messageID(message), Verdict: verdict,
	})
}

// takes reports whether the market accepts a call of a new operator with the given name. It stores no call.
func (s *proposals) takes(name string) bool {
	s.t.Helper()
	_, hash := s.operator(name)
	f := s.try(signal.Caller{KeyHash: hash}, newDraft(s.market, protocol.Yes, 5000))
	if f.Verdict != signal.VerdictFiled && f.Verdict != signal.VerdictProvisional && f.Verdict != signal.VerdictSettled {
		s.t.Fatalf("verdict %s", f.Verdict)
	}
	return f.Verdict == signal.VerdictFiled
}

// read returns the market as it is served at the present time of the test clock.
func (s *proposals) read() market.Market {
	s.t.Helper()
	m := must(market.NewService(s.Store, nil, lanes(), true, s.clock.Now).Get(s.t.Context(), protocol.MarketID(s.market)))(s.t)
	return m
}

// TestLineAfterAnExpiredProposal checks that an expired proposal has no effect on the closing line: trading closes at the
// claim, even before the expired proposal is deleted.
func TestLineAfterAnExpiredProposal(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		wait time.Duration
		line time.Duration // time of the close after the proposal
	}{
		"pending": {market.ProposalLife - time.Second, 0},
		"expired": {market.ProposalLife, market.ProposalLife},
	} {
		s := newProposals(t)
		at := s.clock.Now()
		if err := s.propose(1, protocol.VerdictYes); err != nil {
			t.Fatal(err)
		}
		s.clock.Advance(c.wait)
		if _, err := s.resolves.Finalize(t.Context(), resolution.Claim{MarketID: s.market, Verdict: protocol.VerdictNo}); err != nil {
			t.Fatal(err)
		}
		if n := s.count(`SELECT count(*) FROM api.market_resolutions WHERE close_at = $1`, at.Add(c.line)); n != 1 {
			t.Errorf("%s: the line closed at a wrong time", name)
		}
	}
}

func TestProposalStopsCallsUntilItEnds(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(s *proposals) (open bool, err error){
		"it expires after seven days": func(s *proposals) (bool, error) {
			s.clock.Advance(market.ProposalLife - time.Millisecond)
			if err := s.DeleteExpiredProposals(s.t.Context()); err != nil || s.takes("early") {
				return true, errors.Join(errors.New("the proposal ended too soon"), err)
			}
			s.clock.Advance(time.Millisecond)
			if !s.takes("at the end") { // before the expired proposal is deleted
				return true, errors.New("the proposal has an effect after seven days")
			}
			if m := s.read(); m.Provisional || m.ProvisionalAt != nil || m.Status != protocol.MarketOpen {
				return true, fmt.Errorf("the market is provisional: %+v", m)
			}
			return true, s.DeleteExpiredProposals(s.t.Context())
		},
		"a newer proposal has its own seven days": func(s *proposals) (bool, error) {
			s.clock.Advance(6 * 24 * time.Hour)
			if err := s.propose(2, protocol.VerdictNo); err != nil {
				return true, err
			}
			s.clock.Advance(market.ProposalLife - time.Millisecond)
			if s.takes("early") || !s.read().Provisional {
				return true, errors.New("the newer proposal ended with the older one")
			}
			s.clock.Advance(time.Millisecond)
			if !s.takes("at the end") {
				return true, errors.New("the proposal has an effect after seven days")
			}
			return true, s.DeleteExpiredProposals(s.t.Context())
		},
		"a dispute is cleared": func(s *proposals) (bool, error) {
			if _, _, err := s.resolves.Dispute(s.t.Context(), s.market, true, nil); err != nil || s.takes("disputed") {
				return true, errors.Join(errors.New("a disputed market accepts calls"), err)
			}
			_, _, err := s.resolves.Dispute(s.t.Context(), s.market, false, nil)
			return true, err
		},
		"the market is finalized": func(s *proposals) (bool, error) {
			_, err := s.resolves.Finalize(s.t.Context(), resolution.Claim{MarketID: s.market, Verdict: protocol.VerdictNo})
			return false, err
		},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			s := newProposals(t)
			if !s.takes("first") {
				t.Fatal("an open market accepts no call")
			}
			if err := s.propose(1, protocol.VerdictYes); err != nil {
				t.Fatal(err)
			}
			if s.takes("second") {
				t.Error("a market with a proposal accepts calls")
			}
			open, err := end(s)
			if err != nil || s.takes("third") != open {
				t.Errorf("the market accepts calls afterwards: want %v: %v", open, err)
			}
			if n := s.count(`SELECT count(*) FROM api.resolution_proposals`); n != 0 {
				t.Errorf("%d proposals are left", n)
			}
			if n := s.count(`SELECT count(*) FROM api.markets WHERE provisional_at IS NOT NULL`); open && n != 0 {
				t.Error("the line is still closed after the proposal ended without an outcome")
			}
			if err := s.propose(1, protocol.VerdictYes); err != nil || s.takes("fourth") != open {
				t.Errorf("the repeated message has an effect: %v", err)
			}
		})
	}
}

func TestProposalRefusals(t *testing.T) {
	t.Parallel()
	s := newProposals(t)
	s.venueMarket("1", 5000)
	joe, _ := s.operator("joe_x")
	n := 0
	for name, c := range map[string]struct {
		p    resolution.Proposal
		want error
	}{
		"another operator":  {resolution.Proposal{MarketID: s.market, OperatorID: joe, Verdict: protocol.VerdictYes}, resolution.ErrCreator},
		"no market":         {resolution.Proposal{MarketID: "native-00000000zz", OperatorID: s.mara, Verdict: protocol.VerdictYes}, resolution.ErrNotFound},
		"market of a venue": {resolution.Proposal{MarketID: "1", OperatorID: s.mara, Verdict: protocol.VerdictYes}, resolution.ErrNative},
		"unknown verdict":   {resolution.Proposal{MarketID: s.market, OperatorID: s.mara, Verdict: "MAYBE"}, resolution.ErrVerdict},
		"unknown operator":  {resolution.Proposal{MarketID: s.market, OperatorID: "0199f0a4-0000-7000-8000-00000000dead", Verdict: protocol.VerdictYes}, errNoOperator},
	} {
		n++
		c.p.MessageID = messageID(n)
		if err := s.resolves.Propose(t.Context(), c.p); !errors.Is(err, c.want) {
			t.Errorf("proposal by %s: %v", name, err)
		}
	}
	if n := s.count(`SELECT count(*) FROM api.message_effects`); n != 0 {
		t.Errorf("%d rejected proposals are stored as executed", n)
	}
	for n := range resolution.MaxDaily {
		if err := s.propose(100+n, protocol.VerdictYes); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.propose(500, protocol.VerdictNo); !limited(err) {
		t.Errorf("proposal 21 of a day: %v", err)
	}
	s.exec(`UPDATE api.markets SET disputed = true WHERE market_id = $1`, s.market)
	s.clock.Advance(25 * time.Hour)
	if err := s.propose(501, protocol.VerdictNo); !errors.Is(err, resolution.ErrDisputed) {
		t.Errorf("proposal on a disputed market: %v", err)
	}
	s.exec(`UPDATE api.markets SET disputed = false WHERE market_id = $1`, s.market)
	if _, err := s.resolves.Finalize(t.Context(), resolution.Claim{MarketID: s.market, Verdict: protocol.VerdictNo}); err != nil {
		t.Fatal(err)
	}
	if err := s.propose(502, protocol.VerdictNo); !errors.Is(err, resolution.ErrResolved) {
		t.Errorf("proposal on a resolved market: %v", err)
	}
}
