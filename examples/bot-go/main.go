// Command bot calls the favorite of each market. README.md describes the rule, the settings and the state file.
package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/signalcast/signalcast/sdk/go/bps"
	"github.com/signalcast/signalcast/sdk/go/client"
	"github.com/signalcast/signalcast/sdk/go/feed"
	"github.com/signalcast/signalcast/sdk/go/signalcast"
)

// bot contains the settings and the state of the program.
type bot struct {
	client             *signalcast.Client
	filter             signalcast.MarketFilter
	minPrice, maxPrice int // the rule: call a side that costs minPrice to maxPrice, in bps
	maxCalls           int
	refresh            time.Duration // time between two readings of the list of markets
	state              store
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	slog.SetDefault(slog.New(slog.NewTextHandler(os.Stdout, nil)))
	b, err := newBot()
	if err == nil {
		slog.Info("started", "calls", len(b.state.Calls))
		err = b.run(ctx)
	}
	if err != nil {
		slog.Error("ended", "err", err)
		os.Exit(1)
	}
	slog.Info("stopped")
}

// newBot reads the settings and the state file.
func newBot() (*bot, error) {
	number := func(name string, fallback float64) float64 {
		n, err := strconv.ParseFloat(os.Getenv(name), 64)
		if err != nil {
			return fallback
		}
		return n
	}
	c, err := signalcast.New(signalcast.Options{
		Hub: os.Getenv("SIGNALCAST_HUB"), API: os.Getenv("SIGNALCAST_API"), Token: signalcast.Key(os.Getenv("SIGNALCAST_KEY")),
	})
	if err != nil {
		return nil, err
	}
	state, err := openStore(cmp.Or(os.Getenv("BOT_STATE"), "bot-state.json"))
	minPrice, errMin := bps.FromCents(number("BOT_MIN_CENTS", 80))
	maxPrice, errMax := bps.FromCents(number("BOT_MAX_CENTS", 95))
	return &bot{
		client: c, state: state, minPrice: minPrice, maxPrice: maxPrice, maxCalls: int(number("BOT_MAX_CALLS", 20)),
		refresh: time.Duration(number("BOT_REFRESH_SECONDS", 600) * float64(time.Second)),
		filter: signalcast.MarketFilter{
			Status: "open", Q: os.Getenv("BOT_QUERY"), Provider: os.Getenv("BOT_PROVIDER"), MinVolumeUSD: number("BOT_MIN_VOLUME_USD", 0),
		},
	}, errors.Join(err, errMin, errMax)
}

// run repeats cycles until ctx ends. A failure that can pass is logged. A refused credential ends the program.
func (b *bot) run(ctx context.Context) error {
	for ctx.Err() == nil {
		err := b.cycle(ctx)
		e := (*signalcast.Error)(nil)
		switch {
		case err == nil || ctx.Err() != nil:
		case errors.As(err, &e) && (e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden):
			return err
		default:
			slog.Warn("cycle failed", "err", err)
			sleep(ctx, 10*time.Second)
		}
	}
	return nil
}

// cycle files the calls whose result is unknown, reads the list of markets, and then follows the prices until the next cycle.
func (b *bot) cycle(ctx context.Context) error {
	follow, cancel := context.WithTimeout(ctx, b.refresh)
	defer cancel()
	prices, err := b.client.Live.Feed(follow, feed.Options{Channels: []string{"prices"}}) // opened first: no price is missed
	if err != nil {
		return err
	}
	defer prices.Close()
	for market, c := range b.state.Calls {
		if c.Status == filing {
			if err := b.file(ctx, market, c); err != nil {
				return err
			}
		}
	}
	found := map[string]bool{}
	for m, err := range b.client.Markets.List(ctx, b.filter) {
		if err != nil {
			return err
		}
		found[m.ID] = true
		if err := b.consider(ctx, m.ID, m.YesPriceBps, m.NoPriceBps); err != nil {
			return err
		}
	}
	slog.Info("following", "markets", len(found))
	for m, err := range prices.Messages(follow) {
		if err != nil && follow.Err() == nil {
			return err
		}
		e, ok := m.(*feed.Event)
		if !ok {
			continue
		}
		data, err := e.Decode()
		if tick, ok := data.(*client.PriceTickData); err == nil && ok && found[tick.MarketID] {
			if err := b.consider(ctx, tick.MarketID, tick.YesPriceBps, tick.NoPriceBps); err != nil {
				return err
			}
		}
	}
	return nil
}

// consider files a call on a market if the rule selects one of its sides.
func (b *bot) consider(ctx context.Context, market string, yes, no *int) error {
	if b.state.Calls[market] != nil || len(b.state.Calls) >= b.maxCalls {
		return nil
	}
	c := &call{Key: rand.Text(), Status: filing}
	switch within := func(p *int) bool { return p != nil && *p >= b.minPrice && *p <= b.maxPrice }; {
	case within(yes):
		c.Side, c.Price = client.SideYES, *yes
	case within(no):
		c.Side, c.Price = client.SideNO, *no
	default:
		return nil
	}
	draft := c.draft(market)
	draft.AllowUnverified = new(true) // a dry run requests no quote from the venue
	var numbers signalcast.Numbers
	err := patiently(ctx, func() (err error) { numbers, err = b.client.Signals.DryRun(ctx, draft); return err })
	if err != nil {
		return b.refused(market, c, err)
	}
	if !numbers.Rated {
		c.Status, c.Reason = refused, "market_unrated"
		slog.Info("market skipped", "market", market, "reason", c.Reason)
		return b.state.set(market, c)
	}
	slog.Info("dry run passed", "market", market, "side", c.Side, "price", c.Price, "score_basis", numbers.ScoreBasisBps)
	if err := b.state.set(market, c); err != nil { // stored before the request: a crash cannot lose the key
		return err
	}
	return b.file(ctx, market, c)
}

// file files a stored call. The same idempotency key gives the same call, also in another run.
func (b *bot) file(ctx context.Context, market string, c *call) error {
	var filed signalcast.Filed
	err := patiently(ctx, func() (err error) {
		filed, err = b.client.Signals.FileAs(ctx, c.Key, c.draft(market))
		return err
	})
	if err != nil {
		return b.refused(market, c, err)
	}
	c.Status, c.ID = stored, filed.ID.String()
	slog.Info("call filed", "market", market, "side", c.Side, "price", c.Price, "id", c.ID)
	return b.state.set(market, c)
}

// refused stores the result of a refusal. It returns an error if the result of the request is unknown or the key is refused.
func (b *bot) refused(market string, c *call, err error) error {
	e := (*signalcast.Error)(nil)
	switch {
	case !errors.As(err, &e) || e.Status >= 500 || e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden:
		return err
	case errors.Is(err, signalcast.ErrPriceMoved): // the next price decides again
		slog.Info("price moved", "market", market, "reason", e.Reason())
		return b.state.set(market, nil)
	case errors.Is(err, signalcast.ErrAlreadyPredicted):
		c.Status, c.ID = stored, e.ID()
		slog.Info("call found", "market", market, "id", c.ID)
	default:
		c.Status, c.Reason = refused, string(e.Code)
		slog.Info("call refused", "market", market, "reason", c.Reason)
	}
	return b.state.set(market, c)
}

// patiently repeats a request after a rate limit, when the wait that the service requires is over.
func patiently(ctx context.Context, do func() error) error {
	for {
		err := do()
		e := (*signalcast.Error)(nil)
		if !errors.Is(err, signalcast.ErrRateLimited) || !errors.As(err, &e) {
			return err
		}
		slog.Info("waiting", "for", e.RetryAfter, "reason", e.Message)
		if !sleep(ctx, max(e.RetryAfter, time.Second)) {
			return fmt.Errorf("wait for the rate limit: %w", ctx.Err())
		}
	}
}

// sleep waits for the duration d. It returns false if ctx ends first.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
