package verbs

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/signalcast/signalcast/cmd/signalcast/internal/ask"
	"github.com/signalcast/signalcast/cmd/signalcast/internal/settings"
	"github.com/signalcast/signalcast/cmd/signalcast/internal/show"
	"github.com/signalcast/signalcast/sdk/go/client"
)

// Call is the command `signalcast call`, which files a call.
type Call struct {
	settings.Flags
	Market      string `arg:"" help:"Id of the market."`
	Side        Side   `arg:"" help:"yes or no."`
	Price       *Price `help:"Price of the side called, in cents: 0 to 100, with at most two decimals. Default: newest price." placeholder:"CENTS"`
	Confidence  *int   `help:"Confidence in percent, 1 to 100." bounds:"from 1 to 100" placeholder:"INT"`
	Take        string `help:"Text added to the call, up to 500 characters."`
	MaxSlippage Price  `help:"Refuse the call if its side costs more than this above the price. Default: 2." default:"2" placeholder:"CENTS"`

	AllowUnverified bool `help:"File the call without points if the market has no fresh quote."`
	DryRun          bool `help:"Check the call and show what would be stored; store nothing."`
	Yes             bool `short:"y" help:"File the call without the confirmation on a terminal."`

	IdempotencyKey idempotencyKey `help:"A repetition with the same key returns the first result, for 24 hours. Default: a new key." placeholder:"KEY"`
}

// idempotencyKey is the value of the header Idempotency-Key.
type idempotencyKey string

var idempotencyKeyForm = regexp.MustCompile(`^[!-~]{0,128}$`)

// UnmarshalText implements encoding.TextUnmarshaler.
func (k *idempotencyKey) UnmarshalText(raw []byte) error {
	if !idempotencyKeyForm.Match(raw) {
		return errors.New("an idempotency key must have at most 128 printable ASCII characters and no space")
	}
	*k = idempotencyKey(raw)
	return nil
}

// Side is the side of a call: YES or NO. Arguments may be in lower case.
type Side client.Side

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *Side) UnmarshalText(raw []byte) error {
	switch text := strings.ToUpper(string(raw)); text {
	case "YES", "NO":
		*s = Side(text)
		return nil
	}
	return errors.New("a side must be yes or no")
}

// Price is a price in bps (hundredths of a cent). Arguments are in cents.
type Price int

var priceForm = regexp.MustCompile(`^(\d{1,3})(?:\.(\d{1,2}))?$`)

// UnmarshalText implements encoding.TextUnmarshaler.
func (p *Price) UnmarshalText(raw []byte) error {
	m := priceForm.FindStringSubmatch(string(raw))
	if m == nil {
		return errors.New("a price must be in cents, 0 to 100, with at most two decimals, like 68.5")
	}
	bps, err := strconv.Atoi(m[1] + (m[2] + "00")[:2])
	if err != nil || bps > 10000 {
		return errors.New("a price must be at most 100 cents")
	}
	*p = Price(bps)
	return nil
}

// Run files the call, or sends it as a dry run. Without a price it uses the newest price of the market.
func (c *Call) Run(ctx context.Context, s *Streams) error {
	if err := checkConfidence(c.Confidence); err != nil {
		return err
	}
	at, err := openWithKey(&c.Flags, s)
	if err != nil {
		return err
	}
	if c.Price == nil {
		if err := c.useMarketPrice(ctx, s); err != nil {
			return err
		}
	}
	if c.DryRun {
		return c.advise(c.dryRun(ctx, at, "Would file"))
	}
	asks := s.InTerminal && !c.Yes
	if asks {
		if err := c.confirm(ctx, at, s); err != nil {
			return err
		}
	}
	if c.IdempotencyKey == "" {
		c.IdempotencyKey = idempotencyKey(rand.Text())
	}
	key := &client.FileSignalParams{IdempotencyKey: (*string)(&c.IdempotencyKey)}
	raw, err := ask.Read(at.FileSignal(ctx, key, c.draft()))
	if asks && !c.AllowUnverified && lacksQuote(err) &&
		s.agrees(ctx, "The market has no fresh quote. File the call without points?") {
		c.AllowUnverified = true
		raw, err = ask.Read(at.FileSignal(ctx, key, c.draft()))
	}
	err = showBody(at, raw, err, func(f *filed) error { return c.show(at, "Filed", f) })
	return c.advise(ask.AdviseUnknown(err,
		"Run the command again with "+c.repeatFlags()+": it returns the stored call or files it once"))
}

// checkConfidence returns an error if the confidence is outside 1 to 100. nil means that no confidence was given.
func checkConfidence(confidence *int) error {
	if confidence != nil && (*confidence < 1 || *confidence > 100) {
		return errors.New("--confidence must be 1 to 100")
	}
	return nil
}

// draft returns the body of the request that files the call.
func (c *Call) draft() client.SignalDraft {
	bound := int(c.MaxSlippage)
	var allow *bool
	if c.AllowUnverified {
		allow = &c.AllowUnverified
	}
	return client.SignalDraft{
		MarketID: c.Market, Direction: client.Side(c.Side), PriceAtPrediction: int(*c.Price),
		Confidence: c.Confidence, TextTake: optional(c.Take), MaxSlippageBps: &bound, AllowUnverified: allow,
	}
}

// lacksQuote reports whether a call was refused because the market has no fresh quote.
func lacksQuote(err error) bool {
	r := (*ask.Refused)(nil)
	return errors.As(err, &r) && r.Code == "price_moved" && r.Reason == "unverified"
}

// repeatFlags returns the flags to add to the command, so that a repetition sends the same call.
func (c *Call) repeatFlags() string {
	flags := "--price " + show.Cents(int(*c.Price))
	if c.MaxSlippage != 200 {
		flags += " --max-slippage " + show.Cents(int(c.MaxSlippage))
	}
	if c.AllowUnverified {
		flags += " --allow-unverified"
	}
	return flags + " --idempotency-key " + string(c.IdempotencyKey)
}

// dryRun sends the call as a dry run and shows the call that would be stored. word is the label of the first line.
func (c *Call) dryRun(ctx context.Context, at *session, word string) error {
	yes, draft := true, c.draft()
	draft.DryRun = &yes
	answer, err := at.FileSignal(ctx, nil, draft)
	return ask.AsRead(showResponse(at, answer, err, func(f *filed) error { return c.show(at, word, f) }))
}

// ErrNotConfirmed is the error of a command whose question on the terminal was not answered with y or yes.
var ErrNotConfirmed = errors.New("the call was not filed: the confirmation was not y or yes")

// confirm shows on the standard error the call that would be stored, and asks whether to file it. It returns ErrNotConfirmed
// unless the answer is yes. It writes nothing to the standard output.
func (c *Call) confirm(ctx context.Context, at *session, s *Streams) error {
	preview := *at
	preview.out, preview.json = &show.Output{Writer: s.messages(), Width: s.Width}, false
	if err := c.dryRun(ctx, &preview, "Would file"); err != nil {
		return c.advise(err)
	}
	if !s.agrees(ctx, "The call cannot be changed or deleted. File it?") {
		return ErrNotConfirmed
	}
	return nil
}

// filed is the response of the service to a call or to a dry run. Servers of other projects may return only the id.
type filed struct {
	ID                      *uuid.UUID
	PriceAtPrediction       *int
	ScoreBasisBps           *int
	PriceVerified, Rated    *bool
	YesPriceBps, NoPriceBps *int
	Warnings                []string
}

// warnings contains the texts of the warnings of a service, by code (docs/protocol/errors.md, Warnings).
var warnings = map[string]string{
	"price_converted":  "the stated price was that of YES; the price of NO is stored",
	"price_off_market": "the price is far from that of the market: check that it is in cents and of the side called",
	"price_unverified": "the market has no fresh quote",
	"market_unrated":   "the market is not rated",
}

// show writes the stored call, or the call that a dry run would store. word is the label of the first line.
func (c *Call) show(at *session, word string, f *filed) error {
	price := int(*c.Price)
	if f.PriceAtPrediction != nil {
		price = *f.PriceAtPrediction
	}
	pairs := []string{word, fmt.Sprintf("%s on %s at %s cents", c.Side, c.Market, show.Cents(price))}
	if f.ScoreBasisBps != nil {
		pairs = append(pairs, "Scored at", show.Cents(*f.ScoreBasisBps)+" cents")
		switch verified := f.PriceVerified == nil || *f.PriceVerified; {
		case f.Rated != nil && !*f.Rated, !verified && f.ID != nil:
			pairs = append(pairs, "Points", "none: the call does not count")
		case !verified:
			pairs = append(pairs, "Points", "none without a fresh quote; filing requests one from the venue")
		default:
			pairs = append(pairs, points(*f.ScoreBasisBps, strings.HasPrefix(c.Market, "native-"))...)
		}
	}
	for _, w := range f.Warnings {
		pairs = append(pairs, "Warning", cmp.Or(warnings[w], w))
	}
	if f.ID != nil {
		pairs = append(pairs, "Signal", f.ID.String(), "Receipt", receiptURL(at.at, f.ID.String()))
	}
	return show.Pairs(at.out, pairs...)
}

// points returns the lines "If right" and "If wrong" with the points of a call. The parameter basis is its scoring price in
// bps. If final is false, a second quote can still raise the scoring price, so the two lines state upper bounds.
func points(basis int, final bool) []string {
	most := "at most "
	if final {
		most = ""
	}
	p := max(basis, 1)
	return []string{
		"If right", most + pointsOf((10000-p)/100),
		"If wrong", most + pointsOf(-((p + 99) / 100)),
	}
}

// pointsOf formats a number of points with its sign: +31 points, -1 point.
func pointsOf(n int) string {
	if n == 1 || n == -1 {
		return fmt.Sprintf("%+d point", n)
	}
	return fmt.Sprintf("%+d points", n)
}

// useMarketPrice reads the newest price of the market and sets Price to the price of the side called.
func (c *Call) useMarketPrice(ctx context.Context, s *Streams) error {
	hub, err := openPublic(&c.Flags, s)
	if err != nil {
		return err
	}
	m, err := decoded[client.Market](hub.GetMarket(ctx, c.Market))
	if err != nil {
		return c.advise(err)
	}
	if m.YesBps == nil {
		return errors.New("the market has no price from the last ten minutes; state your price with --price")
	}
	p := Price(*m.YesBps)
	if c.Side == "NO" {
		p = 10000 - p
	}
	c.Price = &p
	return nil
}

// advise adds advice for people to the refusal of a call.
func (c *Call) advise(err error) error {
	r := (*ask.Refused)(nil)
	if !errors.As(err, &r) {
		return err
	}
	find, moved := ask.Advice{Do: findMarketID}, ask.Advice{
		Why: "The price moved", Do: "State the current price with --price, or allow more with --max-slippage",
	}
	if r.Reason == "unverified" {
		moved = ask.Advice{
			Why: "The market has no fresh quote", Do: "Try again in a moment, or file the call without points with --allow-unverified",
		}
	}
	closed := ask.Advice{Why: "The market no longer accepts calls", Do: "Find an open market with `signalcast market search`"}
	if r.Reason == "provisional" {
		closed.Why = "The market accepts no calls, because it has ended, is disputed, or its outcome is being decided"
	}
	already := ask.Advice{
		Why: "You already have a call on this market; the first call is final", Do: "List your calls with `signalcast calls list`",
	}
	if uuid.Validate(r.ID) == nil { // the id of an untrusted server must not become part of a command
		already.Do = fmt.Sprintf("See %s, or add to the call with `signalcast events add %s note --text …`", r.Receipt, r.ID)
	}
	return ask.Advise(err, map[string]ask.Advice{
		"already_predicted": already, "market_closed": closed, "price_moved": moved,
		"market_not_found": find, "not_found": find, "invalid_market_id": find, "missing_market_id": find,
	})
}

// receiptURL returns the address of the receipt of a call.
func receiptURL(hub, id string) string { return hub + "/receipts/" + url.PathEscape(id) }
