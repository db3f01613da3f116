package signal

import (
	"github.com/signalcast/signalcast/pkg/syntax"
)

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

// Draft is what a caller wants to file; nil members were left out.
type Draft struct {
	ID               string // uuid v7 made here: a retry carries the same one
	Again            bool   // an earlier try may have been written
	MarketID         syntax.MarketID
	Direction        syntax.Side
	Price            syntax.Bps // of the side called
	MarketTitle      *string
	ChannelID        *string
	Confidence       *int32
	CrowdYes         *int32
	TimeToResolution *int32
	Source           syntax.Source
	MediaAssetID     *string
	TextTake         *string
	Reach            *int64
	ClobTokenID      *string
	CrowdLean        *int32
	MaxSlippage      *int32 // in bps; the price of the side may be worse than Price by at most this
	AllowUnverified  bool   // without a fresh quote, MaxSlippage does not refuse the call; it is stored unverified
	IdempotencyKey   string // empty: none
	BodyHash         []byte // SHA-256 of the body, set with IdempotencyKey
}

// Filing is the stored numbers of a call, or those that a dry run would store.
type Filing struct {
	Price       syntax.Bps // stated, after conversion
	Basis       syntax.Bps // scoring price at filing
	Verified    bool       // the ledger had a fresh quote
	Rated       bool       // the market was rated
	Unconfirmed bool       // of a dry run: no venue has confirmed the market, so Rated is not known
	MarketYes   *int32     // the middle; nil: the ledger has no price
	Yes, No     *int32     // price of each side, rounded up; nil: no quote
	Warnings    []string   // price_converted, price_off_market, price_unverified, market_unrated
}

// Filed is a stored call.
type Filed struct {
	ID string
	Filing
}
