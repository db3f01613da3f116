package kalshi

import (
	"fmt"
	"strings"
	"time"

	"github.com/signalcast/signalcast/deploy/venuesim/internal/world"
)

// combos is how many combinations of markets the venue lists: a handful here,
// tens of thousands on the real one.
const combos = 12

const comboEvent = "KXMVECROSS-S2026"

func comboTicker(n int64) string {
	return fmt.Sprintf("%s%06X-%04X", comboEvent, world.Draw("comboevent", uint64(n))%0x1000000, world.Draw("combo", uint64(n))%0x10000)
}

func (s *Service) combinationNumber(key string) (int64, bool) {
	for n := range int64(combos) {
		if comboTicker(n+1) == key {
			return n + 1, true
		}
	}
	return 0, false
}

func (s *Service) combination(key string) (market, bool) {
	n, ok := s.combinationNumber(key)
	if !ok {
		return market{}, false
	}
	return s.combo(n), true
}

// combo is one bundle: nobody has traded it, and it may be withdrawn.
func (s *Service) combo(n int64) market {
	now, key, withdrawn := s.world.Now(), comboTicker(n), true
	expected := stamp(now.Add(30 * 24 * time.Hour))
	title := fmt.Sprintf("yes %s,yes Over %d mm", []string{"Ochre", "Umber", "Teal"}[n%3], 8+n)
	return market{
		Ticker: key, EventTicker: key[:strings.LastIndexByte(key, '-')], MarketType: "binary", Title: title, YesSubTitle: title, NoSubTitle: title,
		CreatedTime: stamp(now.Add(-time.Hour)), UpdatedTime: now.Format(fineTime), OpenTime: stamp(now.Add(-time.Hour)), CloseTime: expected,
		ExpectedExpirationTime: &expected, ExpirationTime: expected, LatestExpirationTime: expected,
		SettlementTimerSeconds: 1800, Status: wordActive, ResponsePriceUnits: "usd_cent", NotionalValueDollars: "1.0000",
		YesBidDollars: "0.0000", YesBidSizeFp: count(0), YesAskDollars: "1.0000", YesAskSizeFp: count(0), NoBidDollars: "0.0000", NoAskDollars: "1.0000",
		LastPriceDollars: "0.0000", PreviousYesBidDollars: "0.0000", PreviousYesAskDollars: "1.0000", PreviousPriceDollars: "0.0000",
		VolumeFp: count(0), Volume24hFp: count(0), LiquidityDollars: "0.0000", OpenInterestFp: count(0),
		CanCloseEarly: true, FractionalTrading: true, RulesPrimary: "Every leg has to end as named.", RulesSecondary: "The rules of the contract hold.",
		PriceLevelStructure: "linear_cent", PriceRanges: []priceRange{{"0.0000", "1.0000", "0.0100"}}, StrikeType: "custom", TickSize: 1,
		MveCollectionTicker: "KXMVECROSS-R", IsProvisional: &withdrawn,
		MveSelectedLegs: []combinedLeg{{"KXMATCH-1", "KXMATCH-1-OC", "yes"}, {"KXRAIN-1", "KXRAIN-1-T10", "yes"}},
	}
}
