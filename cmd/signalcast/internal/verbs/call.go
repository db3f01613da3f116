package verbs

import (
	"context"
	"crypto/rand"
	"encoding/json"
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
	Market         string `arg:"" help:"The market's id."`
	Side           Side   `arg:"" help:"yes or no."`
	Price          *Price `help:"Price of the side called, in cents: 0 to 100, with at most two decimals. Without it the market's newest one." placeholder:"CENTS"`
	Confidence     int    `help:"1 to 100."`
	Take           string `help:"A word on it, up to 500 characters."`
	IdempotencyKey once   `help:"The same key with the same call gives the first result, for 24 hours. Without it a new one each time." placeholder:"KEY"`
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
	if c.IdempotencyKey == "" {
		c.IdempotencyKey = once(rand.Text())
	}
	answer, err := at.FileSignal(ctx, &client.FileSignalParams{IdempotencyKey: (*string)(&c.IdempotencyKey)}, client.SignalDraft{
		MarketID: c.Market, Direction: client.Side(c.Side), PriceAtPrediction: int(*c.Price),
		Confidence: above(c.Confidence), TextTake: given(c.Take),
	})
	err = finish(at, answer, err, func(f *client.Filed) error {
		return show.Pairs(at.out, "Filed", fmt.Sprintf("%s on %s at %s cents", c.Side, c.Market, show.Cents(int(*c.Price))),
			"Signal", f.ID.String(), "Receipt", receiptAt(at.at, f.ID.String()))
	})
	return c.advise(ask.MayHave(err, fmt.Sprintf("Run the command again with --price %s --idempotency-key %s: it gives the call that was filed, or files it, and never two", show.Cents(int(*c.Price)), c.IdempotencyKey)))
}

// newest takes the market's price, for the side called.
func (c *Call) newest(ctx context.Context, s *Streams) error {
	hub, err := reading(&c.Flags, s)
	if err != nil {
		return err
	}
	raw, err := ask.Read(hub.GetMarket(ctx, c.Market))
	if err != nil {
		return c.advise(err)
	}
	var m client.Market
	if json.Unmarshal(raw, &m) != nil || m.YesBps == nil {
		return errors.New("the market has no price of the last ten minutes: give one with --price")
	}
	p := Price(*m.YesBps)
	if c.Side == "NO" {
		p = 10000 - p
	}
	c.Price = &p
	return nil
}

// advise says what to do about what a call can hear.
func (c *Call) advise(err error) error {
	r := (*ask.Refused)(nil)
	if !errors.As(err, &r) {
		return err
	}
	switch r.Code {
	case "already_predicted":
		r.Do = "Your call on this market stands and cannot change"
		if uuid.Validate(r.ID) != nil { // it becomes part of a command
			break
		}
		r.Do = fmt.Sprintf("Your call on this market stands and cannot change: %s. Add to it with `signalcast events add %s note --text …`", r.Receipt, r.ID)
	case "market_closed":
		r.Do = "No call can be filed on it any more"
		if r.Reason == "provisional" {
			r.Do = "It is at its end, or its outcome is in sight or in dispute"
		}
		r.Do += ". Find an open one with `signalcast market search`"
	case "market_not_found", "not_found", "invalid_market_id", "missing_market_id":
		r.Do = "Find the id with `signalcast market search`"
	}
	return err
}

// receiptAt is the address of a receipt.
func receiptAt(hub, id string) string { return hub + "/receipts/" + url.PathEscape(id) }
