package control

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/signalcast/signalcast/deploy/venuesim/internal/venue"
	"github.com/signalcast/signalcast/deploy/venuesim/internal/world"
)

// change is the body of POST /sim/{venue}/markets/{id}. Times are RFC 3339.
type change struct {
	YesPrice       *world.Price  `json:"yesPrice"`
	State          world.State   `json:"state"`
	Outcome        world.Outcome `json:"outcome"`
	ResolutionTime time.Time     `json:"resolutionTime"`
	CloseTime      time.Time     `json:"closeTime"`
	VenueState     string        `json:"venueState"`
	Resolution     string        `json:"resolution"`
	Payout         *world.Price  `json:"payout"`
	book
}

// book contains the members of a request body that set the order book: the best bid and ask of YES, or the spread around the
// price.
type book struct {
	YesBid *world.Price `json:"yesBid"`
	YesAsk *world.Price `json:"yesAsk"`
	Spread *world.Price `json:"spread"`
}

func (in *book) empty() bool { return in.YesBid == nil && in.YesAsk == nil && in.Spread == nil }

// top returns the best bid and ask in the body, or nil if the body has none. It returns an error if members contradict each
// other or the venue has no order books.
func (in *book) top(rules venue.Rules) (*world.Top, error) {
	switch {
	case !in.empty() && rules.NoBook:
		return nil, invalid("this venue has no order books")
	case (in.YesBid == nil) != (in.YesAsk == nil) || in.YesBid != nil && in.Spread != nil:
		return nil, invalid("give yesBid and yesAsk together, or spread")
	case in.YesBid == nil:
		return nil, nil
	}
	return &world.Top{Bid: *in.YesBid, Ask: *in.YesAsk}, nil
}

func (v *Venue) change(w http.ResponseWriter, r *http.Request) error {
	var in change
	if err := decode(w, r, &in); err != nil {
		return err
	}
	key, ok := strings.CutPrefix(r.PathValue("id"), v.Rules.Prefix)
	m, found := v.Venue.Find(key)
	if !ok || !found {
		return world.ErrNotFound
	}
	if err := in.check(v.World.Now(), v.Rules); err != nil {
		return err
	}
	top, err := in.top(v.Rules)
	if err != nil {
		return err
	}
	if err := v.World.Change(m.ID, world.Change{
		Price: in.YesPrice, Spread: in.Spread, Book: top,
		Status: world.Status{
			State: in.State, Outcome: in.Outcome, ChangedAt: in.ResolutionTime.UTC(), ClosedAt: in.CloseTime.UTC(),
			VenueState: in.VenueState, Resolution: in.Resolution, Payout: in.Payout,
		},
		EndsTrading: in.State == world.Closed || in.State == world.Resolved || in.decided() && !v.Rules.TradesProposed,
	}); err != nil {
		return err
	}
	answer(w, http.StatusOK, map[string]string{"id": v.id(m.ID)})
	return nil
}

// decided reports whether a market in the new state must have an outcome.
func (in *change) decided() bool {
	return in.State == world.Proposed || in.State == world.Disputed || in.State == world.Resolved
}

// check validates the change against the rules of the venue. If VenueState is set, check also sets State to the state that
// VenueState means.
func (in *change) check(now time.Time, rules venue.Rules) error {
	if in.VenueState != "" {
		state, known := rules.VenueStates[in.VenueState]
		if !known || in.State != "" && in.State != state {
			return invalid("venueState must be one of %s, without a different state", words(rules.VenueStates))
		}
		in.State = state
	}
	outcomes, known := rules.Resolutions[in.Resolution]
	switch {
	case in.State != "" && !in.State.Valid():
		return invalid("state must be open, closed, proposed, disputed or resolved")
	case in.Outcome != "" && !in.Outcome.Valid():
		return invalid("outcome must be YES, NO or INVALID")
	case in.YesPrice == nil && in.State == "" && in.Outcome == "" && in.empty():
		return invalid("the body changes nothing: give yesPrice, yesBid and yesAsk, spread, state or outcome")
	case in.State == world.Disputed && rules.NoDispute:
		return invalid("this venue has no disputes")
	case !in.ResolutionTime.IsZero() && in.State != world.Resolved:
		return invalid("resolutionTime requires state resolved")
	case !in.CloseTime.IsZero() && (in.State == "" || in.State == world.Open):
		return invalid("closeTime requires state closed, proposed, disputed or resolved")
	case in.CloseTime.After(now) || in.ResolutionTime.After(now):
		return invalid("closeTime and resolutionTime must not be in the future")
	case (in.Resolution != "" || in.Payout != nil) && !in.decided():
		return invalid("resolution and payout require state proposed, disputed or resolved")
	case in.Resolution != "" && (!known || !slices.Contains(outcomes, in.Outcome)):
		return invalid("resolution must be one of %s, with an outcome that it can express", words(rules.Resolutions))
	case in.Payout != nil && (!rules.Payout || in.Outcome != world.Invalid):
		return invalid("payout requires outcome INVALID and a venue with partial payouts")
	}
	return nil
}

// words returns the sorted keys of m, separated by commas, for an error message. If m is empty, it returns a text that says
// so.
func words[T any](m map[string]T) string {
	if len(m) == 0 {
		return "(none at this venue)"
	}
	return strings.Join(slices.Sorted(maps.Keys(m)), ", ")
}
