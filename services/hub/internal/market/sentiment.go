package market

import "math"

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

// Score is -100, all NO, to 100, all YES, by weight (contract 4.6.7); 0 without calls.
func (s *Sentiment) Score() int {
	if s.WeightYes+s.WeightNo <= 0 {
		return 0
	}
	// A weight is not exact in binary: 19.5 must not become 19.
	return int(math.Round(math.Round(1e8*(s.WeightYes-s.WeightNo)/(s.WeightYes+s.WeightNo)) / 1e6))
}

// Label is the word for the score and the number of calls.
func (s *Sentiment) Label() string {
	switch score := s.Score(); {
	case score >= clearScore:
		return Bullish
	case score <= -clearScore:
		return Bearish
	case s.Yes+s.No >= mixedFrom:
		return Mixed
	}
	return Neutral
}
