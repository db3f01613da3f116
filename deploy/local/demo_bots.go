package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"github.com/signalcast/signalcast/pkg/dbtime"
	"github.com/signalcast/signalcast/sdk/go/client"
	"github.com/signalcast/signalcast/sdk/go/signalcast"
)

const (
	keyLabel     = "demo"
	firstCalls   = 3 // calls of each bot at the start
	restAtLeast  = 12 * time.Second
	restAtMost   = 36 * time.Second
	afterFault   = 15 * time.Second
	answerWithin = 15 * time.Second
)

type persona struct{ name, title, bio string }

// personas are the user names, display names and texts of the bots. The last bot is an operator of type system_bot; the others are
// people.
var personas = []persona{
	{"late-ferry", "Late Ferry", "Ferries, tides and everything else with a timetable."},
	{"slow-tram", "Slow Tram", "I wait for the price to come to me."},
	{"teletext-page", "Teletext Page 888", "Sports results, one page at a time."},
	{"rain-check", "Rain Check", "Weather and elections. Both change on the last day."},
	{"second-cup", "Second Cup", "Long shots before breakfast."},
	{"auto-almanac", "Auto Almanac", "Calls by base rates only."},
}

// crew contains the bots of a running demo.
type crew struct {
	stack  stack
	bots   []*bot
	filed  chan opened // calls of the bots
	onAir  string      // id of the market of the broadcast
	leader string      // first person of the leaderboard
}

// bot is a user that files calls on open markets and adds events to its calls.
type bot struct {
	stack  stack
	http   *http.Client
	handle string
	token  string             // identity token
	client *signalcast.Client // with the operator key of the bot
	login  *signalcast.Client // with an identity token and a session
	rand   *rand.Rand
	called map[string]bool // ids of markets that the bot tried to call
	own    []uuid.UUID     // calls of the bot
	filed  chan opened
}

// opened contains the ids of a call that a bot filed and of its market, and the YES price of the market in bps. It is empty if no
// call was filed.
type opened struct {
	id, market string
	yes        int
}

// openCrew signs in all bots and creates an operator key for each.
func openCrew(ctx context.Context, s stack) (*crew, error) {
	out := &crew{stack: s, filed: make(chan opened, 1000)}
	for i, p := range personas {
		b := &bot{
			stack: s, http: fromAddress(i), rand: rand.New(rand.NewPCG(uint64(i), 7)), called: map[string]bool{}, filed: out.filed,
		}
		out.bots = append(out.bots, b)
		if err := b.signIn(ctx, p.name, i == len(personas)-1); err != nil {
			out.close()
			return nil, fmt.Errorf("bot %s: %w", p.name, err)
		}
	}
	return out, nil
}

// fromAddress returns an HTTP client that connects from the IP address 127.64.240.(n+1), so that each bot has a separate rate
// limit. If the machine does not have that address, the client connects from the default one.
func fromAddress(n int) *http.Client {
	dialer := &net.Dialer{Timeout: 5 * time.Second}
	from := &net.TCPAddr{IP: net.IPv4(127, 64, 240, byte(1+n))}
	if l, err := net.ListenTCP("tcp", from); err == nil {
		_ = l.Close()
		dialer.LocalAddr = from
	}
	return &http.Client{Timeout: answerWithin, Transport: &http.Transport{
		DialContext: dialer.DialContext, MaxIdleConnsPerHost: 2, IdleConnTimeout: time.Minute,
	}}
}

func (s *crew) close() {
	for _, b := range s.bots {
		b.http.CloseIdleConnections()
	}
}

// open returns a client that sends the token to the hub. The client waits for rate limits and retries up to ten times.
func (b *bot) open(token string) (*signalcast.Client, error) {
	return signalcast.New(signalcast.Options{
		Hub: b.stack.Hub, Token: signalcast.Key(token), HTTPClient: b.http, Retry: signalcast.Retry{Tries: 10, Longest: time.Minute},
	})
}

// askFor is the time for which ask repeats a failed request. Services may not respond yet while the stack starts.
const askFor = 2 * time.Minute

// ask sends a request without a credential and decodes the JSON response. It repeats the request every second until the status is
// 200, for at most askFor. If body is empty, the request has no body.
func (b *bot) ask(ctx context.Context, method, url, body string, into any) error {
	for end := time.Now().Add(askFor); ; {
		err := b.askOnce(ctx, method, url, body, into)
		if err == nil || time.Now().After(end) || dbtime.Sleep(ctx, time.Second) != nil {
			return err
		}
	}
}

func (b *bot) askOnce(ctx context.Context, method, url, body string, into any) error {
	r, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	a, err := b.http.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = a.Body.Close() }()
	raw, err := io.ReadAll(a.Body)
	if err == nil && a.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s %s answered %d: %.300s", method, url, a.StatusCode, raw)
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, into)
}

// signIn signs the bot in and creates an operator key for it. It first revokes the keys of earlier demos, because an operator can
// have at most ten keys. If machine is true, it sets the operator type to system_bot.
func (b *bot) signIn(ctx context.Context, name string, machine bool) error {
	var minted struct{ Token string }
	if err := b.ask(ctx, http.MethodPost, b.stack.IDP+"/mint", fmt.Sprintf(`{"user":%q}`, name), &minted); err != nil {
		return err
	}
	login, err := b.open(minted.Token)
	if err != nil {
		return err
	}
	in, err := login.People.SignIn(ctx)
	if err != nil {
		return err
	}
	list, err := login.Keys.List(ctx)
	if err != nil {
		return err
	}
	for _, k := range list.Keys {
		if k.Active && k.Label == keyLabel {
			if _, err := login.Keys.Revoke(ctx, k.ID); err != nil {
				return err
			}
		}
	}
	key, err := login.Keys.Mint(ctx, client.KeyMint{Label: keyLabel})
	if err != nil {
		return err
	}
	b.login, b.handle, b.token = login, in.User.Handle, minted.Token
	if b.client, err = b.open(key.Key); err != nil || !machine {
		return err
	}
	bot := client.OperatorType("system_bot")
	a, err := b.client.Hub.ClassifyOperatorWithResponse(ctx, client.Classify{Handle: b.handle, OperatorType: &bot}, b.asAdmin)
	if err == nil && a.JSON200 == nil {
		err = fmt.Errorf("POST /api/admin/operators answered %s", a.Status())
	}
	return err
}

// asAdmin adds the admin secret to a request.
func (b *bot) asAdmin(_ context.Context, r *http.Request) error {
	r.Header.Set("x-admin-secret", b.stack.AdminSecret)
	return nil
}

// begin lets every bot file several calls (firstCalls), and a call on the market of the first of them. It returns that call.
func (s *crew) begin(ctx context.Context) (opened, error) {
	var first opened
	for range firstCalls {
		for _, b := range s.bots {
			made, err := b.callListed(ctx)
			if err != nil {
				return first, err
			}
			if first.id == "" {
				first = made
			}
		}
	}
	for _, b := range s.bots {
		if _, err := b.call(ctx, []offer{{first.market, first.yes}}); err != nil {
			return first, err
		}
	}
	return first, nil
}

// callListed files a call on one of the first markets of the venue. It does not read the programme: it may still be empty, and the
// hub would cache the empty answer.
func (b *bot) callListed(ctx context.Context) (opened, error) {
	offers, err := b.listed(ctx)
	if err != nil {
		return opened{}, err
	}
	return b.call(ctx, offers)
}

// run lets the bots act at random intervals, and resolves markets that they called, until ctx ends.
func (s *crew) run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return s.decide(ctx) })
	for _, b := range s.bots {
		group.Go(func() error {
			for {
				if err := dbtime.Sleep(ctx, restAtLeast+time.Duration(b.rand.Int64N(int64(restAtMost-restAtLeast)))); err != nil {
					return err
				}
				if err := b.act(ctx); err != nil { // for example a restart of the hub
					if err := dbtime.Sleep(ctx, afterFault); err != nil {
						return err
					}
				}
			}
		})
	}
	return group.Wait()
}

// act files a call, or adds an event to an earlier call of the bot. The choice is random. If the first choice is a call but
// no call can be filed on any market, act adds an event if the bot has an earlier call.
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

// aired returns the open markets of the programme, with their YES prices.
func (b *bot) aired(ctx context.Context) ([]offer, error) {
	var program struct {
		Segments []struct {
			ID, Status string
			YesPrice   *float64
		}
	}
	if err := b.ask(ctx, http.MethodGet, b.stack.Hub+"/api/network/program?limit=400&lanes=0", "", &program); err != nil {
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

// listed returns at most 60 open markets of the venue with their YES prices, in descending order of trading volume.
func (b *bot) listed(ctx context.Context) ([]offer, error) {
	var markets []struct {
		ID        string
		BestBid   *float64
		BestAsk   *float64
		Accepting bool `json:"acceptingOrders"`
	}
	const path = "/gamma/markets?closed=false&order=volume24hr&ascending=false&limit=60"
	if err := b.ask(ctx, http.MethodGet, b.stack.Venues+path, "", &markets); err != nil {
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

// call files a call on the market of a random offer. It skips markets that the bot has tried before. If the hub refuses the
// call with status 404 or 409, it tries another offer. If it files no call, the result is empty.
func (b *bot) call(ctx context.Context, offers []offer) (opened, error) {
	b.rand.Shuffle(len(offers), func(i, j int) { offers[i], offers[j] = offers[j], offers[i] })
	for _, o := range offers {
		if b.called[o.market] {
			continue
		}
		b.called[o.market] = true
		filed, err := b.client.Signals.FileWith(ctx, b.draft(o), signalcast.FileOptions{AllowUnverified: true})
		if e := (*signalcast.Error)(nil); errors.As(err, &e) && (e.Status == http.StatusConflict || e.Status == http.StatusNotFound) {
			continue // the market closed, its price moved, or the bot called it in an earlier demo
		}
		if err != nil {
			return opened{}, err
		}
		b.own = append(b.own, filed.ID)
		made := opened{filed.ID.String(), o.market, o.yes}
		select {
		case b.filed <- made:
		default: // decide has enough calls
		}
		return made, nil
	}
	return opened{}, nil
}

func (b *bot) draft(o offer) client.SignalDraft {
	confidence := 35 + b.rand.IntN(60)
	d := client.SignalDraft{MarketID: o.market, Direction: "YES", PriceAtPrediction: o.yes, Confidence: &confidence}
	if b.rand.IntN(2) == 0 {
		d.Direction, d.PriceAtPrediction = "NO", 10000-o.yes
	}
	if b.rand.IntN(2) == 0 {
		take := b.randomTake()
		d.TextTake = &take
	}
	return d
}

// remark adds an event to a random call of the bot.
func (b *bot) remark(ctx context.Context) error {
	event := signalcast.Event{Type: "take", Payload: map[string]any{"text": b.randomTake()}}
	switch b.rand.IntN(4) {
	case 0:
		event = signalcast.Event{Type: "reaffirm"}
	case 1:
		event = signalcast.Event{Type: "confidence", Payload: map[string]any{"confidence": 20 + b.rand.IntN(80)}}
	}
	_, err := b.client.Signals.AddEvent(ctx, b.own[b.rand.IntN(len(b.own))], event)
	return err
}

var takes = []string{
	"Holding this one; the price does not include the news yet.", "The favourite gets the attention, the deadline does not.",
	"I would rather be early than loud.", "The move this morning was one large buyer, not a crowd.",
	"Small price, short time: that is all there is to it.", "Ask again in an hour, but I doubt it changes.",
	"The last three of this kind ended the other way.", "Too round a number to be a price.",
}

func (b *bot) randomTake() string { return takes[b.rand.IntN(len(takes))] }
