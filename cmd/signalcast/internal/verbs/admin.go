package verbs

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/signalcast/signalcast/cmd/signalcast/internal/ask"
	"github.com/signalcast/signalcast/cmd/signalcast/internal/settings"
	"github.com/signalcast/signalcast/cmd/signalcast/internal/show"
	"github.com/signalcast/signalcast/sdk/go/client"
)

// Admin are `signalcast admin …`, for the people who run a service.
type Admin struct {
	Market struct {
		Create adminMarket `cmd:"" help:"Open a market of the service's own."`
	} `cmd:"" help:"Markets of the service's own."`
	Finalize adminFinalize `cmd:"" help:"Claim the outcome of a market of the service's own. It stands for ever."`
	Force    adminForce    `cmd:"" help:"Claim the outcome of any market. It stands for ever."`
	Dispute  adminDispute  `cmd:"" help:"Flag a market as disputed, or clear that."`
	Scan     adminScan     `cmd:"" help:"Ask the venues now, and resolve what can be resolved."`
}

// adminFlags are the flags of a command that sends the admin secret to the hub.
type adminFlags struct {
	settings.Flags
	settings.Admin
}

// Provide opens the hub for Run.
func (f *adminFlags) Provide(s *Streams) (*session, error) {
	secret := ""
	c, err := connect(&f.Flags, s, func(hub string) (_ string, err error) {
		secret, err = f.AdminSecret(&f.Flags, hub)
		return "", err
	})
	if err != nil {
		return nil, err
	}
	c.RequestEditors = append(c.RequestEditors, func(_ context.Context, r *http.Request) error {
		r.Header.Set("x-admin-secret", secret)
		return nil
	})
	return c, nil
}

// decided adds to a refusal of an administrative request what to do.
func decided(err error) error {
	err = ask.MayHave(err, "Look with `signalcast market search` or `signalcast market show ID` before you send it again")
	const wrongSecret = "The admin secret is not this hub's: look at SIGNALCAST_ADMIN_SECRET or --secret-file"
	return ask.Advise(err, map[string]string{
		"401": wrongSecret, "403": wrongSecret,
		"already_resolved": "The outcome that stands is in the answer; an outcome is never claimed twice",
		"market_disputed":  "Clear the dispute first: signalcast admin dispute MARKET --clear",
		"market_not_found": "Find the id with `signalcast market search`",
	})
}

type adminMarket struct {
	adminFlags
	Question    string        `arg:"" help:"10 to 200 characters."`
	Cutoff      time.Time     `required:"" help:"When it closes, as 2027-06-01T00:00:00Z." placeholder:"TIME"`
	Lane        string        `required:"" help:"One of the lanes, such as SCIENCE." enum:"${lanes}OTHER"`
	Description string        `help:"Up to 4000 characters."`
	Source      string        `help:"Address that will show the outcome." placeholder:"URL"`
	Yes         *Price        `help:"Price of YES that it begins with, in cents: 1 to 99. Without it 50." placeholder:"CENTS"`
	Within      time.Duration `help:"How long after the cutoff the outcome is claimed at the latest." placeholder:"DURATION"`
}

// Run opens a market.
func (m *adminMarket) Run(ctx context.Context, at *session) error {
	draft := client.NativeMarketDraft{
		Question: m.Question, CutoffAt: m.Cutoff, Lane: client.Lane(m.Lane), Description: given(m.Description),
		ResolutionSource: given(m.Source), InitialYesBps: (*int)(m.Yes),
	}
	if m.Within > 0 {
		by := m.Cutoff.Add(m.Within)
		draft.ResolvesBy = &by
	}
	a, err := at.CreateNativeMarket(ctx, draft)
	return decided(finish(at, a, err, func(c *client.NativeMarketCreated) error {
		return show.Pairs(at.out, "Market", c.MarketID, "Page", at.at+"/m/"+c.MarketID)
	}))
}

// Verdict is an outcome; it is read in any case.
type Verdict client.Verdict

// UnmarshalText implements encoding.TextUnmarshaler.
func (v *Verdict) UnmarshalText(raw []byte) error {
	switch text := strings.ToUpper(string(raw)); text {
	case "YES", "NO", "INVALID":
		*v = Verdict(text)
		return nil
	}
	return errors.New("an outcome is yes, no or invalid")
}

type adminFinalize struct {
	adminFlags
	Market  string  `arg:"" help:"The market's id, native-…"`
	Verdict Verdict `arg:"" help:"yes, no or invalid."`
	Reason  string  `help:"Up to 500 characters."`
	Proof   string  `help:"Address that shows it; https." placeholder:"URL"`

	DecidedAt *time.Time `help:"When the outcome was public, as 2027-06-01T00:00:00Z; later calls are void." placeholder:"TIME"`
}

// Run claims.
func (f *adminFinalize) Run(ctx context.Context, at *session) error {
	a, err := at.FinalizeMarket(ctx, client.Finalize{
		MarketID: f.Market, Verdict: client.Verdict(f.Verdict), Reason: given(f.Reason), ProofURL: given(f.Proof), DecidedAt: f.DecidedAt,
	})
	return decided(finish(at, a, err, func(c *client.Claimed) error {
		return show.Pairs(at.out, "Claimed", text(c.Outcome.Outcome)+" on "+c.MarketID, "Scored", scored(c.Scored, c.Won, c.Lost, c.Void))
	}))
}

func scored(all, won, lost, void int) string {
	return strconv.Itoa(all) + " (won " + strconv.Itoa(won) + ", lost " + strconv.Itoa(lost) + ", void " + strconv.Itoa(void) + ")"
}

type adminForce struct {
	adminFlags
	Market  string  `arg:"" help:"The market's id."`
	Outcome Verdict `arg:"" help:"yes, no or invalid."`

	DecidedAt *time.Time `help:"When the outcome was public, as 2027-06-01T00:00:00Z; later calls are void." placeholder:"TIME"`
}

// Run claims.
func (f *adminForce) Run(ctx context.Context, at *session) error {
	a, err := at.ResolveSignals(ctx, client.Force{MarketID: f.Market, Outcome: client.Verdict(f.Outcome), DecidedAt: f.DecidedAt})
	return decided(finish(at, a, err, func(c *client.Forced) error {
		return show.Pairs(at.out, "Claimed", text(c.Outcome.Outcome)+" on "+c.MarketID, "Scored", scored(c.Scored, c.Won, c.Lost, c.Void))
	}))
}

type adminDispute struct {
	adminFlags
	Market string `arg:"" help:"The market's id."`
	Clear  bool   `help:"Clear the flag; what waits is scored."`
	Reason string `help:"Up to 500 characters."`
}

// Run flags or clears.
func (d *adminDispute) Run(ctx context.Context, at *session) error {
	disputed := !d.Clear
	a, err := at.DisputeMarket(ctx, client.Dispute{MarketID: d.Market, Disputed: &disputed, Reason: given(d.Reason)})
	return decided(finish(at, a, err, func(c *client.Disputed) error {
		word := "Disputed"
		if d.Clear {
			word = "Cleared"
		}
		return show.Pairs(at.out, word, c.MarketID, "Scored", strconv.Itoa(c.Scored))
	}))
}

type adminScan struct{ adminFlags }

// Run scans.
func (c *adminScan) Run(ctx context.Context, at *session) error {
	a, err := at.ResolveSignalsWithBody(ctx, "", nil)
	return decided(finish(at, a, err, func(r *client.Scanned) error {
		if r.Busy != nil && *r.Busy {
			return show.Pairs(at.out, "Scanned", "nothing: another scan runs")
		}
		return show.Pairs(at.out, "Scanned", strconv.Itoa(r.Scanned), "Resolved", strconv.Itoa(r.Resolved), "Scored", strconv.Itoa(r.Scored),
			"Failed", strconv.Itoa(len(r.Errors)))
	}))
}
