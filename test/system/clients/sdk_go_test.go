package clients

import (
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/signalcast/signalcast/sdk/go/client"
	"github.com/signalcast/signalcast/sdk/go/signalcast"
	"github.com/signalcast/signalcast/test/system/stack"
)

// patientRetry is long enough for a loaded machine.
var patientRetry = signalcast.Retry{Tries: 8, First: 50 * time.Millisecond, Longest: 2 * time.Second}

// library returns the Go library with a token of a person; with an empty token, with the key.
func library(t testing.TB, s *stack.Stack, p *stack.Operator, hub, token string) *signalcast.Client {
	t.Helper()
	if token == "" {
		token = p.Key
	}
	return connectLibrary(t, signalcast.Options{
		Hub: hub, API: s.API, Clock: s.Clock, Token: signalcast.Key(token),
		Retry: patientRetry,
	})
}

func connectLibrary(t testing.TB, o signalcast.Options) *signalcast.Client {
	t.Helper()
	c, err := signalcast.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func called(market string, side client.Side, price int) client.SignalDraft {
	return client.SignalDraft{
		MarketID: market, Direction: side, PriceAtPrediction: price,
		MaxSlippageBps: new(10000),
	} // calls move native markets
}

// refused requires an Error with this code.
func refused(t testing.TB, err error, code signalcast.Code) *signalcast.Error {
	t.Helper()
	e := (*signalcast.Error)(nil)
	if !errors.Is(err, code) || !errors.As(err, &e) {
		t.Fatalf("%v, want %s", err, code)
	}
	return e
}

// A proxy drops the first answer to each caller after the hub has stored the call. Each call is stored once, with and
// without the Idempotency-Key, and a conflicting call is reported.
func TestLibraryThroughLostAnswers(t *testing.T) {
	t.Parallel()
	s := system(t)
	for name, row := range map[string]struct {
		strip bool
		found bool
	}{"with the key": {false, false}, "the key never arrives": {true, true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := &between{to: s.Hub, lose: (&losing{seen: map[string]bool{}}).first}
			if row.strip {
				b.ask = func(r *http.Request) { r.Header.Del("Idempotency-Key") }
			}
			hub, market := b.open(t), s.NewNativeMarket(t, 5000, nil)
			var all sync.WaitGroup
			var mu sync.Mutex
			filed := map[uuid.UUID]bool{}
			const callers = 12
			people := make([]*stack.Operator, callers)
			for i := range people {
				people[i] = s.NewOperator(t)
			}
			for _, p := range people {
				c := library(t, s, p, hub, "")
				all.Go(func() {
					f, err := c.Signals.File(t.Context(), called(market, client.SideNO, 6850))
					if err != nil || f.Found != row.found {
						t.Errorf("%+v %v", f, err)
						return
					}
					mu.Lock()
					defer mu.Unlock()
					filed[f.ID] = true
				})
			}
			all.Wait()
			if b.lost.Load() != callers {
				t.Errorf("%d answers were lost", b.lost.Load())
			}
			stand := stack.Query[string](t, s, `SELECT count(*)::text FROM api.signals WHERE market_id = $1`, market)
			if len(filed) != callers || stand != "12" {
				t.Errorf("%d filed, %s stand", len(filed), stand)
			}
			p := s.NewOperator(t)
			call(t, s, p, market, "YES", 3150)
			_, err := library(t, s, p, hub, "").Signals.File(t.Context(), called(market, client.SideNO, 6850))
			refused(t, err, signalcast.ErrAlreadyPredicted)
		})
	}
}

// The Go library does what a user needs, from the first key to a signed message.
func TestLibraryActs(t *testing.T) {
	t.Parallel()
	s := system(t)
	p, other, ctx := s.NewOperator(t), s.NewOperator(t), t.Context()
	self := library(t, s, p, s.Hub, p.Login)
	minted, err := self.Keys.Mint(ctx, client.KeyMint{Label: "mine"})
	if err != nil {
		t.Fatal(err)
	}
	if in, err := self.People.SignIn(ctx); err != nil || !bool(in.Ok) {
		t.Fatal(in, err)
	}
	if f, err := self.People.Follow(ctx, other.Handle); err != nil || !f.IsFollowing {
		t.Fatal(f, err)
	}
	if f, err := self.People.Unfollow(ctx, other.Handle); err != nil || f.IsFollowing {
		t.Error(f, err)
	}
	c, market := library(t, s, p, s.Hub, minted.Key), s.NewNativeMarket(t, 5000, nil)
	filed, err := c.Signals.File(ctx, called(market, client.SideYES, 5000))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Signals.AddEvent(ctx, filed.ID, signalcast.Event{
		Type:    "note",
		Payload: map[string]any{"text": "Rain."},
	}); err != nil {
		t.Error(err)
	}
	if got, err := c.Signals.Get(ctx, filed.ID); err != nil || got.MarketID != market {
		t.Error(got, err)
	}
	if _, err := c.Live.SetSignal(ctx, client.OverlayWrite{MarketID: market, Name: "The gauge"}); err != nil {
		t.Error(err)
	}
	if o, err := c.Live.Signal(ctx, p.Handle); err != nil {
		t.Error(o, err)
	}
	if _, err := c.Live.ClearSignal(ctx); err != nil {
		t.Error(err)
	}
	if now, err := c.Programme.Timeline(ctx, nil); err != nil {
		t.Error(now, err)
	}
	lines := 0
	for line, err := range c.Operators.Record(ctx, p.Handle) {
		if err != nil || !json.Valid(line) {
			t.Fatal(string(line), err)
		}
		lines++
	}
	if lines < 3 {
		t.Errorf("a record of %d lines", lines)
	}
	signsWith(t, s, c)
	if r, err := self.Keys.Revoke(ctx, uuid.MustParse(minted.ID.String())); err != nil {
		t.Error(r, err)
	}
	_, err = c.Signals.File(ctx, called(market, client.SideYES, 5000))
	refused(t, err, signalcast.ErrUnauthenticated)
}

// signsWith registers a signer and submits a signed call through a proxy that drops the first answer. The message is
// accepted once.
func signsWith(t *testing.T, s *stack.Stack, c *signalcast.Client) {
	t.Helper()
	ctx := t.Context()
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := signalcast.NewSigner(key)
	if err != nil {
		t.Fatal(err)
	}
	registered, err := c.Messages.RegisterSigner(ctx, signer, []string{"signal:create"}, "library")
	if err != nil {
		t.Fatal(err)
	}
	issuer, err := c.Apps.Issuer(ctx)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := signer.Sign(issuer.Issuer, signalcast.Message{
		Type: "signal.create", DenpaID: registered.DenpaID, At: time.Now(),
		Payload: map[string]any{
			"marketId": s.NewNativeMarket(t, 5000, nil), "position": "NO", "priceBps": 5000,
			"take": "Zwölf <b> \u2028 \U0001F511",
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	b := &between{to: s.Hub, lose: (&losing{seen: map[string]bool{}}).first}
	lossy := connectLibrary(t, signalcast.Options{Hub: b.open(t), Retry: patientRetry})
	done, err := lossy.Messages.Submit(ctx, signed)
	if err != nil || done.ID != signed.ID || done.Replayed == nil || !*done.Replayed || b.lost.Load() != 1 {
		t.Fatalf("%+v %v", done, err)
	}
	if kept, err := lossy.Messages.Get(ctx, signed.ID); err != nil || kept.ID != signed.ID {
		t.Error(kept, err)
	}
}

// Each kind of refusal is an error that can be identified.
func TestLibraryErrors(t *testing.T) {
	t.Parallel()
	s := system(t)
	p, ctx, market := s.NewOperator(t), t.Context(), s.NewNativeMarket(t, 5000, nil)
	c := library(t, s, p, s.Hub, "")
	first, err := c.Signals.File(ctx, called(market, client.SideYES, 5000))
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Signals.File(ctx, called(market, client.SideYES, 5000))
	if e := refused(t, err, signalcast.ErrAlreadyPredicted); e.ID() != first.ID.String() || e.Status != http.StatusConflict {
		t.Errorf("%+v", e)
	}
	_, err = c.Signals.File(ctx, called(closed(t, s), client.SideYES, 5000))
	if e := refused(t, err, signalcast.ErrMarketClosed); e.Reason() != "settled" {
		t.Errorf("%+v", e)
	}
	_, err = c.Signals.File(ctx, called("native-absent", client.SideYES, 5000))
	refused(t, err, signalcast.ErrMarketNotFound)
	_, err = c.Signals.File(ctx, called(market, "PERHAPS", 5000))
	if e := refused(t, err, signalcast.ErrInvalidDirection); e.Field() != "direction" || e.RequestID == "" {
		t.Errorf("%+v", e)
	}
	_, err = c.Signals.Get(ctx, uuid.New())
	refused(t, err, signalcast.ErrNotFound)
	unknown := signalcast.Key("dk_" + strings.Repeat("x", 43))
	_, err = connectLibrary(t, signalcast.Options{Hub: s.Hub, Token: unknown}).Signals.File(ctx, called(market, client.SideYES, 5000))
	refused(t, err, signalcast.ErrUnauthenticated)
	reader, err := library(t, s, p, s.Hub, p.Login).Keys.Mint(ctx, client.KeyMint{
		Label:       "reads",
		Permissions: &[]client.Permission{client.PermissionRead},
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = library(t, s, p, s.Hub, reader.Key).Signals.Create(ctx, client.CreationDraft{MarketID: &market})
	refused(t, err, signalcast.ErrInsufficientScope)
	_, err = connectLibrary(t, signalcast.Options{
		Hub:   "http://127.0.0.1:1",
		Retry: signalcast.Retry{Tries: 2},
	}).Markets.Get(ctx, market)
	if none := (*signalcast.Unanswered)(nil); !errors.As(err, &none) {
		t.Error(err)
	}
	hasty := connectLibrary(t, signalcast.Options{Hub: s.Hub, Token: signalcast.Key(reader.Key), Retry: signalcast.Retry{Tries: 1}})
	for range 200 {
		if _, err = hasty.People.Me(ctx); errors.Is(err, signalcast.ErrRateLimited) {
			break
		}
	}
	if e := refused(t, err, signalcast.ErrRateLimited); e.RetryAfter <= 0 || e.RetryAfter > time.Minute ||
		e.Extra["limit"] != float64(60) {
		t.Errorf("%+v", e)
	}
}

// A list of several pages is read whole and once, also with unknown members and values; the iteration ends with the loop
// and with a cursor that does not advance.
func TestLibraryPages(t *testing.T) {
	t.Parallel()
	s := system(t)
	market := s.NewNativeMarket(t, 5000, nil)
	filed := map[string]int{}
	for range 9 {
		filed[call(t, s, s.NewOperator(t), market, "NO", 5000)] = 0
	}
	b := &between{to: s.Hub, answer: ofNextYear}
	c := connectLibrary(t, signalcast.Options{Hub: b.open(t), API: s.API, Retry: patientRetry})
	limit := &client.ListMarketSignalsParams{Limit: new(2)}
	for row, err := range c.Markets.Ledger(t.Context(), market, limit) {
		if err != nil {
			t.Fatal(err)
		}
		filed[row.ID.String()]++
		if !strings.HasPrefix(string(row.Status), "brewing_") {
			t.Errorf("status %s", row.Status)
		}
	}
	for id, n := range filed {
		if n != 1 {
			t.Errorf("%s came %d times", id, n)
		}
	}
	if pages := b.n.Load(); len(filed) != 9 || pages != 5 {
		t.Errorf("%d calls on %d pages", len(filed), pages)
	}
	for range c.Markets.Ledger(t.Context(), market, limit) {
		break
	}
	if pages := b.n.Load(); pages != 6 {
		t.Errorf("%d pages after a loop that was left", pages)
	}
	restarted := &between{to: s.Hub, ask: func(r *http.Request) {
		q := r.URL.Query()
		q.Set("cursor", "unreadable")
		r.URL.RawQuery = q.Encode()
	}}
	rows, last := 0, error(nil)
	for _, err := range connectLibrary(t, signalcast.Options{
		Hub:   restarted.open(t),
		Retry: patientRetry,
	}).Markets.Ledger(t.Context(), market, limit) {
		if last = err; err == nil {
			rows++
		}
	}
	if !errors.Is(last, signalcast.ErrCursor) || rows != 4 {
		t.Errorf("%d rows, %v", rows, last)
	}
}
