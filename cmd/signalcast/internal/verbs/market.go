package verbs

import (
	"context"
	"strconv"

	"github.com/signalcast/signalcast/cmd/signalcast/internal/ask"
	"github.com/signalcast/signalcast/cmd/signalcast/internal/show"
	"github.com/signalcast/signalcast/sdk/go/client"
)

// Market groups the commands of `signalcast market`, which search and show markets.
type Market struct {
	Search marketSearch `cmd:"" help:"Search markets of the primary venue, or with --venue of all venues. Without words it lists all open markets."`
	Show   marketShow   `cmd:"" help:"Show a market."`
	Crowd  marketCrowd  `cmd:"" help:"Show the calls on a market by side."`
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
