package signal

// Bounds of a draft, in characters where it is text.
const (
	MaxTitle            = 300
	MaxChannel          = 64
	MaxTake             = 500
	MaxMediaAsset       = 200
	MaxToken            = 128
	MaxReach            = 1_000_000_000
	MaxTimeToResolution = 315_360_000
	MaxIdempotencyKey   = 128

	// DefaultSlippage is the bound in bps that tools send where the caller names none.
	DefaultSlippage int32 = 200

	MinConfidence = 1
	MaxConfidence = 100
)
