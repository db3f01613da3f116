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
	MinConfidence       = 1
	MaxConfidence       = 100
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
	IdempotencyKey   string // empty: none
	BodyHash         []byte // SHA-256 of the body, set with IdempotencyKey
}
