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

// change is the body of a change of a market.
type change struct {
	YesPrice       *float64      `json:"yesPrice"`
	State          world.State   `json:"state"`
	Outcome        world.Outcome `json:"outcome"`
	ResolutionTime string        `json:"resolutionTime"`
	CloseTime      string        `json:"closeTime"`
	VenueState     string        `json:"venueState"`
	Resolution     string        `json:"resolution"`
	Payout         *float64      `json:"payout"`
	book
}

// book is the order book around a price.
type book struct {
	YesBid *float64 `json:"yesBid"`
	YesAsk *float64 `json:"yesAsk"`
	Spread *float64 `json:"spread"`
}

func (in *book) empty() bool { return in.YesBid == nil && in.YesAsk == nil && in.Spread == nil }

func (in *book) read(rules venue.Rules) (top *world.Top, spread *world.Price, err error) {
	switch {
	case !in.empty() && rules.NoBook:
		return nil, nil, invalid("this venue has no order books")
	case (in.YesBid == nil) != (in.YesAsk == nil) || in.YesBid != nil && in.Spread != nil:
		return nil, nil, invalid("give yesBid and yesAsk together, or spread")
	}
	if spread, err = readShare("spread", in.Spread); err != nil || in.YesBid == nil {
		return nil, spread, err
	}
	bid, err := readShare("yesBid", in.YesBid)
	if err != nil {
		return nil, nil, err
	}
	ask, err := readShare("yesAsk", in.YesAsk)
	if err != nil {
		return nil, nil, err
	}
	return &world.Top{Bid: *bid, Ask: *ask}, nil, nil
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
	c, err := in.read(v.World.Now(), v.Rules)
	if err != nil {
		return err
	}
	if err := v.World.Change(m.ID, c); err != nil {
		return err
	}
	answer(w, http.StatusOK, map[string]string{"id": v.id(m.ID)})
	return nil
}

// decided reports whether the new state has an outcome.
func (in *change) decided() bool {
	return in.State == world.Proposed || in.State == world.Disputed || in.State == world.Resolved
}

func (in *change) read(now time.Time, rules venue.Rules) (c world.Change, err error) {
	if err := in.check(rules); err != nil {
		return c, err
	}
	c.State, c.Outcome, c.VenueState, c.Resolution = in.State, in.Outcome, in.VenueState, in.Resolution
	c.EndsTrading = in.State == world.Closed || in.State == world.Resolved || in.decided() && !rules.TradesProposed
	if c.Price, err = readShare("yesPrice", in.YesPrice); err != nil {
		return c, err
	}
	if c.Payout, err = readShare("payout", in.Payout); err != nil {
		return c, err
	}
	if c.Book, c.Spread, err = in.book.read(rules); err != nil {
		return c, err
	}
	if in.CloseTime != "" {
		if c.ClosedAt, err = readPast("closeTime", in.CloseTime, now); err != nil {
			return c, err
		}
	}
	if in.ResolutionTime != "" {
		c.ChangedAt, err = readPast("resolutionTime", in.ResolutionTime, now)
	}
	return c, err
}

// check applies the rules of the venue. It sets the state that belongs to venueState.
func (in *change) check(rules venue.Rules) error {
	if in.VenueState != "" {
		state, known := rules.VenueStates[in.VenueState]
		if !known || in.State != "" && in.State != state {
			return invalid("venueState must be one of %s, with the state of the word", words(rules.VenueStates))
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
		return invalid("nothing to change: give yesPrice, yesBid and yesAsk, spread, state or outcome")
	case in.State == world.Disputed && rules.NoDispute:
		return invalid("this venue has no disputes")
	case in.ResolutionTime != "" && in.State != world.Resolved:
		return invalid("resolutionTime belongs to state resolved")
	case in.CloseTime != "" && (in.State == "" || in.State == world.Open):
		return invalid("closeTime belongs to state closed, proposed, disputed or resolved")
	case (in.Resolution != "" || in.Payout != nil) && !in.decided():
		return invalid("resolution and payout belong to state proposed, disputed or resolved")
	case in.Resolution != "" && (!known || !slices.Contains(outcomes, in.Outcome)):
		return invalid("resolution must be one of %s, with an outcome that the word can express", words(rules.Resolutions))
	case in.Payout != nil && (!rules.Payout || in.Outcome != world.Invalid):
		return invalid("payout belongs to outcome INVALID, at a venue that can pay a share")
	}
	return nil
}

func words[T any](m map[string]T) string {
	if len(m) == 0 {
		return "(none at this venue)"
	}
	return strings.Join(slices.Sorted(maps.Keys(m)), ", ")
}

// readShare reads a number from 0 to 1; nil stays nil.
func readShare(name string, value *float64) (*world.Price, error) {
	if value == nil {
		return nil, nil
	}
	p, err := world.NewPrice(*value)
	if err != nil {
		return nil, invalid("%s: %v", name, err)
	}
	return &p, nil
}

func readTime(name, text string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return t, invalid("%s must be RFC 3339, such as 2027-01-31T12:00:00Z", name)
	}
	return t.UTC(), nil
}

// readPast reads a time that is not in the future.
func readPast(name, text string, now time.Time) (time.Time, error) {
	t, err := readTime(name, text)
	if err == nil && t.After(now) {
		err = invalid("%s must not be in the future", name)
	}
	return t, err
}
