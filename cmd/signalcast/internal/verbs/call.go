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

// Call is `signalcast call`.
type Call struct {
	settings.Flags
	Market      string `arg:"" help:"The market's id."`
	Side        Side   `arg:"" help:"yes or no."`
	Price       *Price `help:"Price of the side called, in cents: 0 to 100, with at most two decimals. Without it the market's newest one." placeholder:"CENTS"`
	Confidence  int    `help:"1 to 100."`
	Take        string `help:"Text added to the call, up to 500 characters."`
	MaxSlippage Price  `help:"Refuse the call when its side costs more than this above the price; 2 without it." default:"2" placeholder:"CENTS"`

	AllowUnverified bool `help:"File without points where the market has no fresh quote."`
	DryRun          bool `help:"Check the call and show what would be stored; store nothing."`
	Yes             bool `short:"y" help:"File without a question. Only a terminal is asked one."`
	IdempotencyKey  once `help:"The same key with the same call gives the first result, for 24 hours. Without it a new one each time." placeholder:"KEY"`
}

// once is a key of idempotency, which becomes a header.
type once string

var onceForm = regexp.MustCompile(`^[!-~]{0,128}$`)

// UnmarshalText implements encoding.TextUnmarshaler.
func (o *once) UnmarshalText(raw []byte) error {
	if !onceForm.Match(raw) {
		return errors.New("such a key has at most 128 letters, digits and signs, and no space")
	}
	*o = once(raw)
	return nil
}

// Side is YES or NO; it is read in any case.
type Side client.Side

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *Side) UnmarshalText(raw []byte) error {
	switch text := strings.ToUpper(string(raw)); text {
	case "YES", "NO":
		*s = Side(text)
		return nil
	}
	return errors.New("a side is yes or no")
}

// Price is a price in hundredths of a cent.
type Price int

var priceForm = regexp.MustCompile(`^(\d{1,3})(?:\.(\d{1,2}))?$`)

// UnmarshalText implements encoding.TextUnmarshaler.
func (p *Price) UnmarshalText(raw []byte) error {
	m := priceForm.FindStringSubmatch(string(raw))
	if m == nil {
		return errors.New("a price is in cents, 0 to 100, with at most two decimals, like 68.5")
	}
	bps, err := strconv.Atoi(m[1] + (m[2] + "00")[:2])
	if err != nil || bps > 10000 {
		return errors.New("a price is at most 100 cents")
	}
	*p = Price(bps)
	return nil
}

// Run files the call.
func (c *Call) Run(ctx context.Context, s *Streams) error {
	if c.Confidence < 0 || c.Confidence > 100 {
		return errors.New("--confidence is 1 to 100")
	}
	at, err := writing(&c.Flags, s)
	if err != nil {
		return err
	}
	if c.Price == nil {
		if err := c.newest(ctx, s); err != nil {
			return err
		}
	}
	if c.DryRun {
		return c.advise(c.try(ctx, at, "Would file"))
	}
	asks := s.InTerminal && !c.Yes
	if asks {
		if err := c.confirm(ctx, at, s); err != nil {
			return err
		}
	}
	if c.IdempotencyKey == "" {
		c.IdempotencyKey = once(rand.Text())
	}
	key := &client.FileSignalParams{IdempotencyKey: (*string)(&c.IdempotencyKey)}
	raw, err := ask.Read(at.FileSignal(ctx, key, c.draft()))
	if asks && !c.AllowUnverified && lacksQuote(err) && s.agrees(ctx, "The market has no fresh quote. File the call without points?") {
		c.AllowUnverified = true
		raw, err = ask.Read(at.FileSignal(ctx, key, c.draft()))
	}
	err = present(at, raw, err, func(f *filed) error { return c.show(at, "Filed", f) })
	return c.advise(ask.MayHave(err, "Run the command again with "+c.again()+": it gives the call that was filed, or files it, and never two"))
}

// draft is the call as it is sent.
func (c *Call) draft() client.SignalDraft {
	bound := int(c.MaxSlippage)
	var allow *bool
	if c.AllowUnverified {
		allow = &c.AllowUnverified
	}
	return client.SignalDraft{
		MarketID: c.Market, Direction: client.Side(c.Side), PriceAtPrediction: int(*c.Price),
		Confidence: above(c.Confidence), TextTake: given(c.Take), MaxSlippageBps: &bound, AllowUnverified: allow,
	}
}

// lacksQuote reports whether a call was refused for the lack of a quote.
func lacksQuote(err error) bool {
	r := (*ask.Refused)(nil)
	return errors.As(err, &r) && r.Code == "price_moved" && r.Reason == "unverified"
}

// again is the flags that send the same call.
func (c *Call) again() string {
	flags := "--price " + show.Cents(int(*c.Price))
	if c.MaxSlippage != 200 {
		flags += " --max-slippage " + show.Cents(int(c.MaxSlippage))
	}
	if c.AllowUnverified {
		flags += " --allow-unverified"
	}
	return flags + " --idempotency-key " + string(c.IdempotencyKey)
}

// try shows what would be stored.
func (c *Call) try(ctx context.Context, at *session, word string) error {
	yes, draft := true, c.draft()
	draft.DryRun = &yes
	answer, err := at.FileSignal(ctx, nil, draft)
	return ask.Harmless(finish(at, answer, err, func(f *filed) error { return c.show(at, word, f) }))
}

// ErrNotConfirmed is the answer no to the question of a command.
var ErrNotConfirmed = errors.New("not filed")

// confirm shows on the terminal what would be stored and asks. It does not write to the output of the command.
func (c *Call) confirm(ctx context.Context, at *session, s *Streams) error {
	beside := *at
	beside.out, beside.json = s.beside(), false
	if err := c.try(ctx, &beside, "Would file"); err != nil {
		return c.advise(err)
	}
	if !s.agrees(ctx, "The call cannot be changed or taken back. File it?") {
		return ErrNotConfirmed
	}
	return nil
}

// filed is the answer to a call or to a dry run. Other servers may answer the id alone.
type filed struct {
	ID                      *uuid.UUID
	PriceAtPrediction       *int
	ScoreBasisBps           *int
	PriceVerified, Rated    *bool
	YesPriceBps, NoPriceBps *int
	Warnings                []string
}

// warnings in words, by their code; docs/protocol/errors.md has them all.
var warnings = map[string]string{
	"price_converted":  "the price was that of YES; that of NO is stored",
	"price_off_market": "the price is far from the market's: is it in cents, and of the side called?",
	"price_unverified": "the market has no fresh quote",
	"market_unrated":   "the market is not rated",
}

// show writes what was stored, or would be.
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
		pairs = append(pairs, "Signal", f.ID.String(), "Receipt", receiptAt(at.at, f.ID.String()))
	}
	return show.Pairs(at.out, pairs...)
}

// points are the pairs of what a call scores. Until its second quote is known the scoring
// price may rise, so the figures are upper bounds.
func points(basis int, final bool) []string {
	most := "at most "
	if final {
		most = ""
	}
	p := max(basis, 1)
	return []string{"If right", fmt.Sprintf("%s%+d points", most, (10000-p)/100), "If wrong", fmt.Sprintf("%s%d points", most, -((p + 99) / 100))}
}

// newest takes the market's price, for the side called.
func (c *Call) newest(ctx context.Context, s *Streams) error {
	hub, err := reading(&c.Flags, s)
	if err != nil {
		return err
	}
	m, err := decoded[client.Market](hub.GetMarket(ctx, c.Market))
	if err != nil {
		return c.advise(err)
	}
	if m.YesBps == nil {
		return errors.New("the market has no price of the last ten minutes: give one with --price")
	}
	p := Price(*m.YesBps)
	if c.Side == "NO" {
		p = 10000 - p
	}
	c.Price = &p
	return nil
}

// advise adds to a refusal what to do.
func (c *Call) advise(err error) error {
	r := (*ask.Refused)(nil)
	if !errors.As(err, &r) {
		return err
	}
	switch r.Code {
	case "already_predicted":
		r.Do = "Your call on this market is locked and cannot change"
		if uuid.Validate(r.ID) != nil { // it becomes part of a command
			break
		}
		r.Do = fmt.Sprintf("Your call on this market is locked and cannot change: %s. Add to it with `signalcast events add %s note --text …`", r.Receipt, r.ID)
	case "market_closed":
		r.Do = "No call can be filed on it any more"
		if r.Reason == "provisional" {
			r.Do = "It is at its end, or its outcome is in sight or in dispute"
		}
		r.Do += ". Find an open one with `signalcast market search`"
	case "price_moved":
		r.Do = "Give the current price with --price, or accept more with --max-slippage"
		if r.Reason == "unverified" {
			r.Do = "Try again in a moment, or file without points with --allow-unverified"
		}
	case "market_not_found", "not_found", "invalid_market_id", "missing_market_id":
		r.Do = "Find the id with `signalcast market search`"
	}
	return err
}

// receiptAt is the address of a receipt.
func receiptAt(hub, id string) string { return hub + "/receipts/" + url.PathEscape(id) }
