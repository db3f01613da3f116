package limitless

import (
	"fmt"
	"html"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/signalcast/signalcast/deploy/venuesim/internal/reply"
	"github.com/signalcast/signalcast/deploy/venuesim/internal/world"
)

const (
	// silence is how long some results come without a winner.
	silence  = time.Minute
	fineTime = "2006-01-02T15:04:05.000Z"
)

// word is the venue's word of where a market stands.
func word(m *world.Market) string {
	if m.Word != "" {
		return m.Word
	}
	switch m.State {
	case world.Proposed:
		return wordLocked
	case world.Disputed:
		return wordDisputed
	case world.Resolved:
		return wordResolved
	case world.Open, world.Closed:
	}
	switch {
	case m.Placeholder:
		return wordDraft
	case m.Odd("flagged", 30):
		return wordFlagged
	}
	return wordFunded
}

// kind is how a market trades; those of a group have a book.
func kind(m *world.Market) string {
	switch {
	case m.Kind != "":
		return m.Kind
	case !m.Event.Group && m.Odd("pool", 3):
		return kindPool
	}
	return kindBook
}

// ends is when trading ends: earlier than planned where a test closed it.
func ends(m *world.Market) time.Time {
	if at := m.Ended(); m.State != world.Open && !at.IsZero() && at.Before(m.End) {
		return at
	}
	return m.End
}

// active says whether the list of active markets shows a market.
func active(m *world.Market, now time.Time) bool {
	w := word(m)
	return (w == wordFunded || w == wordFlagged) && m.State == world.Open && (m.End.IsZero() || ends(m).After(now))
}

// render writes a single market as the venue does.
func (s *Service) render(m *world.Market) any {
	if m.Raw == nil {
		return s.market(m)
	}
	if !m.Patched {
		return m.Raw
	}
	return reply.Over(m.Raw, s.market(m), "status", "expired", "expirationTimestamp", "expirationDate", "prices", "tradePrices",
		"winningOutcomeIndex", "payoutNumerators", "resolutionTxHash", "updatedAt")
}

func (s *Service) market(m *world.Market) market {
	l := s.frame(m, m.ID)
	l.Slug, l.Title, l.Status, l.TradeType, l.MarketType = key(m), m.YesQuestion(), word(m), kind(m), "single"
	l.WinningOutcomeIndex.there = true
	l.ConditionID = m.ConditionID
	if m.Event.Group {
		order := m.GroupIndex
		l.OrderInGroup = &order
		if m.GroupTitle != "" {
			l.Title = m.GroupTitle
		}
	}
	end := ends(m)
	l.expire(end, s.world.Now())
	if m.Odd("noend", 70) && l.Status == wordFunded && !l.Expired {
		l.ExpirationTimestamp, l.ExpirationDate = nil, ""
	}
	if m.State != world.Open {
		l.Expired = true
	}
	l.Volume, l.VolumeFormatted = money(m.Volume)
	if l.TradeType == kindPool {
		l.pool(m)
	} else {
		l.book(m)
	}
	if l.Status == wordDraft || l.Status == wordCreated || m.Odd("unpriced", 60) && !m.Patched {
		l.Prices, l.TradePrices = nil, nil
	}
	if l.Status == wordResolved {
		s.settle(&l, m)
	}
	return l
}

// frame fills in what markets and groups have in common.
func (s *Service) frame(m *world.Market, id int64) market {
	l := market{
		ID: id, Description: "<p>" + strings.ReplaceAll(html.EscapeString(m.Description), "\n\n", "</p><p>") + "</p>",
		CollateralToken: collateral{"0x1111111111111111111111111111111111111111", 6, "USDC"},
		CreatedAt:       m.Start.Format(fineTime), UpdatedAt: s.world.Now().Format(fineTime), Categories: []string{}, Tags: []string{"Daily"},
		Creator: creator{Name: "Invented Desk", ImageURI: "https://assets.example.test/l.svg"}, AutomationType: "manual",
		Metadata: metadata{Fee: true, ShouldMarketMake: true}, Properties: []property{},
	}
	if m.Category != "" {
		l.Categories = append(l.Categories, m.Category)
	}
	for i, t := range m.Tags {
		l.Categories = append(l.Categories, t.Label)
		if i == 0 {
			l.Properties = append(l.Properties, property{"domain", t.Slug})
		}
	}
	return l
}

func (l *market) expire(end, now time.Time) {
	if end.IsZero() {
		return
	}
	ms := end.UnixMilli()
	l.ExpirationTimestamp, l.ExpirationDate, l.Expired = &ms, end.Format("Jan 2, 2006"), !end.After(now)
}

// yes is the price that the record shows.
func yes(m *world.Market) world.Micros {
	if word(m) == wordResolved && m.Verdict == world.Invalid {
		return world.One / 2
	}
	return m.Price
}

func (l *market) pool(m *world.Market) {
	p := yes(m)
	l.Address = "0x" + m.QuestionID[2:42]
	l.Prices = []float64{float64(p) / 10_000, float64(world.One-p) / 10_000}
	l.PositionIDs = m.Tokens
	l.OpenInterest, l.OpenInterestText = money(m.Volume / 4)
	l.Liquidity, l.LiquidityFormatted = money(m.Liquidity)
}

func (l *market) book(m *world.Market) {
	p := yes(m)
	top := m.Top()
	rest := func(p world.Micros) float64 { return (world.One - p).Float() }
	take, give := pair{top.Ask.Float(), rest(top.Bid)}, pair{top.Bid.Float(), rest(top.Ask)}
	l.Prices = []float64{p.Float(), rest(p)}
	l.TradePrices = &tradePrices{Buy: quotes{take, give}, Sell: quotes{give, take}}
	l.NegRiskRequestID.there = true
	if m.Event.Group {
		l.NegRiskRequestID.value = &m.QuestionID
	}
	if i := m.YesIndex(); len(m.Tokens) == 2 {
		l.Tokens = &tokens{m.Tokens[i], m.Tokens[1-i]}
	}
	rewarded := true
	l.IsRewardable = &rewarded
	l.Settings = &settings{"100000000", 0.035, "20", "0.01388888888888889", "3", 0}
	l.Venue = &exchange{Exchange: "0x" + m.ConditionID[2:42]}
}

// settle tells the result: who won, or that both sides are paid the same.
func (s *Service) settle(l *market, m *world.Market) {
	late := m.Odd("silent", 5) && s.world.Now().Sub(m.ChangedAt) < silence
	if m.Form == FormNone || !m.Patched && late {
		return
	}
	index := 0
	switch m.Verdict {
	case world.Yes:
		l.PayoutNumerators = []string{"1", "0"}
	case world.No:
		index, l.PayoutNumerators = 1, []string{"0", "1"}
	case world.Invalid:
		l.PayoutNumerators = []string{"1", "1"}
	default:
		return
	}
	if m.Verdict != world.Invalid {
		l.WinningOutcomeIndex.value = &index
	}
	l.ResolutionTxHash = m.QuestionID
}

// group writes the parent of several markets, which has no price and no winner.
func (s *Service) group(list []world.Market) any {
	first, now := &list[0], s.world.Now()
	l := s.frame(first, first.ID+2_000_000_000)
	l.Slug, l.Title, l.TradeType, l.MarketType = groupSlug(first), first.Event.Title, "group", "group"
	blank := ""
	l.OutcomeTokens, l.OgImageURI, l.DailyReward = []string{"Yes", "No"}, &blank, "0"
	l.NegRiskMarketID = s.world.IDs.NegRisk(first.Event.ID)
	end, volume := first.End, 0.0
	l.Status = wordResolved
	for i := range list {
		m := &list[i]
		volume += m.Volume
		if m.End.After(end) {
			end = m.End
		}
		switch w := word(m); {
		case active(m, now):
			l.Status = wordFunded
		case w != wordResolved && w != wordDraft && w != wordCreated && l.Status != wordFunded:
			l.Status = wordLocked
		}
		l.Markets = append(l.Markets, s.render(m))
	}
	l.expire(end, now)
	l.Volume, l.VolumeFormatted = money(volume)
	switch {
	case first.Event.Raw == nil:
		return l
	case slices.ContainsFunc(list, func(m world.Market) bool { return m.Patched }):
		return reply.Over(first.Event.Raw, l, "markets", "status")
	}
	return first.Event.Raw
}

// money writes an amount in millionths and readably.
func money(v float64) (millionths, readable string) {
	n := int64(v * 1e6)
	return strconv.FormatInt(n, 10), fmt.Sprintf("%d.%06d", n/1_000_000, n%1_000_000)
}
