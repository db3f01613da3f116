package rows

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
	"github.com/signalcast/signalcast/test/prove/stack"
)

// sickbay is a hub and a ledger of their own whose venues can be ill.
type sickbay struct {
	env    *frame.Env
	seen   *frame.Seen
	canary *canary
	front  *front
	line   *stack.Proxy // from the ledger to the front
	api    *stack.Side
	hub    *stack.Side
	held   [][]string   // by illness: a market of each venue that was read before
	fresh  [][]string   // and one that was not
	lost   atomic.Int64 // prices that a spoilt answer took away

	before, during, unseen frame.Times
}

func newSickbay(ctx context.Context, env *frame.Env, seen *frame.Seen, list []illness) (*sickbay, error) {
	s := &sickbay{env: env, seen: seen, held: make([][]string, len(list)), fresh: make([][]string, len(list))}
	if err := s.open(ctx); err != nil {
		s.close()
		return nil, err
	}
	errs := make([]error, len(list))
	frame.Each(len(list), abreast, func(i int) {
		for _, p := range providers {
			held, err := venueMarket(ctx, env, p, fmt.Sprintf("Will held cure %d of %s work?", i, p))
			fresh, err2 := venueMarket(ctx, env, p, fmt.Sprintf("Will fresh cure %d of %s work?", i, p))
			s.held[i], s.fresh[i] = append(s.held[i], held), append(s.fresh[i], fresh)
			err3 := s.learn(ctx, held)
			errs[i] = errors.Join(errs[i], err, err2, err3)
		}
	})
	if err := errors.Join(errs...); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *sickbay) open(ctx context.Context) (err error) {
	if s.canary, err = newCanary(); err != nil {
		return err
	}
	if s.front, err = newFront(s.env.Stack.Venues, s.canary.url("http")); err != nil {
		return err
	}
	if s.line, err = stack.NewProxy(s.front.addr); err != nil {
		return err
	}
	if s.api, err = apartLedger(ctx, s.env, s.line.Addr); err != nil {
		return err
	}
	s.hub, err = apartHub(ctx, s.env, s.api.GRPC)
	return err
}

func (s *sickbay) close() {
	if s.hub != nil {
		s.hub.Stop()
	}
	if s.api != nil {
		s.api.Stop()
	}
	if s.line != nil {
		s.line.Close()
	}
	if s.front != nil {
		s.front.close()
	}
	if s.canary != nil {
		s.canary.close()
	}
}

// truth is the price that every market of this row has at its venue.
const truth = 4100

// learn reads a market while its venue is well.
func (s *sickbay) learn(ctx context.Context, id string) error {
	a := s.market(ctx, id)
	_, yes, _, err := s.price(a)
	if err == nil && yes != nil && *yes != truth {
		err = fmt.Errorf("it is shown at %d", *yes)
	}
	if err != nil {
		return fmt.Errorf("market %s: %w", id, err)
	}
	return nil
}

func (s *sickbay) market(ctx context.Context, id string) client.Answer {
	return s.env.Client.Do(ctx, client.Request{URL: s.hub.URL + "/api/m/" + url.PathEscape(id)})
}

// suffer makes the venues ill, reads, and makes them well again. Half of the
// venues are asked for a held market that is due, half for a new one, so that no
// host fails so often that it is left alone.
func (s *sickbay) suffer(ctx context.Context, i int, ill illness) error {
	var due []string
	for n := i % 2; n < len(providers); n += 2 {
		due = append(due, s.held[i][n])
	}
	if _, err := s.env.DB.Exec(ctx, "UPDATE api.market_quotes SET at = at - interval '2 minutes' WHERE market_id = ANY ($1)", due); err != nil {
		return err
	}
	s.front.set(ill.says)
	if ill.how != "" {
		if err := s.line.Break(ill.how); err != nil {
			return err
		}
	}
	began := time.Now()
	var wg sync.WaitGroup
	for n := 1 - i%2; n < len(providers); n += 2 {
		wg.Go(func() { s.meet(ctx, s.fresh[i][n], ill) })
	}
	s.round(ctx, i, &s.during)
	s.aged(ctx, i, ill, began)
	wg.Wait()
	s.front.set(whole)
	if err := s.line.Mend(ctx); err != nil {
		return err
	}
	for _, id := range s.fresh[i] {
		var told error
		ok, err := frame.Until(ctx, recoverWithin, func() (bool, error) { told = s.learn(ctx, id); return told == nil, nil })
		if err != nil {
			return err
		}
		s.seen.Check(ok, "after %s: %v", ill, told)
	}
	return nil
}

// round reads at a steady rate what is held.
func (s *sickbay) round(ctx context.Context, i int, times *frame.Times) {
	lasting := time.Duration(s.env.Of(400, 800, 5000)) * time.Millisecond
	steady(ctx, 100, lasting, func(n int) {
		id := url.PathEscape(s.held[i][n%len(providers)])
		path := []string{
			"/api/m/" + id, "/api/network/market/" + id, "/api/m/" + id + "/crowd", "/m/" + id, "/api/polymarket/markets?limit=20",
			"/api/m/" + id + "/signals", "/api/polymarket/featured", "/api/signals/feed",
		}[n/len(providers)%8]
		a := s.env.Client.Do(ctx, client.Request{URL: s.hub.URL + path})
		// A page is more than its market: it says so where the curve is missing.
		page := strings.HasPrefix(path, "/m/")
		s.seen.Check(a.Status == http.StatusOK && (page || a.Header.Get("X-Degraded") == ""), "%s was answered %s (degraded %q)", path, a, a.Header.Get("X-Degraded"))
		times.Add(a.Took())
	})
}

// price reads the price of a market and the time that it is from.
func (s *sickbay) price(a client.Answer) (shown string, yes *int, at time.Time, err error) {
	var m struct {
		Yes *int      `json:"yesBps"`
		At  time.Time `json:"updatedAt"`
	}
	if err := a.Into(http.StatusOK, &m); err != nil {
		return "", nil, at, err
	}
	shown = "no price"
	if m.Yes != nil {
		shown = strconv.Itoa(*m.Yes)
	}
	return shown, m.Yes, m.At, nil
}

// aged wants of the held markets the price of before and the time that it is
// from. Where an answer can be read and only its price cannot, there may be none.
func (s *sickbay) aged(ctx context.Context, i int, ill illness, began time.Time) {
	for _, id := range s.held[i] {
		a := s.market(ctx, id)
		shown, yes, at, err := s.price(a)
		switch {
		case err != nil:
			s.seen.Wrong("%s: held market %s: %v", ill, id, err)
		case yes == nil && ill.readable():
			s.lost.Add(1)
		case yes == nil || *yes != truth || at.IsZero() || at.After(began) && !ill.readable():
			s.seen.Wrong("%s: market %s, held at %d since before %v, is shown at %s from %v", ill, id, truth, began.Format(time.TimeOnly), shown, at)
		}
	}
}

// meet reads a market that nobody has read: its venue is away, or what it says
// of the price is left out.
func (s *sickbay) meet(ctx context.Context, id string, ill illness) {
	a := s.market(ctx, id)
	s.unseen.Add(a.Took())
	if a.Status == http.StatusServiceUnavailable && a.Code() == "venue_unavailable" {
		return
	}
	shown, yes, _, err := s.price(a)
	if err != nil || yes != nil && *yes != truth { // a sweep of the other ledger may have found it
		s.seen.Wrong("%s: market %s, which nobody has read, is shown at %s: %s", ill, id, shown, a)
	}
}

// badRows counts what is stored of the markets of this row and is not so.
func (s *sickbay) badRows(ctx context.Context) (bad int, err error) {
	for _, id := range slices.Concat(slices.Concat(s.held...), slices.Concat(s.fresh...)) {
		n, err := s.env.Count(ctx, `SELECT (SELECT count(*) FROM api.market_prices WHERE market_id = $1 AND yes_bps <> $2)
			+ (SELECT count(*) FROM api.market_quotes WHERE market_id = $1 AND (yes_bps <> $2 OR
				NOT coalesce(volume, 0) BETWEEN 0 AND 1e12 OR NOT coalesce(volume_usd, 0) BETWEEN 0 AND 1e12 OR
				NOT coalesce(volume24h, 0) BETWEEN 0 AND 1e12 OR NOT coalesce(liquidity, 0) BETWEEN 0 AND 1e12))
			+ (SELECT count(*) FROM api.markets WHERE market_id = $1 AND (status <> 'open' OR title NOT LIKE 'Will % cure %'))`, id, truth)
		if err != nil {
			return bad, err
		}
		s.seen.Check(n == 0, "of market %s, at %d, %d rows are wrong", id, truth, n)
		bad += n
	}
	return bad, nil
}
