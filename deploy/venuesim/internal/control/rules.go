package control

import (
	"maps"
	"slices"
	"strings"

	"github.com/signalcast/signalcast/deploy/venuesim/internal/world"
)

// Rules are what one venue can be told beyond what all can.
type Rules struct {
	// Outcomes allows labels other than Yes and No.
	Outcomes bool
	// Kinds are the venue's kinds of market, for the member kind.
	Kinds []string
	// Words are the venue's words of a state, for the member venueState, each
	// with the state that it belongs to.
	Words map[string]world.State
	// Forms are the venue's ways of telling a result, for the member resolution,
	// each with the outcomes that it can tell.
	Forms map[string][]world.Verdict
	// Payout allows an INVALID that pays another share than half.
	Payout bool
	// Unpaid is the one of Forms that names no share.
	Unpaid string
	// NoBook marks a venue without order books.
	NoBook bool
	// Creator allows naming the user who creates a market.
	Creator bool
	// TradesOn marks a venue at which trading continues while an outcome is proposed.
	TradesOn bool
	// Undisputed tells a venue at which no result is challenged.
	Undisputed bool
}

// Void is the outcomes that a way of telling can have that names no winner.
var Void = []world.Verdict{world.Invalid}

func (r Rules) draft(in createBody) error {
	if in.Outcomes != nil && !r.Outcomes {
		return bad("outcomes cannot be named at this venue: they are Yes and No")
	}
	if in.Kind != "" && !slices.Contains(r.Kinds, in.Kind) {
		return bad("kind must be one of: %s", list(r.Kinds))
	}
	if in.Creator != "" && !r.Creator {
		return bad("creator cannot be named at this venue")
	}
	return r.book(in.bookBody)
}

func (r Rules) book(in bookBody) error {
	if in.named() && r.NoBook {
		return bad("yesBid, yesAsk and spread go with venues that have order books")
	}
	return nil
}

// state is the state that a word of the venue belongs to.
func (r Rules) state(word string, given world.State) (world.State, error) {
	state, known := r.Words[word]
	switch {
	case !known:
		return "", bad("venueState must be one of: %s", list(slices.Sorted(maps.Keys(r.Words))))
	case given != "" && given != state:
		return "", bad("venueState %s belongs to state %s, not to %s", word, state, given)
	}
	return state, nil
}

func (r Rules) change(in changeBody) error {
	if in.State == world.Disputed && r.Undisputed {
		return bad("at this venue no result is disputed: its creators take it back")
	}
	if in.ResolutionTime != nil && in.State != world.Resolved {
		return bad("resolutionTime goes with state resolved")
	}
	if in.CloseTime != nil && (in.State == "" || in.State == world.Open) {
		return bad("closeTime goes with state closed, proposed, disputed or resolved")
	}
	if err := r.book(in.bookBody); err != nil {
		return err
	}
	if (in.Resolution != "" || in.Payout != nil) && (in.State == "" || in.State == world.Open || in.State == world.Closed) {
		return bad("resolution and payout go with state proposed, disputed or resolved")
	}
	if in.Resolution != "" {
		tells, known := r.Forms[in.Resolution]
		if !known {
			return bad("resolution must be one of: %s", list(slices.Sorted(maps.Keys(r.Forms))))
		}
		if !slices.Contains(tells, in.Outcome) {
			return bad("resolution %s does not tell outcome %q", in.Resolution, in.Outcome)
		}
	}
	if in.Payout != nil && (!r.Payout || in.Outcome != world.Invalid || in.Resolution != "" && in.Resolution == r.Unpaid) {
		return bad("payout goes with outcome INVALID, at venues that can pay a share")
	}
	return nil
}

func list(words []string) string {
	if len(words) == 0 {
		return "(none at this venue)"
	}
	return strings.Join(words, ", ")
}
