package world

import (
	"encoding/json"
	"strings"
	"time"
)

// State is where a market stands in its life.
type State string

// The states of a market, in the order of an undisturbed life.
const (
	Open     State = "open"
	Closed   State = "closed"   // trading over, nothing proposed
	Proposed State = "proposed" // an outcome is put forward
	Disputed State = "disputed" // the proposed outcome is challenged
	Resolved State = "resolved" // final
)

// Known says whether s is one of the five states.
func (s State) Known() bool {
	switch s {
	case Open, Closed, Proposed, Disputed, Resolved:
		return true
	}
	return false
}

// Verdict is how a market ended or is said to end; empty when nothing is said.
type Verdict string

// The three verdicts.
const (
	Yes     Verdict = "YES"
	No      Verdict = "NO"
	Invalid Verdict = "INVALID"
)

// Known says whether v is one of the three verdicts.
func (v Verdict) Known() bool { return v == Yes || v == No || v == Invalid }

// Tag is a topic word of a market.
type Tag struct {
	ID    string
	Label string
	Slug  string
}

// Event groups the markets that belong to one question.
type Event struct {
	ID       string
	Slug     string
	Title    string
	NegRisk  bool // at most one of its markets ends YES
	Children int
	Head     int64           // number of its first market
	Group    bool            // it holds, or is meant to hold, several markets
	Tags     []Tag           // of its first market
	Raw      json.RawMessage // the recorded object of an event that has one
}

// Path gives the YES price of a market at a second of Unix time.
type Path func(unix int64) Micros

// Market is one market as it stands at one moment. It is a copy: changing it
// changes nothing in the world.
type Market struct {
	ID          int64
	Event       Event
	Question    string
	Description string
	Slug        string
	GroupTitle  string // the candidate's name within an event of several
	GroupIndex  int
	Category    string
	SportsType  string // empty outside sport
	Outcomes    []string
	Tags        []Tag
	Start       time.Time
	End         time.Time // zero when the market has no end date
	State       State
	Verdict     Verdict
	ChangedAt   time.Time // when State was reached; zero for a market that was always open
	ClosedAt    time.Time // when trading ended, where that was before ChangedAt; else zero
	Price       Micros    // YES price, before any outcome is final
	Spread      *Micros   // between best bid and ask; nil: see Quote
	Book        *Top      // of YES, where it is given instead of Price and Spread
	Path        Path
	Volume      float64
	Volume24h   float64
	Liquidity   float64
	NegRisk     bool
	Placeholder bool // listed without prices or tokens

	Creator string  // id of the user who created it, where a test named one
	Key     string  // the venue's own key of a recorded market
	Kind    string  // the venue's own kind of market, where a test named it
	Word    string  // the venue's own word of the state, where a test named it
	Form    string  // the venue's own way of telling the result, likewise
	Payout  *Micros // what a market without a plain result pays for YES, likewise
	Moves   []int64 // moments at which a test moved the price, rising

	ConditionID string
	QuestionID  string
	Tokens      []string // one per outcome

	// Raw is the recorded object of a market that was not invented here and
	// RawClosed its own word on being closed; Patched says that a test has since
	// changed state or price.
	Raw       json.RawMessage
	RawClosed bool
	Patched   bool
}

// YesIndex is the position of the outcome that counts as YES: the label yes in
// any case, else the first.
func (m *Market) YesIndex() int {
	for i, o := range m.Outcomes {
		if len(o) == 3 && (o[0]|32) == 'y' && (o[1]|32) == 'e' && (o[2]|32) == 's' {
			return i
		}
	}
	return 0
}

// Prices gives the price of every outcome: the payout once resolved, else the
// YES price at its place with the rest shared evenly by the others.
func (m *Market) Prices() []Micros {
	out := make([]Micros, len(m.Outcomes))
	yes := m.YesIndex()
	p := m.Price
	if m.State == Resolved {
		switch m.Verdict {
		case Yes:
			p = One
		case No:
			p = 0
		case Invalid:
			for i := range out {
				out[i] = One / Micros(len(out))
			}
			return out
		}
	}
	for i := range out {
		switch {
		case i == yes:
			out[i] = p
		case m.State == Resolved && m.Verdict == No:
			out[i] = 0
		default:
			out[i] = (One - p) / Micros(len(out)-1)
		}
	}
	if m.State == Resolved && m.Verdict == No {
		out[(yes+1)%len(out)] = One
	}
	return out
}

// Created says whether a test created the market: nothing about it is left to chance.
func (m *Market) Created() bool { return m.ID >= FirstCreated }

// Odd picks about one in n of the markets that are not created nor recorded, and
// always the same ones; salt tells one choice from another.
func (m *Market) Odd(salt string, n uint64) bool {
	return !m.Created() && m.Raw == nil && m.Key == "" && Draw(salt, uint64(m.ID))%n == 0
}

// YesQuestion is the question with YES as its first answer: a market between
// two names asks for the first.
func (m *Market) YesQuestion() string {
	i := m.YesIndex()
	if i >= len(m.Outcomes) || strings.EqualFold(m.Outcomes[i], "yes") {
		return m.Question
	}
	return m.Question + " (" + m.Outcomes[i] + ")"
}

// Top is the best bid and ask of an outcome. A bid of 0 and an ask of One mean that the side
// has no orders.
type Top struct{ Bid, Ask Micros }

// other returns the top of the opposite outcome.
func (t Top) other() Top { return Top{One - t.Ask, One - t.Bid} }

// Tops returns the best bid and ask of every outcome.
func (m *Market) Tops() []Top {
	prices, yes := m.Prices(), m.YesIndex()
	out := make([]Top, len(prices))
	for i, p := range prices {
		switch {
		case m.Book != nil && i == yes:
			out[i] = *m.Book
		case m.Book != nil && len(prices) == 2:
			out[i] = m.Book.other()
		case m.Spread != nil:
			low := max(p-*m.Spread/2, 0)
			out[i] = Top{low, min(low+*m.Spread, One)}
		default:
			out[i].Bid, out[i].Ask = Quote(p)
		}
	}
	return out
}

// Top returns the best bid and ask of YES.
func (m *Market) Top() Top { return m.Tops()[m.YesIndex()] }

// Quote returns the best bid and ask around a price: a cent apart in the middle of the range,
// a tenth of a cent apart near its ends.
func Quote(p Micros) (bid, ask Micros) {
	half := Micros(5_000)
	if p < 50_000 || p > One-50_000 {
		half = 500
	}
	return max(p-half, 0), min(p+half, One)
}

// Finished says whether the venue shows the market as closed.
func (m *Market) Finished() bool {
	if m.Raw != nil && !m.Patched {
		return m.RawClosed
	}
	return m.State == Closed || m.State == Resolved
}

// Until is the last moment at which the price of the market can have moved.
func (m *Market) Until(now time.Time) time.Time {
	if at := m.Ended(); (m.State == Resolved || m.State == Closed) && !at.IsZero() && at.Before(now) {
		return at
	}
	return now
}

// Ended is when trading ended in a market that is not open.
func (m *Market) Ended() time.Time {
	if m.ClosedAt.IsZero() {
		return m.ChangedAt
	}
	return m.ClosedAt
}
