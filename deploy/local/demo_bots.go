package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"net/url"
	"time"

	"golang.org/x/sync/errgroup"
)

const (
	botAddress  = 60_000 // of the loopback addresses of the bots
	keyLabel    = "demo"
	firstCalls  = 3
	restAtLeast = 12 * time.Second
	restAtMost  = 36 * time.Second
	afterFault  = 15 * time.Second
)

// botNames are the bots. The last one is marked as a machine, the others represent people.
var botNames = []string{"late-ferry", "slow-tram", "teletext-page", "rain-check", "second-cup", "auto-almanac"}

// crew is the bots of a running demo.
type crew struct {
	stack stack
	bots  []*bot
	meets meets
}

// bot calls what the programme shows, slowly.
type bot struct {
	stack  stack
	client *client
	key    string
	rand   *rand.Rand
	called map[string]bool
	own    []string // its own open calls
}

// opened is a call that a bot filed.
type opened struct{ id, market string }

// openCrew signs the bots in, each with one key.
func openCrew(ctx context.Context, s stack) (*crew, error) {
	out := &crew{stack: s}
	for i, name := range botNames {
		b := &bot{stack: s, client: newClient(botAddress+i, &out.meets), rand: rand.New(rand.NewPCG(uint64(i), 7)), called: map[string]bool{}}
		out.bots = append(out.bots, b)
		if err := b.enter(ctx, name, i == len(botNames)-1); err != nil {
			out.close()
			return nil, fmt.Errorf("bot %s: %w", name, err)
		}
	}
	return out, nil
}

func (s *crew) close() {
	for _, b := range s.bots {
		b.client.close()
	}
}

// enter signs in and mints one key. Keys of earlier demos are revoked first, because an
// operator can have only ten.
func (b *bot) enter(ctx context.Context, name string, machine bool) error {
	var minted struct{ Token, Key string }
	err := b.client.post(ctx, b.stack.IDP+"/mint", "", map[string]string{"user": name}, http.StatusOK, &minted)
	if err != nil {
		return err
	}
	login := minted.Token
	var in struct{ User struct{ Handle string } }
	if err := b.client.post(ctx, b.stack.Hub+"/api/auth/privy", login, nil, http.StatusOK, &in); err != nil {
		return err
	}
	keys := b.stack.Hub + "/api/dev/keys"
	reply, err := b.client.do(ctx, ask{method: http.MethodGet, url: keys, bearer: login})
	if err != nil {
		return err
	}
	var list struct {
		Keys []struct {
			ID, Label string
			Active    bool
		}
	}
	if err := reply.into(http.StatusOK, &list); err != nil {
		return err
	}
	for _, k := range list.Keys {
		if k.Active && k.Label == keyLabel {
			if _, err := b.client.do(ctx, ask{method: http.MethodDelete, url: keys + "?id=" + url.QueryEscape(k.ID), bearer: login}); err != nil {
				return err
			}
		}
	}
	if err := b.client.post(ctx, keys, login, map[string]string{"label": keyLabel}, http.StatusCreated, &minted); err != nil {
		return err
	}
	b.key, b.client.pace = minted.Key, newPace()
	if !machine {
		return nil
	}
	_, err = b.client.do(ctx, ask{
		method: http.MethodPost, url: b.stack.Hub + "/api/admin/operators", body: map[string]any{"handle": in.User.Handle, "operatorType": "system_bot"},
		header: map[string]string{"x-admin-secret": b.stack.AdminSecret},
	})
	return err
}

// begin files the first calls of every bot and returns the last one.
func (s *crew) begin(ctx context.Context) (opened, error) {
	var last opened
	for range firstCalls {
		for _, b := range s.bots {
			// The programme may still be empty, and asking would keep it so for a while.
			offers, err := b.listed(ctx)
			if err != nil {
				return last, err
			}
			made, err := b.call(ctx, offers)
			if err != nil {
				return last, err
			}
			if made.id != "" {
				last = made
			}
		}
	}
	return last, nil
}

// run has the bots act until ctx ends.
func (s *crew) run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, b := range s.bots {
		group.Go(func() error {
			for {
				if err := sleep(ctx, restAtLeast+time.Duration(b.rand.Int64N(int64(restAtMost-restAtLeast)))); err != nil {
					return err
				}
				if err := b.act(ctx); err != nil { // for example a restart of the hub
					if err := sleep(ctx, afterFault); err != nil {
						return err
					}
				}
			}
		})
	}
	return group.Wait()
}

// act is a new call, or a word on an old one.
func (b *bot) act(ctx context.Context) error {
	if len(b.own) > 0 && b.rand.IntN(3) == 0 {
		return b.remark(ctx)
	}
	offers, err := b.aired(ctx)
	if err == nil && len(offers) == 0 {
		offers, err = b.listed(ctx)
	}
	if err != nil {
		return err
	}
	made, err := b.call(ctx, offers)
	if err == nil && made.id == "" && len(b.own) > 0 {
		return b.remark(ctx)
	}
	return err
}

// offer is an open market and its YES price.
type offer struct {
	market string
	yes    int
}

// aired lists what the programme shows.
func (b *bot) aired(ctx context.Context) ([]offer, error) {
	var program struct {
		Segments []struct {
			ID, Status string
			YesPrice   *float64
		}
	}
	if err := b.client.get(ctx, b.stack.Hub+"/api/network/program?limit=400&lanes=0", &program); err != nil {
		return nil, err
	}
	var out []offer
	for _, s := range program.Segments {
		if s.Status != "resolved" && s.YesPrice != nil {
			out = append(out, offer{s.ID, int(math.Round(*s.YesPrice * 100))})
		}
	}
	return out, nil
}

// listed lists what is traded most at the venue.
func (b *bot) listed(ctx context.Context) ([]offer, error) {
	var markets []struct {
		ID        string
		BestBid   *float64
		BestAsk   *float64
		Accepting bool `json:"acceptingOrders"`
	}
	if err := b.client.get(ctx, b.stack.Venues+"/gamma/markets?closed=false&order=volume24hr&ascending=false&limit=60", &markets); err != nil {
		return nil, err
	}
	var out []offer
	for _, m := range markets {
		if m.Accepting && m.BestBid != nil && m.BestAsk != nil {
			out = append(out, offer{m.ID, int(math.Round((*m.BestBid + *m.BestAsk) * 5000))})
		}
	}
	return out, nil
}

// callBody is the body of POST /api/predictions.
type callBody struct {
	MarketID   string `json:"marketId"`
	Direction  string `json:"direction"`
	Price      int    `json:"priceAtPrediction"`
	Confidence int    `json:"confidence,omitempty"`
	Take       string `json:"textTake,omitempty"`
}

// call files a call on one of the markets, if one of them is new to the bot.
func (b *bot) call(ctx context.Context, offers []offer) (opened, error) {
	b.rand.Shuffle(len(offers), func(i, j int) { offers[i], offers[j] = offers[j], offers[i] })
	for _, o := range offers {
		if b.called[o.market] {
			continue
		}
		b.called[o.market] = true
		r, err := b.client.do(ctx, ask{method: http.MethodPost, url: b.stack.Hub + "/api/predictions", bearer: b.key, body: b.body(o)})
		if err != nil {
			return opened{}, err
		}
		if r.status == http.StatusConflict || r.status == http.StatusNotFound {
			continue // over meanwhile, or called in an earlier demo
		}
		var got struct{ ID string }
		if err := r.into(http.StatusOK, &got); err != nil {
			return opened{}, err
		}
		b.own = append(b.own, got.ID)
		return opened{got.ID, o.market}, nil
	}
	return opened{}, nil
}

func (b *bot) body(o offer) callBody {
	c := callBody{MarketID: o.market, Direction: "YES", Price: o.yes, Confidence: 35 + b.rand.IntN(60)}
	if b.rand.IntN(2) == 0 {
		c.Direction, c.Price = "NO", 10000-c.Price
	}
	if b.rand.IntN(2) == 0 {
		c.Take = b.thought()
	}
	return c
}

// remark appends to the history of one of the bot's own calls.
func (b *bot) remark(ctx context.Context) error {
	i := b.rand.IntN(len(b.own))
	event := map[string]any{"type": "take", "payload": map[string]string{"text": b.thought()}}
	switch b.rand.IntN(4) {
	case 0:
		event = map[string]any{"type": "reaffirm"}
	case 1:
		event = map[string]any{"type": "confidence", "payload": map[string]int{"confidence": 20 + b.rand.IntN(80)}}
	}
	r, err := b.client.do(ctx, ask{
		method: http.MethodPost, url: b.stack.Hub + "/api/signals/" + b.own[i] + "/events", bearer: b.key, body: event, once: true,
	})
	if err != nil {
		return err
	}
	return r.into(http.StatusCreated, nil)
}

var thoughts = []string{
	"Holding this one; the price has not heard the news yet.", "Everybody looks at the favourite, nobody at the clock.",
	"I would rather be early than loud.", "The move this morning was one large buyer, not a crowd.",
	"Small price, short time: that is all there is to it.", "Ask again in an hour, but I doubt it changes.",
	"The last three of this kind ended the other way.", "Too round a number to be a price.",
}

func (b *bot) thought() string { return thoughts[b.rand.IntN(len(thoughts))] }
