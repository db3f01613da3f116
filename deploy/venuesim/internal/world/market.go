package world

import (
	"strings"
	"time"
)

// State is the state of a market in its life cycle.
type State string

// States of a market, in their usual order.
const (
	Open     State = "open"
	Closed   State = "closed"   // trading has ended and no outcome is proposed
	Proposed State = "proposed" // an outcome is proposed
	Disputed State = "disputed" // the proposed outcome is challenged
	Resolved State = "resolved" // the outcome is final
)

// Valid reports whether s is one of the five states.
func (s State) Valid() bool {
	return s == Open || s == Closed || s == Proposed || s == Disputed || s == Resolved
}

// Outcome is the result of a market. The empty value means that there is no result yet.
type Outcome string

// Outcomes of a market.
const (
	Yes     Outcome = "YES"
	No      Outcome = "NO"
	Invalid Outcome = "INVALID"
)

// Valid reports whether o is one of the three outcomes.
func (o Outcome) Valid() bool { return o == Yes || o == No || o == Invalid }

// Tag is a topic of a market.
type Tag struct{ ID, Label, Slug string }

// Event groups markets that belong together at a venue.
type Event struct {
	ID, Slug, Title string
	Series          string // key of the series at the venue; recorded events only
	Exclusive       bool   // at most one of its markets ends YES
	Group           bool   // the event has, or can have, several markets
	First           int64  // number of its first market
}

// Status is the state and the outcome of a market.
type Status struct {
	State      State
	Outcome    Outcome
	ChangedAt  time.Time // time at which the market reached State; zero for a market that was always open
	ClosedAt   time.Time // time at which trading ended; zero: ChangedAt
	VenueState string    // state in the words of the venue; empty: derived from State
	Resolution string    // form of the result at the venue; empty: the usual form
	Payout     *Price    // payout of YES if Outcome is INVALID; nil: the usual payout of the venue
}

// Market is a copy of the state of one market at one time.
type Market struct {
	ID                                    int64
	Key                                   string // key at the venue; empty: derived from ID
	Event                                 Event
	EventIndex                            int    // index among the markets of its event
	Candidate                             string // name of the market within its event
	Question, Description, Slug, Category string
	Labels                                []string // labels of the outcomes, usually Yes and No
	Tags                                  []Tag
	Kind, Creator                         string // kind and creator at the venue; empty: the usual ones
	Start, End                            time.Time

	Status
	Price  Price // price of YES before the outcome is final
	Spread *Price
	Book   *Top // best bid and ask of YES; nil: derived from Price and Spread
	// Path returns the YES price at a Unix time in seconds.
	Path func(unix int64) Price

	Volume, Volume24h, Liquidity float64
	ConditionID, QuestionID      string
	Tokens                       []string // token ids, one for each outcome
	Changed                      bool     // a test changed the market
}

// Created reports whether a test created the market.
func (m *Market) Created() bool { return m.ID >= firstCreated }

// YesIndex returns the index of the label "yes" in upper or lower case, or 0 if there is none.
func (m *Market) YesIndex() int {
	for i, label := range m.Labels {
		if strings.EqualFold(label, "yes") {
			return i
		}
	}
	return 0
}

// YesQuestion returns the question to which the outcome YES is the answer. For a market between two names it adds the first
// name in parentheses.
func (m *Market) YesQuestion() string {
	if label := m.Labels[m.YesIndex()]; !strings.EqualFold(label, "yes") {
		return m.Question + " (" + label + ")"
	}
	return m.Question
}

// Prices returns the price of each outcome. For a resolved market these are the payouts. Otherwise YES has the price of the
// market, and the other outcomes share the rest evenly.
func (m *Market) Prices() []Price {
	out, yes, p := make([]Price, len(m.Labels)), m.YesIndex(), m.Price
	if m.State == Resolved {
		switch m.Outcome {
		case Yes:
			p = One
		case No:
			out[(yes+1)%len(out)] = One
			return out
		case Invalid:
			p = One / Price(len(out))
		}
	}
	for i := range out {
		if out[i] = p; i != yes {
			out[i] = (One - p) / Price(len(out)-1)
		}
	}
	return out
}

// Tops returns the best bid and ask of each outcome.
func (m *Market) Tops() []Top {
	prices, yes := m.Prices(), m.YesIndex()
	out := make([]Top, len(prices))
	for i, p := range prices {
		switch {
		case m.Book != nil && i == yes:
			out[i] = *m.Book
		case m.Book != nil && len(prices) == 2:
			out[i] = m.Book.opposite()
		case m.Spread != nil:
			low := max(p-*m.Spread/2, 0)
			out[i] = Top{low, min(low+*m.Spread, One)}
		default:
			out[i] = TopAround(p)
		}
	}
	return out
}

// Top returns the best bid and ask of YES.
func (m *Market) Top() Top { return m.Tops()[m.YesIndex()] }

// Finished reports whether trading has ended because the market is closed or resolved.
func (m *Market) Finished() bool { return m.State == Closed || m.State == Resolved }

// Ended returns the time at which trading ended. The caller must not use it for an open market.
func (m *Market) Ended() time.Time {
	if m.ClosedAt.IsZero() {
		return m.ChangedAt
	}
	return m.ClosedAt
}

// EndOfTrading returns the time at which trading ends or ended: End, or an earlier time if the market is no longer open.
func (m *Market) EndOfTrading() time.Time {
	if at := m.Ended(); m.State != Open && !at.IsZero() && at.Before(m.End) {
		return at
	}
	return m.End
}

// LastPriceAt returns the latest time, not after now, at which the price may have changed.
func (m *Market) LastPriceAt(now time.Time) time.Time {
	if at := m.Ended(); m.Finished() && !at.IsZero() && at.Before(now) {
		return at
	}
	return now
}
