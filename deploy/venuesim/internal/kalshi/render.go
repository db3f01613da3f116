package kalshi

import (
	"fmt"
	"strings"
	"time"

	"github.com/signalcast/signalcast/deploy/venuesim/internal/reply"
	"github.com/signalcast/signalcast/deploy/venuesim/internal/world"
)

const fineTime = "2006-01-02T15:04:05.999999Z"

// word is the venue's word of where a market stands.
func word(m *world.Market, now time.Time) string {
	if m.Word != "" {
		return m.Word
	}
	switch m.State {
	case world.Closed:
		return wordClosed
	case world.Proposed:
		if m.Odd("amended", 4) {
			return wordAmended
		}
		return wordDetermined
	case world.Disputed:
		return wordDisputed
	case world.Resolved:
		return wordFinalized
	case world.Open:
	}
	switch {
	case m.Placeholder:
		return wordInitialized
	case !m.Patched && !m.End.After(now):
		return wordClosed
	case !m.Patched && m.Odd("inactive", 60):
		return wordInactive
	}
	return wordActive
}

// settlement tells a result as the venue does: its word, the value paid for
// YES, and whether that value is told at all.
func settlement(m *world.Market) (result string, value world.Micros, told bool) {
	form := m.Form
	switch m.Verdict {
	case world.Yes:
		result, value = "yes", world.One
	case world.No:
		result, value = "no", 0
	case world.Invalid:
		result, value = formScalar, world.One/2
		if m.Odd("fraction", 3) {
			value = 240_000
		}
		if form == "" && m.Odd("void", 3) {
			form = FormBlank
		}
	}
	if m.Payout != nil {
		value = *m.Payout
	}
	if form == "" && m.Verdict == world.No && m.Odd("blank", 20) {
		return "", value, true
	}
	switch form {
	case formVoid:
		result = formVoid
	case FormBlank:
		return "", value, m.Verdict != world.Invalid || m.Payout != nil
	}
	return result, value, true
}

// render writes a market as the venue does.
func (s *Service) render(m *world.Market) any {
	if m.Raw == nil {
		return s.market(m)
	}
	if !m.Patched {
		return m.Raw
	}
	return reply.Over(m.Raw, s.market(m), "status", "result", "settlement_value_dollars", "settlement_ts", "close_time", "expiration_value",
		"yes_bid_dollars", "yes_ask_dollars", "no_bid_dollars", "no_ask_dollars", "last_price_dollars", "updated_time")
}

func (s *Service) market(m *world.Market) market {
	now := s.world.Now()
	k := market{
		Ticker: ticker(m), EventTicker: eventTicker(m), MarketType: "binary", Title: m.YesQuestion(), YesSubTitle: answer(m), NoSubTitle: answer(m),
		CreatedTime: stamp(m.Start.Add(-24 * time.Hour)), UpdatedTime: now.Format(fineTime), OpenTime: stamp(m.Start),
		CloseTime: stamp(closeTime(m)), ExpirationTime: stamp(m.End.Add(7 * 24 * time.Hour)), LatestExpirationTime: stamp(m.End.Add(7 * 24 * time.Hour)),
		SettlementTimerSeconds: 1800, Status: word(m, now), ResponsePriceUnits: "usd_cent", NotionalValueDollars: "1.0000",
		VolumeFp: count(m.Volume), Volume24hFp: count(m.Volume24h), LiquidityDollars: "0.0000", OpenInterestFp: count(m.Volume / 3),
		CanCloseEarly: true, FractionalTrading: true, RulesPrimary: m.Description, RulesSecondary: "The rules of the contract hold.",
		PriceLevelStructure: "deci_cent", PriceRanges: []priceRange{{"0.0000", "1.0000", "0.0010"}}, TickSize: 1,
	}
	if !m.NegRisk {
		expected := stamp(m.End.Add(time.Hour))
		k.ExpectedExpirationTime = &expected
	}
	if m.NegRisk {
		k.StrikeType, k.CustomStrike = "structured", &customStrike{world.Slug(m.GroupTitle, 24)}
	} else {
		floor := 4.5 + float64(m.GroupIndex)
		k.StrikeType, k.FloorStrike = "greater", &floor
	}
	s.quotes(&k, m, now)
	settle(&k, m)
	return k
}

// answer is the name of what YES says: the candidate, the first side, or the
// question again.
func answer(m *world.Market) string {
	if i := m.YesIndex(); i < len(m.Outcomes) && !strings.EqualFold(m.Outcomes[i], "yes") {
		return m.Outcomes[i]
	}
	if m.GroupTitle != "" {
		return m.GroupTitle
	}
	return m.Question
}

// closeTime is moved back when trading ends early.
func closeTime(m *world.Market) time.Time {
	if at := m.Ended(); m.State != world.Open && !at.IsZero() && at.Before(m.End) {
		return at
	}
	return m.End
}

// quotes fills in the book and the last trade. A book without orders shows a
// bid of 0 and an ask of 1.
func (s *Service) quotes(k *market, m *world.Market, now time.Time) {
	bid, ask, last := book(m)
	before := m.Path(max(m.Start.Unix(), m.Until(now).Unix()-86_400))
	oldBid, oldAsk := world.Quote(before)
	if k.Status == wordInitialized {
		bid, ask, last, before, oldBid, oldAsk = 0, world.One, 0, 0, 0, world.One
		k.VolumeFp, k.Volume24hFp, k.OpenInterestFp = count(0), count(0), count(0)
	}
	if k.Status == wordDetermined || k.Status == wordDisputed || k.Status == wordAmended || k.Status == wordFinalized {
		bid, ask = 0, world.One
	}
	k.YesBidDollars, k.YesAskDollars, k.LastPriceDollars = bid.Dollars(), ask.Dollars(), last.Dollars()
	k.NoBidDollars, k.NoAskDollars = (world.One - ask).Dollars(), (world.One - bid).Dollars()
	k.PreviousYesBidDollars, k.PreviousYesAskDollars, k.PreviousPriceDollars = oldBid.Dollars(), oldAsk.Dollars(), before.Dollars()
	k.YesBidSizeFp, k.YesAskSizeFp = count(250), count(118.5)
	if bid == 0 {
		k.YesBidSizeFp = count(0)
	}
	if ask == world.One {
		k.YesAskSizeFp = count(0)
	}
}

// book gives best bid, best ask and the last trade. A few books are empty, a
// few wide: then only the last trade tells a price.
func book(m *world.Market) (bid, ask, last world.Micros) {
	top := m.Top()
	bid, ask = top.Bid, top.Ask
	switch {
	case m.Patched:
	case m.Odd("emptybook", 50):
		return 0, world.One, 0
	case m.Odd("widebook", 40):
		return max(m.Price-300_000, 0), min(m.Price+300_000, world.One), m.Price
	}
	return bid, ask, m.Price
}

// settle fills in the result once there is one.
func settle(k *market, m *world.Market) {
	switch k.Status {
	case wordDetermined, wordDisputed, wordAmended, wordFinalized:
	default:
		return
	}
	if m.Verdict == "" {
		return
	}
	result, value, told := settlement(m)
	k.Result, k.SettlementValueDollars = result, &nullable{}
	if told {
		k.SettlementValueDollars.text, k.ExpirationValue = value.Dollars(), "4.81"
	}
	if k.Status == wordFinalized {
		k.SettlementTs = settledAt(m).Format(fineTime)
		if m.Verdict == world.Yes { // it has come about
			at := stamp(settledAt(m))
			k.OccurrenceDatetime = &at
		}
	}
}

// settledAt is when a finalized market was paid out.
func settledAt(m *world.Market) time.Time { return m.ChangedAt }

func (s *Service) event(list []world.Market) event {
	first := &list[0]
	e := event{
		EventTicker: eventTicker(first), SeriesTicker: seriesTicker(first), SubTitle: first.End.Format("2006"), Title: first.Event.Title,
		Category: first.Category, AvailableOnBrokers: true, LastUpdatedTs: stamp(s.world.Now()),
	}
	if e.Category == "" {
		e.Category = family(first.Event.Tags).category
	}
	if first.Event.NegRisk {
		e.CollateralReturnType, e.MutuallyExclusive = "MECNET", true
	} else {
		e.StrikeDate = stamp(first.End)
	}
	return e
}

// all writes the markets of an event that the live paths still show.
func (s *Service) all(list []world.Market) []any {
	out := make([]any, 0, len(list))
	for i := range list {
		if !s.archived(&list[i]) {
			out = append(out, s.render(&list[i]))
		}
	}
	return out
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func count(v float64) string { return fmt.Sprintf("%.2f", v) }
