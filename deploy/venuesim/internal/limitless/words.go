package limitless

import (
	"github.com/signalcast/signalcast/deploy/venuesim/internal/control"
	"github.com/signalcast/signalcast/deploy/venuesim/internal/world"
)

// The venue's words of a market's state.
const (
	wordDraft    = "DRAFT"
	wordCreated  = "CREATED"
	wordFunded   = "FUNDED"
	wordFlagged  = "FUNDED_FLAGGED"
	wordLocked   = "LOCKED"
	wordDisputed = "DISPUTED"
	wordResolved = "RESOLVED"
)

const (
	kindPool = "amm"
	kindBook = "clob"
)

// The venue's ways of telling a result that is neither YES nor NO: both sides are
// paid the same, or it is called resolved without saying who won.
const (
	formEven = "even"
	FormNone = "none"
)

// Rules are what a test can tell this venue.
var Rules = control.Rules{
	Kinds: []string{kindBook, kindPool},
	Words: map[string]world.State{
		wordDraft: world.Open, wordCreated: world.Open, wordFunded: world.Open, wordFlagged: world.Open, wordLocked: world.Proposed,
		wordDisputed: world.Disputed, wordResolved: world.Resolved,
	},
	Forms: map[string][]world.Verdict{formEven: control.Void, FormNone: {world.Yes, world.No, world.Invalid}},
}
