package control

import (
	"errors"
	"net/http"
	"time"

	"github.com/signalcast/signalcast/deploy/venuesim/internal/world"
)

type changeBody struct {
	YesPrice       *float64      `json:"yesPrice"`
	State          world.State   `json:"state"`
	Outcome        world.Verdict `json:"outcome"`
	ResolutionTime *string       `json:"resolutionTime"`
	VenueState     string        `json:"venueState"`
	Resolution     string        `json:"resolution"`
	Payout         *float64      `json:"payout"`
	CloseTime      *string       `json:"closeTime"`
	bookBody
}

// bookBody names the order book around a price.
type bookBody struct {
	YesBid *float64 `json:"yesBid"`
	YesAsk *float64 `json:"yesAsk"`
	Spread *float64 `json:"spread"`
}

func (in bookBody) named() bool { return in.YesBid != nil || in.YesAsk != nil || in.Spread != nil }

func (in bookBody) read() (book *world.Top, spread *world.Micros, err error) {
	if (in.YesBid == nil) != (in.YesAsk == nil) || in.YesBid != nil && in.Spread != nil {
		return nil, nil, bad("give yesBid and yesAsk together, or spread")
	}
	if spread, err = share("spread", in.Spread); err != nil || in.YesBid == nil {
		return nil, spread, err
	}
	bid, err1 := share("yesBid", in.YesBid)
	ask, err2 := share("yesAsk", in.YesAsk)
	if err := errors.Join(err1, err2); err != nil {
		return nil, nil, bad("%v", err)
	}
	return &world.Top{Bid: *bid, Ask: *ask}, nil, nil
}

func (c control) change(v Venue, r *http.Request, body []byte) (int, any, error) {
	var in changeBody
	if err := decode(body, &in); err != nil {
		return 0, nil, err
	}
	id, ok := v.Read(r.PathValue("id"))
	if !ok {
		return 0, nil, world.ErrNoMarket
	}
	ch, err := in.change(v)
	if err != nil {
		return 0, nil, err
	}
	if err := v.World.Change(id, ch); err != nil {
		return 0, nil, err
	}
	return http.StatusOK, map[string]string{"id": v.Spell(id)}, nil
}

func (in changeBody) change(v Venue) (ch world.Change, err error) {
	if in.VenueState != "" {
		if in.State, err = v.Rules.state(in.VenueState, in.State); err != nil {
			return ch, err
		}
	}
	if in.State != "" && !in.State.Known() {
		return ch, bad("state must be open, closed, proposed, disputed or resolved")
	}
	if in.Outcome != "" && !in.Outcome.Known() {
		return ch, bad("outcome must be YES, NO or INVALID")
	}
	if in.YesPrice == nil && in.State == "" && in.Outcome == "" && !in.named() {
		return ch, bad("nothing to change: give yesPrice, yesBid and yesAsk, spread, state or outcome")
	}
	if err := v.Rules.change(in); err != nil {
		return ch, err
	}
	ch = world.Change{State: in.State, Verdict: in.Outcome, Word: in.VenueState, Form: in.Resolution}
	if ch.Price, err = share("yesPrice", in.YesPrice); err != nil {
		return ch, err
	}
	if ch.Payout, err = share("payout", in.Payout); err != nil {
		return ch, err
	}
	if ch.Book, ch.Spread, err = in.read(); err != nil {
		return ch, err
	}
	now := v.World.Now()
	ch.Ends = in.State != "" && in.State != world.Open && (in.State == world.Closed || in.State == world.Resolved || !v.Rules.TradesOn)
	if in.CloseTime != nil {
		if ch.Closed, err = moment("closeTime", *in.CloseTime, now); err != nil {
			return ch, err
		}
	}
	if in.ResolutionTime != nil {
		ch.At, err = moment("resolutionTime", *in.ResolutionTime, now)
	}
	return ch, err
}

// share reads a number from 0 to 1; nil stays nil.
func share(name string, value *float64) (*world.Micros, error) {
	if value == nil {
		return nil, nil
	}
	p, err := world.FromFloat(*value)
	if err != nil {
		return nil, bad("%s: %v", name, err)
	}
	return &p, nil
}

// moment reads a time that has been.
func moment(name, text string, now time.Time) (time.Time, error) {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return t, bad("%s must be RFC 3339, such as 2027-01-31T12:00:00Z", name)
	}
	if t.After(now) {
		return t, bad("%s must not be in the future", name)
	}
	return t.UTC(), nil
}
