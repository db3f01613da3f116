package protocol

// Limits of the members of a call. Limits of texts are in characters. The hub checks the limits to report the invalid member.
// The api checks them again, because the ledger does not rely on its callers.
const (
	MinConfidence       = 1
	MaxConfidence       = 100
	MaxMarketTitle      = 300
	MaxChannel          = 64
	MaxTake             = 500
	MaxMediaAsset       = 200
	MaxToken            = 128
	MaxStatedReach      = 1_000_000_000
	MaxTimeToResolution = 315_360_000 // seconds
	MaxIdempotencyKey   = 128
)
