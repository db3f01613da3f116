package verbs

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/signalcast/signalcast/cmd/signalcast/internal/ask"
	"github.com/signalcast/signalcast/cmd/signalcast/internal/settings"
	"github.com/signalcast/signalcast/cmd/signalcast/internal/show"
	"github.com/signalcast/signalcast/sdk/go/client"
)

// Admin groups the commands of `signalcast admin`, which are for administrators.
type Admin struct {
	Market struct {
		Create adminMarket `cmd:"" help:"Create a native market."`
	} `cmd:"" help:"Create native markets."`
	Finalize adminFinalize `cmd:"" help:"Claim the outcome of a native market. This is final."`
	Force    adminForce    `cmd:"" help:"Claim the outcome of any market. This is final."`
	Dispute  adminDispute  `cmd:"" help:"Flag a market as disputed, or clear the flag."`
	Scan     adminScan     `cmd:"" help:"Read the outcomes of venue markets now and resolve these markets."`
}

// adminFlags contains the flags of a command that sends the admin secret to the hub.
type adminFlags struct {
	settings.Flags
	settings.Admin
}

// Provide returns a session that sends the admin secret to the hub. kong passes it to Run.
func (f *adminFlags) Provide(s *Streams) (*session, error) {
	secret := ""
	c, err := connect(&f.Flags, s, func(hub string) (_ string, err error) {
		secret, err = f.AdminSecret(&f.Flags, hub)
		return "", err
	})
	if err != nil {
		return nil, err
	}
	c.sendAdmin(secret)
	return c, nil
}

// adviseAdmin adds advice for people to the error of an admin command.
func adviseAdmin(err error) error {
	err = ask.AdviseUnknown(err, "Check with `signalcast market search` or `signalcast market show ID` before you send it again")
	wrongSecret := ask.Advice{Why: "The admin secret is not that of this hub", Do: "Check SIGNALCAST_ADMIN_SECRET or --secret-file"}
	return ask.Advise(err, map[string]ask.Advice{
		"401": wrongSecret, "403": wrongSecret,
		"already_resolved": {Do: "The claimed outcome is in the answer; an outcome is claimed once"},
		"market_disputed":  {Do: "Clear the dispute first: signalcast admin dispute MARKET --clear"},
		"market_not_found": {Do: findMarketID},
	})
}

type adminMarket struct {
	adminFlags
	Question    string         `arg:"" help:"10 to 200 characters."`
	Cutoff      time.Time      `required:"" help:"Time at which the market closes, as 2027-06-01T00:00:00Z." placeholder:"TIME"`
	Lane        string         `required:"" help:"One of the lanes, such as SCIENCE." enum:"${lanes},OTHER"`
	Description string         `help:"Description of the market, up to 4000 characters."`
	Source      string         `help:"Address of the page that will show the outcome." placeholder:"URL"`
	Yes         *Price         `help:"Initial price of YES in cents, 1 to 99. Default: 50." placeholder:"CENTS"`
	Within      *time.Duration `help:"Time after the cutoff within which the outcome is claimed." placeholder:"DURATION"`
}

// Run creates the native market at the hub and shows its id.
func (m *adminMarket) Run(ctx context.Context, at *session) error {
	draft := client.NativeMarketDraft{
		Question: m.Question, CutoffAt: m.Cutoff, Lane: client.Lane(m.Lane), Description: optional(m.Description),
		ResolutionSource: optional(m.Source), InitialYesBps: (*int)(m.Yes),
	}
	if m.Within != nil {
		if *m.Within < 0 {
			return errors.New("--within must not be negative")
		}
		by := m.Cutoff.Add(*m.Within)
		draft.ResolvesBy = &by
	}
	a, err := at.CreateNativeMarket(ctx, draft)
	return adviseAdmin(showResponse(at, a, err, func(c *client.NativeMarketCreated) error {
		return show.Pairs(at.out, "Market", c.MarketID, "Page", at.at+"/m/"+c.MarketID)
	}))
}

// Verdict is the outcome of a market: YES, NO or INVALID. Arguments may be in lower case.
type Verdict client.Verdict

// UnmarshalText implements encoding.TextUnmarshaler.
func (v *Verdict) UnmarshalText(raw []byte) error {
	switch text := strings.ToUpper(string(raw)); text {
	case "YES", "NO", "INVALID":
		*v = Verdict(text)
		return nil
	}
	return errors.New("an outcome must be yes, no or invalid")
}

type adminFinalize struct {
	adminFlags
	Market  string  `arg:"" help:"Id of the market, native-…"`
	Verdict Verdict `arg:"" help:"yes, no or invalid."`
	Reason  string  `help:"Reason, up to 500 characters."`
	Proof   string  `help:"Address of a page that shows the outcome; https." placeholder:"URL"`

	DecidedAt *time.Time `help:"Time at which the outcome became public, as 2027-06-01T00:00:00Z. Later calls are void." placeholder:"TIME"`
}

// Run claims the outcome of a native market at the hub and shows how many calls were scored.
func (f *adminFinalize) Run(ctx context.Context, at *session) error {
	a, err := at.FinalizeMarket(ctx, client.Finalize{
		MarketID: f.Market, Verdict: client.Verdict(f.Verdict), DecidedAt: f.DecidedAt,
		Reason: optional(f.Reason), ProofURL: optional(f.Proof),
	})
	return adviseAdmin(showResponse(at, a, err, func(c *client.Claimed) error {
		return show.Pairs(at.out, "Claimed", text(c.Outcome.Outcome)+" on "+c.MarketID, "Scored",
			scored(c.Scored, c.Won, c.Lost, c.Void))
	}))
}

func scored(all, won, lost, void int) string {
	return strconv.Itoa(all) + " (won " + strconv.Itoa(won) + ", lost " + strconv.Itoa(lost) + ", void " + strconv.Itoa(void) + ")"
}

type adminForce struct {
	adminFlags
	Market  string  `arg:"" help:"Id of the market."`
	Outcome Verdict `arg:"" help:"yes, no or invalid."`

	DecidedAt *time.Time `help:"Time at which the outcome became public, as 2027-06-01T00:00:00Z. Later calls are void." placeholder:"TIME"`
}

// Run claims the outcome of any market at the hub and shows how many calls were scored.
func (f *adminForce) Run(ctx context.Context, at *session) error {
	a, err := at.ResolveSignals(ctx, client.Force{MarketID: f.Market, Outcome: client.Verdict(f.Outcome), DecidedAt: f.DecidedAt})
	return adviseAdmin(showResponse(at, a, err, func(c *client.Forced) error {
		return show.Pairs(at.out, "Claimed", text(c.Outcome.Outcome)+" on "+c.MarketID, "Scored",
			scored(c.Scored, c.Won, c.Lost, c.Void))
	}))
}

type adminDispute struct {
	adminFlags
	Market string `arg:"" help:"Id of the market."`
	Clear  bool   `help:"Clear the flag. Pending calls on a resolved market are then scored."`
	Reason string `help:"Reason, up to 500 characters."`
}

// Run flags the market as disputed at the hub, or clears the flag.
func (d *adminDispute) Run(ctx context.Context, at *session) error {
	disputed := !d.Clear
	a, err := at.DisputeMarket(ctx, client.Dispute{MarketID: d.Market, Disputed: &disputed, Reason: optional(d.Reason)})
	return adviseAdmin(showResponse(at, a, err, func(c *client.Disputed) error {
		word := "Disputed"
		if d.Clear {
			word = "Cleared"
		}
		return show.Pairs(at.out, word, c.MarketID, "Scored", strconv.Itoa(c.Scored))
	}))
}

type adminScan struct{ adminFlags }

// Run starts a scan of venue markets at the hub and shows how many were resolved.
func (c *adminScan) Run(ctx context.Context, at *session) error {
	a, err := at.ResolveSignalsWithBody(ctx, "", nil)
	return adviseAdmin(showResponse(at, a, err, func(r *client.Scanned) error {
		if r.Busy != nil && *r.Busy {
			return show.Pairs(at.out, "Scanned", "nothing: another scan is running")
		}
		return show.Pairs(at.out, "Scanned", strconv.Itoa(r.Scanned), "Resolved", strconv.Itoa(r.Resolved),
			"Scored", strconv.Itoa(r.Scored), "Failed", strconv.Itoa(len(r.Errors)))
	}))
}
