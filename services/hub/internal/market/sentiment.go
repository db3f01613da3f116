package market

import (
	"math"

	cataloguev1 "github.com/signalcast/signalcast/proto/catalogue/v1"
)

// Words for how those who called lean; below mixedFrom calls there is too little
// to be mixed.
const (
	Bullish = "bullish"
	Bearish = "bearish"
	Mixed   = "mixed"
	Neutral = "neutral"

	clearScore = 20
	mixedFrom  = 6
)

// Score returns the sentiment from -100, all NO, to 100, all YES, by weight; 0 without calls.
func Score(m *cataloguev1.GetSentimentResponse) int {
	yes, no := m.GetWeightYes(), m.GetWeightNo()
	if yes+no <= 0 {
		return 0
	}
	// A weight is not exact in binary: 19.5 must not become 19.
	return int(math.Round(math.Round(1e8*(yes-no)/(yes+no)) / 1e6))
}

// Label returns the word for the score and the number of calls.
func Label(m *cataloguev1.GetSentimentResponse) string {
	switch score := Score(m); {
	case score >= clearScore:
		return Bullish
	case score <= -clearScore:
		return Bearish
	case m.GetYes()+m.GetNo() >= mixedFrom:
		return Mixed
	}
	return Neutral
}
