package delivery_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/safedial"
	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/api/internal/broker"
	"github.com/signalcast/signalcast/services/api/internal/delivery"
	"github.com/signalcast/signalcast/services/api/internal/feed"
	"github.com/signalcast/signalcast/services/api/internal/operator"
	"github.com/signalcast/signalcast/services/api/internal/postgres"
	"github.com/signalcast/signalcast/services/api/internal/webhook"
)

func TestMain(m *testing.M) { testkit.Main(m) }

var noon = time.Date(2026, 10, 10, 12, 0, 0, 0, time.UTC)

// bundle contains a ledger, a clock that the test sets, a broker and the parts of a webhook worker.
type bundle struct {
	t        *testing.T
	store    *postgres.Store
	admin    *pgxpool.Pool
	broker   *broker.Broker
	chain    *feed.Chain
	clock    *testkit.Clock
	sender   *delivery.Sender
	vault    *webhook.Vault
	webhooks *webhook.Service
	mara     webhook.Owner
}

// setup returns a bundle whose broker stores the given number of events in memory.
func setup(t *testing.T, memory int) *bundle {
	t.Helper()
	db := testkit.Postgres(t, pg.Schema{Name: "api", Files: postgres.Migrations()})
	b := &bundle{
		t: t, admin: testkit.Pool(t, db.Admin), broker: broker.New(memory), clock: testkit.NewClock(noon),
		vault: webhook.NewVault("0123456789abcdef0123456789abcdef"),
	}
	t.Cleanup(b.broker.Close)
	b.store = postgres.New(testkit.Pool(t, db.URL("api_rw")), postgres.Rules{ResolveChunk: 1000, ReadBudget: 20 * time.Second}, b.clock.Now)
	t.Cleanup(b.store.Close)
	b.chain = feed.NewChain(b.store)
	b.sender = delivery.NewSender(safedial.Options{Private: true, Timeout: 2 * time.Second}, b.clock.Now)
	t.Cleanup(b.sender.Close)
	b.webhooks = webhook.NewService(b.store, b.sender.Send, b.vault, delivery.AllowedURL(true), b.clock.Now)
	b.mara = b.owner("mara_k")
	b.broker.Start(0)
	b.broker.SetReady()
	return b
}

func (b *bundle) exec(sql string, args ...any) {
	b.t.Helper()
	if _, err := b.admin.Exec(context.Background(), sql, args...); err != nil {
		b.t.Fatalf("%s: %v", sql, err)
	}
}

func (b *bundle) owner(name string) webhook.Owner {
	b.t.Helper()
	s := operator.NewService(b.store, "0123456789abcdef0123456789abcdef", b.clock.Now)
	o, _, err := s.SignIn(b.t.Context(), operator.Identity{Issuer: "https://idp.example", Subject: "did:idp:" + name, Primary: true, Username: name})
	if err != nil {
		b.t.Fatal(err)
	}
	_, k, err := s.Mint(b.t.Context(), o.ID, "test", operator.PrefixKey, nil, false)
	if err != nil {
		b.t.Fatal(err)
	}
	return webhook.Owner{ID: o.ID, Handle: o.Handle, KeyID: k.ID}
}

// publish adds n events of a type about a market to the feed, and delivers them to the broker.
func (b *bundle) publish(kind, market string, n int) {
	b.t.Helper()
	b.exec(`INSERT INTO api.outbox (type, market_id, data, at) SELECT $1, $2, jsonb_build_object('n', i), now() FROM generate_series(1, $3) i`, kind, market, n)
	for {
		done := testkit.Must(b.store.NumberFeed(b.t.Context(), 500))(b.t)
		if done == 0 {
			break
		}
	}
	for {
		messages := testkit.Must(b.chain.Read(b.t.Context(), b.broker.Head(), 500))(b.t)
		for _, m := range messages {
			if err := b.broker.Deliver(m); err != nil {
				b.t.Fatal(err)
			}
		}
		if len(messages) == 0 {
			return
		}
	}
}

// startWorker runs a worker until the test ends or the returned function is called. change can change the worker before it
// starts, and can call kill later to stop it.
func (b *bundle) startWorker(change func(w *delivery.Worker, kill func())) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	w := &delivery.Worker{
		Feed: b.store, Hooks: b.store, Memory: b.broker, Send: b.sender.Send, Vault: b.vault, Now: b.clock.Now,
		Chance: func() float64 { return 0.5 }, Log: slog.New(slog.DiscardHandler),
	}
	if change != nil {
		change(w, cancel)
	}
	go func() {
		defer close(done)
		_ = w.Run(ctx) // returns the error of ctx
	}()
	stop = sync.OnceFunc(func() { cancel(); <-done })
	b.t.Cleanup(stop)
	return stop
}

// register creates a webhook of the operator mara_k, and returns it with its secret.
func (b *bundle) register(d webhook.Draft) (webhook.Hook, string) {
	b.t.Helper()
	h, secret, err := b.webhooks.Register(b.t.Context(), b.mara, d)
	if err != nil {
		b.t.Fatal(err)
	}
	return h, secret
}

func (b *bundle) get(id string) webhook.Hook {
	b.t.Helper()
	h := testkit.Must(b.webhooks.Get(b.t.Context(), b.mara, id))(b.t)
	return h
}

// attempts waits until the delivery log of a webhook has n entries, and returns them, newest first.
func (b *bundle) attempts(id string, n int) []webhook.Delivery {
	b.t.Helper()
	var list []webhook.Delivery
	testkit.Eventually(b.t, 30*time.Second, func() bool {
		var err error
		if list, err = b.webhooks.Deliveries(b.t.Context(), b.mara, id, 0, 200); err != nil {
			b.t.Error(err)
			return true
		}
		return len(list) >= n
	})
	return list
}

// frame is one event of a request, as a receiver parses it.
type frame struct {
	Op, Channel, Type string
	Seq, From, Oldest int64
	Prev              *int64
	Data              map[string]any
}

// post is one request that a receiver has received.
type post struct {
	WebhookID, DeliveryID string
	Attempt               int
	Events                []frame
	signature, header     string
	body                  []byte
}

func (p *post) seqs() []int64 {
	var out []int64
	for _, e := range p.Events {
		out = append(out, e.Seq)
	}
	return out
}

// receiver is an HTTP endpoint that stores requests and answers them with a given status.
type receiver struct {
	t      *testing.T
	url    string
	mu     sync.Mutex
	status int
	posts  []post
	answer func(w http.ResponseWriter, r *http.Request) // if set, answers in place of status
}

func newReceiver(t *testing.T) *receiver {
	r := &receiver{t: t, status: 200}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		p := post{signature: q.Header.Get("Signalcast-Signature"), header: q.Header.Get("Signalcast-Delivery")}
		var err error
		if p.body, err = io.ReadAll(q.Body); err == nil {
			err = json.Unmarshal(p.body, &p)
		}
		if err != nil || q.Method != http.MethodPost || q.Header.Get("User-Agent") != "signalcast-webhook" || q.Header.Get("Content-Type") != "application/json" || p.header != p.DeliveryID {
			t.Errorf("%s %v: %s %v", q.Method, q.Header, p.body, err)
		}
		r.mu.Lock()
		r.posts = append(r.posts, p)
		status, answer := r.status, r.answer
		r.mu.Unlock()
		if answer != nil {
			answer(w, q)
			return
		}
		w.WriteHeader(status)
	}))
	t.Cleanup(s.Close)
	r.url = s.URL + "/hook?x=1"
	return r
}

func (r *receiver) setStatus(status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status = status
}

func (r *receiver) received() []post {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.posts)
}

// waitFor waits until the receiver has n requests, and returns all of them.
func (r *receiver) waitFor(n int) []post {
	r.t.Helper()
	testkit.Eventually(r.t, 30*time.Second, func() bool { return len(r.received()) >= n })
	return r.received()
}

// verify checks the signature of a request as docs/protocol/webhooks.md describes it.
func verify(p *post, secret string, now time.Time) error {
	parts := strings.Split(p.signature, ",")
	stamp, ok := strings.CutPrefix(parts[0], "t=")
	if !ok {
		return fmt.Errorf("no time in %q", p.signature)
	}
	var at int64
	if _, err := fmt.Sscan(stamp, &at); err != nil || now.Sub(time.Unix(at, 0)).Abs() > 5*time.Minute {
		return fmt.Errorf("time %s at %s", stamp, now)
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(stamp + "."))
	mac.Write(p.body)
	for _, part := range parts[1:] {
		given, _ := strings.CutPrefix(part, "v1=")
		if raw, err := hex.DecodeString(given); err == nil && hmac.Equal(raw, mac.Sum(nil)) {
			return nil
		}
	}
	return fmt.Errorf("no valid signature in %q", p.signature)
}
