package world

import (
	"strings"
	"time"
)

// State is the stage of a market's life.
type State string

// The states in the order of an undisturbed life.
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

// Outcome is the result of a market; empty while there is none.
type Outcome string

// The three outcomes.
const (
	Yes     Outcome = "YES"
	No      Outcome = "NO"
	Invalid Outcome = "INVALID"
)

// Valid reports whether o is one of the three outcomes.
func (o Outcome) Valid() bool { return o == Yes || o == No || o == Invalid }

// Tag is a topic of a market.
type Tag struct{ ID, Label, Slug string }

// Event groups the markets of one question.
type Event struct {
	ID, Slug, Title string
	Series          string // the venue's own key of the series; recorded events only
	Exclusive       bool   // at most one of its markets ends YES
	Group           bool   // it contains, or is meant to contain, several markets
	First           int64  // number of its first market
}

// Status is the state of a market with its outcome.
type Status struct {
	State      State
	Outcome    Outcome
	ChangedAt  time.Time // when State was reached; zero for a market that was always open
	ClosedAt   time.Time // when trading ended; zero: at ChangedAt
	VenueState string    // the venue's own word of the state; empty: the usual word
	Resolution string    // the venue's own form of the result; empty: the usual form
	Payout     *Price    // of YES, if Outcome is INVALID; nil: the venue's usual payout
}

// Market is a copy of one market at one moment.
type Market struct {
	ID                                    int64
	Key                                   string // the venue's own key; empty: derived from ID
	Event                                 Event
	EventIndex                            int    // place among the markets of its event
	Candidate                             string // name of the market within its event
	Question, Description, Slug, Category string
	Labels                                []string // of the outcomes, Yes and No for most
	Tags                                  []Tag
	Kind, Creator                         string // of the venue; empty: the usual ones
	Start, End                            time.Time

	Status
	Price  Price // of YES, before the outcome is final
	Spread *Price
	Book   *Top // of YES; nil: derived from Price and Spread
	// Path returns the YES price at a Unix time in seconds.
	Path func(unix int64) Price

	Volume, Volume24h, Liquidity float64
	ConditionID, QuestionID      string
	Tokens                       []string // one per outcome
	Changed                      bool     // by a test
}

// Created reports whether a test created the market.
func (m *Market) Created() bool { return m.ID >= firstCreated }

// YesIndex returns the place of the label yes in any case, otherwise 0.
func (m *Market) YesIndex() int {
	for i, label := range m.Labels {
		if strings.EqualFold(label, "yes") {
			return i
		}
	}
	return 0
}

// YesQuestion returns the question with YES as the answer: a market between two names asks for the first.
func (m *Market) YesQuestion() string {
	if label := m.Labels[m.YesIndex()]; !strings.EqualFold(label, "yes") {
		return m.Question + " (" + label + ")"
	}
	return m.Question
}

// Prices returns the price of each outcome: the payout of a resolved market, otherwise the YES price with the rest shared
// evenly by the others.
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

// Finished reports whether trading has ended by the market's state.
func (m *Market) Finished() bool { return m.State == Closed || m.State == Resolved }

// Ended returns when trading ended in a market that is not open.
func (m *Market) Ended() time.Time {
	if m.ClosedAt.IsZero() {
		return m.ChangedAt
	}
	return m.ClosedAt
}

// EndOfTrading returns when trading ends: at End, or earlier in a market that is not open any more.
func (m *Market) EndOfTrading() time.Time {
	if at := m.Ended(); m.State != Open && !at.IsZero() && at.Before(m.End) {
		return at
	}
	return m.End
}

// LastPriceAt returns the last moment up to now at which the price can have changed.
func (m *Market) LastPriceAt(now time.Time) time.Time {
	if at := m.Ended(); m.Finished() && !at.IsZero() && at.Before(now) {
		return at
	}
	return now
}
