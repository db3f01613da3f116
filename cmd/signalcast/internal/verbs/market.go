package verbs

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/signalcast/signalcast/cmd/signalcast/internal/ask"
	"github.com/signalcast/signalcast/cmd/signalcast/internal/settings"
	"github.com/signalcast/signalcast/cmd/signalcast/internal/show"
	"github.com/signalcast/signalcast/sdk/go/client"
)

// Market are `signalcast market …`.
type Market struct {
	Search marketSearch `cmd:"" help:"Markets of the primary venue by words; without words all that are open."`
	Show   marketShow   `cmd:"" help:"One market."`
	Crowd  marketCrowd  `cmd:"" help:"What was called on a market."`
}

type marketSearch struct {
	settings.Flags
	Words  []string `arg:"" optional:"" help:"Every one of them is in the name."`
	Lane   string   `help:"One lane alone, such as SCIENCE." enum:"${lanes}" default:""`
	Closed bool     `help:"Those that are closed or resolved."`
	Sort   string   `help:"volume, volume24h or endDate." enum:"volume,volume24h,endDate" default:"volume"`
	Limit  int      `help:"1 to 100." default:"20"`
	Cursor string   `help:"next_cursor of the page before."`
}

// Run searches.
func (m *marketSearch) Run(ctx context.Context, s *Streams) error {
	if m.Limit < 1 || m.Limit > 100 {
		return errors.New("--limit is 1 to 100")
	}
	at, err := reading(&m.Flags, s)
	if err != nil {
		return err
	}
	closed := strconv.FormatBool(m.Closed)
	a, err := at.FindMarkets(ctx, &client.FindMarketsParams{
		Q: given(strings.Join(m.Words, " ")), Lane: given(m.Lane), Closed: &closed, Sort: &m.Sort, Limit: &m.Limit, Cursor: given(m.Cursor),
	})
	return finish(at, a, err, func(l *client.MarketRows) error {
		const none = "No market has these words. Use fewer, or --closed."
		err := show.Table(at.out, none, "ID,YES,ENDS,LANE,NAME", l.Markets, func(r client.MarketRow) []string {
			yes := ""
			if r.YesPct != nil {
				yes = strconv.FormatFloat(float64(*r.YesPct), 'f', -1, 32)
			}
			return []string{r.ID, yes, when(r.ClosesAt), string(r.Lane), show.Short(r.Name, 70)}
		})
		if err != nil || l.NextCursor == nil {
			return err
		}
		return show.Pairs(at.out, "More with", "--cursor "+*l.NextCursor)
	})
}

type marketShow struct {
	public
	Market string `arg:"" help:"The market's id."`
}

// Run shows.
func (m *marketShow) Run(ctx context.Context, at *session) error {
	a, err := at.GetMarket(ctx, m.Market)
	return known(finish(at, a, err, func(m *client.Market) error {
		yes := "none of the last ten minutes"
		if m.YesBps != nil {
			yes = show.Cents(*m.YesBps) + " cents"
		}
		return show.Pairs(at.out, "Market", m.MarketID, "Question", m.Question, "Price of YES", yes, "Status", string(m.Status),
			"Outcome", text(m.ResolutionValue), "Ends", when(m.EndDate), "Lane", string(m.Lane), "Venue", string(m.Provider))
	}), "Find the id with `signalcast market search`")
}

type marketCrowd struct {
	public
	Market string `arg:"" help:"The market's id."`
}

// Run shows the crowd.
func (m *marketCrowd) Run(ctx context.Context, at *session) error {
	a, err := at.GetCrowd(ctx, m.Market)
	return known(finish(at, a, err, func(c *client.Crowd) error {
		best := ""
		if c.TopForecasters != nil {
			best = strconv.Itoa(c.TopForecasters.YesPercent) + "% YES of " + strconv.Itoa(c.TopForecasters.SampleSize) + " calls"
		}
		return show.Pairs(at.out, "Market", c.MarketID, "Calls", strconv.Itoa(c.TotalSignals),
			"YES", share(c.YesCount, c.YesPercent), "NO", share(c.NoCount, c.NoPercent), "Best forecasters", best)
	}), "Find the id with `signalcast market search`")
}

func share(n int, percent *int) string {
	if percent == nil {
		return strconv.Itoa(n)
	}
	return strconv.Itoa(n) + " (" + strconv.Itoa(*percent) + "%)"
}

// known says what to do when there is no such thing.
func known(err error, do string) error { return ask.Advise(err, map[string]string{"404": do}) }
