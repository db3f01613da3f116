package kalshi

import (
	"github.com/signalcast/signalcast/deploy/venuesim/internal/control"
	"github.com/signalcast/signalcast/deploy/venuesim/internal/world"
)

// The venue's words of a market's state.
const (
	wordInitialized = "initialized"
	wordActive      = "active"
	wordInactive    = "inactive"
	wordClosed      = "closed"
	wordDetermined  = "determined"
	wordDisputed    = "disputed"
	wordAmended     = "amended"
	wordFinalized   = "finalized"
)

// The venue's ways of telling a result that is neither yes nor no, and the one
// in which only the value tells it.
const (
	formScalar = "scalar"
	formVoid   = "void"
	FormBlank  = "blank"
)

// Rules are what a test can tell this venue.
var Rules = control.Rules{
	Words: map[string]world.State{
		wordInitialized: world.Open, wordActive: world.Open, wordInactive: world.Open, wordClosed: world.Closed,
		wordDetermined: world.Proposed, wordAmended: world.Proposed, wordDisputed: world.Disputed, wordFinalized: world.Resolved,
	},
	Forms:  map[string][]world.Verdict{formScalar: control.Void, formVoid: control.Void, FormBlank: {world.Yes, world.No, world.Invalid}},
	Payout: true,
}
