package verbs

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/signalcast/signalcast/cmd/signalcast/internal/ask"
	"github.com/signalcast/signalcast/cmd/signalcast/internal/settings"
	"github.com/signalcast/signalcast/cmd/signalcast/internal/show"
	"github.com/signalcast/signalcast/sdk/go/client"
)

// Market groups the commands of `signalcast market`, which search and show markets.
type Market struct {
	Search marketSearch `cmd:"" help:"Search the markets of the primary venue. Without words it lists all open markets."`
	Show   marketShow   `cmd:"" help:"Show a market."`
	Crowd  marketCrowd  `cmd:"" help:"Show the calls on a market by side."`
}

type marketSearch struct {
	settings.Flags
	Words  []string `arg:"" optional:"" help:"Words that the name must contain."`
	Lane   *string  `help:"Only this lane, such as SCIENCE." enum:"${lanes}" placeholder:"LANE"`
	Closed bool     `help:"List closed and resolved markets instead of open ones."`
	Sort   string   `help:"Order: volume, volume24h or endDate." enum:"volume,volume24h,endDate" default:"volume"`
	Paging
}

// Run lists the markets that match the words and the flags of the command.
func (m *marketSearch) Run(ctx context.Context, s *Streams) error {
	if err := m.check(); err != nil {
		return err
	}
	at, err := openPublic(&m.Flags, s)
	if err != nil {
		return err
	}
	closed := strconv.FormatBool(m.Closed)
	raw, err := m.read(func(cursor *string) (*http.Response, error) {
		return at.FindMarkets(ctx, &client.FindMarketsParams{
			Q: optional(strings.Join(m.Words, " ")), Lane: m.Lane, Closed: &closed, Sort: &m.Sort, Limit: &m.Limit, Cursor: cursor,
		})
	})
	return showBody(at, raw, err, func(l *client.MarketRows) error {
		const none = "No market matches. Use fewer words, or --closed."
		err := show.Table(at.out, none, "ID,YES,ENDS,LANE,NAME", l.Markets, func(r client.MarketRow) []string {
			yes := ""
			if r.YesPct != nil {
				yes = strconv.FormatFloat(float64(*r.YesPct), 'f', -1, 32)
			}
			return []string{r.ID, yes, when(r.ClosesAt), string(r.Lane), r.Name}
		})
		if err != nil {
			return err
		}
		return at.showNext(l.NextCursor)
	})
}

type marketShow struct {
	public
	Market string `arg:"" help:"Id of the market."`
}

// Run shows the market with its newest price.
func (m *marketShow) Run(ctx context.Context, at *session) error {
	a, err := at.GetMarket(ctx, m.Market)
	return adviseNotFound(showResponse(at, a, err, func(m *client.Market) error {
		yes := "no price from the last ten minutes"
		if m.YesBps != nil {
			yes = show.Cents(*m.YesBps) + " cents"
		}
		return show.Pairs(at.out, "Market", m.MarketID, "Question", m.Question, "Price of YES", yes, "Status", string(m.Status),
			"Outcome", text(m.ResolutionValue), "Ends", when(m.EndDate), "Lane", string(m.Lane), "Venue", string(m.Provider))
	}), findMarketID)
}

type marketCrowd struct {
	public
	Market string `arg:"" help:"Id of the market."`
}

// Run shows the number of calls on each side of the market.
func (m *marketCrowd) Run(ctx context.Context, at *session) error {
	a, err := at.GetCrowd(ctx, m.Market)
	return adviseNotFound(showResponse(at, a, err, func(c *client.Crowd) error {
		best := ""
		if c.TopForecasters != nil {
			best = strconv.Itoa(c.TopForecasters.YesPercent) + "% YES in " + strconv.Itoa(c.TopForecasters.SampleSize) + " calls"
		}
		return show.Pairs(at.out, "Market", c.MarketID, "Calls", strconv.Itoa(c.TotalSignals),
			"YES", share(c.YesCount, c.YesPercent), "NO", share(c.NoCount, c.NoPercent), "Best forecasters", best)
	}), findMarketID)
}

// share returns a count as text, with its percentage in parentheses unless percent is nil.
func share(n int, percent *int) string {
	if percent == nil {
		return strconv.Itoa(n)
	}
	return strconv.Itoa(n) + " (" + strconv.Itoa(*percent) + "%)"
}

// adviseNotFound returns err. If err is a refusal with status 404, it first sets the sentence in the parameter do as the
// advice.
func adviseNotFound(err error, do string) error {
	return ask.Advise(err, map[string]ask.Advice{"404": {Do: do}})
}

// findMarketID is the advice for a market id that does not exist.
const findMarketID = "Find the id with `signalcast market search`"
