// Package recorded converts recorded responses of venues to markets of a world. It reads two formats: lists of metadata objects
// of Polymarket, and lists of events with their markets from Kalshi's website.
//
// The converted markets have the recorded identifiers, texts, tags, states, dates, volumes, liquidity, prices and results, as far
// as the format contains them. All other members of the simulated responses are invented. Recordings in other formats are
// ignored.
package recorded

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/signalcast/signalcast/deploy/venuesim/internal/kalshi"
	"github.com/signalcast/signalcast/deploy/venuesim/internal/world"
)

// Answers contains the recorded markets of each venue. A list is nil if the venue has no recorded markets.
type Answers struct{ Polymarket, Kalshi []world.Market }

// Load reads all JSON files in the folders and their subfolders. It returns an error if a folder cannot be read or contains no
// market.
func Load(folders []string) (a Answers, err error) {
	for _, folder := range folders {
		before := len(a.Polymarket) + len(a.Kalshi)
		err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".json") {
				return err
			}
			raw, err := os.ReadFile(path)
			if err == nil {
				a.add(raw)
			}
			return err
		})
		if err != nil {
			return a, fmt.Errorf("read recorded answers: %w", err)
		}
		if len(a.Polymarket)+len(a.Kalshi) == before {
			return a, fmt.Errorf("read recorded answers: %s contains no market", folder)
		}
	}
	return a, nil
}

func (a *Answers) add(raw []byte) {
	var box struct {
		Events  []kalshiEvent `json:"events"`
		Markets []gammaMarket `json:"markets"`
	}
	if json.Unmarshal(raw, &box.Markets) != nil {
		_ = json.Unmarshal(raw, &box) // invalid JSON is ignored
	}
	for i := range box.Markets {
		if m, ok := box.Markets[i].market(); ok {
			a.Polymarket = append(a.Polymarket, m)
		}
	}
	for i := range box.Events {
		a.Kalshi = append(a.Kalshi, box.Events[i].markets()...)
	}
}

// gammaMarket is a metadata object of Polymarket.
type gammaMarket struct {
	ID            string                             `json:"id"`
	ConditionID   string                             `json:"conditionId"`
	QuestionID    string                             `json:"questionID"`
	Slug          string                             `json:"slug"`
	Question      string                             `json:"question"`
	Description   string                             `json:"description"`
	Category      string                             `json:"category"`
	Outcomes      string                             `json:"outcomes"`
	OutcomePrices string                             `json:"outcomePrices"`
	ClobTokenIDs  string                             `json:"clobTokenIds"`
	Closed        bool                               `json:"closed"`
	UMA           string                             `json:"umaResolutionStatus"`
	StartDate     string                             `json:"startDate"`
	EndDate       string                             `json:"endDate"`
	ClosedTime    string                             `json:"closedTime"`
	VolumeNum     float64                            `json:"volumeNum"`
	Volume24hr    float64                            `json:"volume24hr"`
	LiquidityNum  float64                            `json:"liquidityNum"`
	BestBid       *float64                           `json:"bestBid"`
	BestAsk       *float64                           `json:"bestAsk"`
	NegRisk       bool                               `json:"negRisk"`
	GroupTitle    string                             `json:"groupItemTitle"`
	Events        []struct{ ID, Slug, Title string } `json:"events"`
	Tags          []world.Tag                        `json:"tags"`
}

func (o *gammaMarket) market() (m world.Market, ok bool) {
	id, err := strconv.ParseInt(o.ID, 10, 64)
	m = world.Market{
		ID: id, Question: o.Question, Description: o.Description, Slug: o.Slug, Candidate: o.GroupTitle, Category: o.Category,
		Labels: listIn(o.Outcomes), Tokens: listIn(o.ClobTokenIDs), ConditionID: o.ConditionID, QuestionID: o.QuestionID, Tags: o.Tags,
		Start: timeOf(o.StartDate), End: timeOf(o.EndDate), Volume: o.VolumeNum, Volume24h: o.Volume24hr, Liquidity: o.LiquidityNum,
		Event: world.Event{ID: o.ID, Slug: o.Slug, Title: o.Question, Exclusive: o.NegRisk},
	}
	if len(o.Events) > 0 {
		m.Event.ID, m.Event.Slug, m.Event.Title = o.Events[0].ID, o.Events[0].Slug, o.Events[0].Title
	}
	if len(m.QuestionID) != 66 {
		m.QuestionID = o.ConditionID
	}
	if err != nil || len(o.ConditionID) != 66 || len(m.Labels) < 2 {
		return m, false
	}
	yes := m.YesIndex()
	if prices := listIn(o.OutcomePrices); yes < len(prices) {
		m.Price = priceOf(prices[yes])
	}
	if o.BestBid != nil && o.BestAsk != nil && len(m.Labels) == 2 {
		m.Book = &world.Top{Bid: rounded(*o.BestBid), Ask: rounded(*o.BestAsk)}
		if yes == 1 { // the members of the object are those of the first outcome
			m.Book.Bid, m.Book.Ask = world.One-m.Book.Ask, world.One-m.Book.Bid
		}
	}
	m.State, m.ChangedAt = world.Open, timeOf(o.ClosedTime)
	switch {
	case o.UMA == "disputed":
		m.State = world.Disputed
	case o.UMA == "resolved" && o.Closed:
		m.State, m.Outcome = world.Resolved, outcomeOf(m.Price)
	case o.UMA != "":
		m.State = world.Proposed
	case o.Closed:
		m.State = world.Closed
	}
	return m, true
}

// outcomeOf returns the outcome that a final YES price implies. Prices that are near neither 0 nor One mean Invalid.
func outcomeOf(p world.Price) world.Outcome {
	switch {
	case p >= world.One-1000:
		return world.Yes
	case p <= 1000:
		return world.No
	}
	return world.Invalid
}

// kalshiEvent is an event in the format of Kalshi's website.
type kalshiEvent struct {
	Ticker    string         `json:"ticker"`
	Series    string         `json:"series_ticker"`
	Title     string         `json:"title"`
	Category  string         `json:"category"`
	Exclusive bool           `json:"mutually_exclusive"`
	Markets   []kalshiMarket `json:"markets"`
}

type kalshiMarket struct {
	Ticker      string `json:"ticker_name"`
	Title       string `json:"title"`
	YesSubTitle string `json:"yes_sub_title"`
	Status      string `json:"status"`
	Result      string `json:"result"`
	OpenDate    string `json:"open_date"`
	CloseDate   string `json:"close_date"`
	Bid         string `json:"yes_bid_dollars"`
	Ask         string `json:"yes_ask_dollars"`
	Last        string `json:"last_price_dollars"`
	Volume      string `json:"volume_fp"`
}

func (e *kalshiEvent) markets() (out []world.Market) {
	for _, o := range e.Markets {
		volume, _ := strconv.ParseFloat(o.Volume, 64)
		m := world.Market{
			Key: o.Ticker, Question: o.Title, Candidate: o.YesSubTitle, Category: e.Category,
			Event:  world.Event{ID: e.Ticker, Slug: e.Ticker, Series: e.Series, Title: e.Title, Exclusive: e.Exclusive},
			Labels: []string{"Yes", "No"}, Start: timeOf(o.OpenDate), End: timeOf(o.CloseDate),
			Status: world.Status{State: kalshi.States[o.Status], VenueState: o.Status}, Volume: volume, Price: priceOf(o.Last),
			Book: &world.Top{Bid: priceOf(o.Bid), Ask: priceOf(o.Ask)},
		}
		if m.Key == "" || m.State == "" || m.Event.Slug == "" {
			continue
		}
		if m.State != world.Open {
			m.ChangedAt = m.End
			m.Outcome = map[string]world.Outcome{"yes": world.Yes, "no": world.No, "scalar": world.Invalid}[o.Result]
		}
		out = append(out, m)
	}
	return out
}

// listIn returns the list that s contains as JSON text. It is empty, not nil, if s contains no list.
func listIn(s string) []string {
	out := []string{}
	_ = json.Unmarshal([]byte(s), &out)
	return out
}

func rounded(f float64) world.Price {
	return world.Price(math.Round(min(max(f, 0), 1) * float64(world.One)))
}

// priceOf returns the price that text contains, or 0 if text is not a number.
func priceOf(text string) world.Price {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(f) {
		return 0
	}
	return rounded(f)
}

// timeOf returns the time that text contains, in any of the formats of recorded responses. It returns the zero time if text is
// invalid.
func timeOf(text string) time.Time {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02 15:04:05.999999999Z07"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC()
		}
	}
	return time.Time{}
}
