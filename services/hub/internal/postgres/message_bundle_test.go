package postgres_test

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/gowebpki/jcs"
	"google.golang.org/grpc"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/testkit"
	moderationv1 "github.com/signalcast/signalcast/proto/moderation/v1"
	"github.com/signalcast/signalcast/services/hub/internal/message"
	"github.com/signalcast/signalcast/services/hub/internal/postgres"
)

const (
	issuer = "https://hub.example/api/protocol/v1"
	alice  = "0199f0a4-7c3e-7d11-9a55-3f2f6c1f0b21"
	bob    = "0199f0a4-7c3e-7d11-9a55-3f2f6c1f0b22"
)

// midday is the time at which the tests start.
var midday = time.Date(2026, 9, 18, 12, 0, 0, 0, time.UTC)

// ledger stands in for what messages do: once for an id, and the same again.
type ledger struct {
	mu     sync.Mutex
	done   map[message.ID]int // the number of the act
	asked  int
	refuse error // every new act
	away   error // every answer; what was asked is done all the same when reach is set
	reach  bool
}

func (l *ledger) Apply(_ context.Context, a message.Act) (message.Result, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked++
	n, done := l.done[a.ID]
	switch {
	case l.away != nil && !l.reach:
		return nil, l.away
	case !done && l.refuse != nil:
		return nil, l.refuse
	case !done:
		n = len(l.done) + 1
		l.done[a.ID] = n
	}
	if l.away != nil {
		return nil, l.away
	}
	return message.Result{"signalId": "s" + strconv.Itoa(n)}, nil
}

func (l *ledger) set(refuse, away error, reach bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refuse, l.away, l.reach = refuse, away, reach
}

func (l *ledger) acts() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.done)
}

var errAway = apperr.New(apperr.Unavailable, "signal_service_unavailable", "away")

// desk is one test's own service of messages.
type desk struct {
	*message.Service
	db     testkit.Database
	store  *postgres.Store
	clock  *testkit.Clock
	ledger *ledger
	keys   string
}

// shownText hides no text.
type shownText struct {
	moderationv1.ModerationServiceClient
}

func (shownText) Hidden(
	_ context.Context, r *moderationv1.HiddenRequest, _ ...grpc.CallOption,
) (*moderationv1.HiddenResponse, error) {
	return &moderationv1.HiddenResponse{Hidden: make([]bool, len(r.GetThings()))}, nil
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	db := testkit.Postgres(t, postgres.Schema(""))
	d := &desk{
		db: db, store: postgres.New(testkit.Pool(t, db.URL("hub_rw")), testkit.ReadTime), clock: testkit.NewClock(midday),
		ledger: &ledger{done: map[message.ID]int{}},
		keys:   `[{"seed":"` + strings.Repeat("01", 32) + `","notBefore":"2026-01-01T00:00:00Z"}]`,
	}
	d.serve(t)
	return d
}

// serve starts over with the hub keys of the setting.
func (d *desk) serve(t *testing.T) {
	t.Helper()
	keys, err := message.ParseHubKeys(d.keys)
	if err != nil {
		t.Fatal(err)
	}
	d.Service = message.NewService(message.Config{
		Issuer: issuer, Now: d.clock.Now, NewID: func() string { return uuid.Must(uuid.NewV7()).String() },
		Keys: keys, Store: d.store, Apply: d.ledger.Apply, Moderation: shownText{},
	})
}

// count asks the database.
func (d *desk) count(t *testing.T, table string) int {
	t.Helper()
	var n int
	if err := testkit.Pool(t, d.db.URL("hub_rw")).QueryRow(t.Context(), "SELECT count(*) FROM "+table).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// pen is a client with a key.
type pen struct {
	private ed25519.PrivateKey
	owner   message.Owner
}

var everything = func() []string {
	var out []string
	for _, t := range message.Types {
		out = append(out, t.Scope())
	}
	return out
}()

func newPen(name, denpaID string) pen {
	seed := sha256.Sum256([]byte(name))
	return pen{ed25519.NewKeyFromSeed(seed[:]), message.Owner{DenpaID: denpaID, Scopes: everything}}
}

func (p pen) key() string { return hex.EncodeToString(p.private.Public().(ed25519.PublicKey)) }

// ask gets a challenge and signs what is to be registered.
func (p pen) ask(t *testing.T, d *desk, edit func(*message.SignerDraft)) message.SignerDraft {
	t.Helper()
	challenge, _, err := d.Challenge(t.Context(), p.owner, p.key())
	if err != nil {
		t.Fatal(err)
	}
	out := message.SignerDraft{PublicKey: p.key(), Scopes: p.owner.Scopes, Label: "pen", Challenge: challenge}
	if edit != nil {
		edit(&out)
	}
	proof, err := message.SignerProof(issuer, p.owner, out)
	if err != nil {
		t.Fatal(err)
	}
	out.Proof = hex.EncodeToString(ed25519.Sign(p.private, proof))
	return out
}

// register makes the key a signer.
func (p pen) register(t *testing.T, d *desk) message.Signer {
	t.Helper()
	s, err := d.RegisterSigner(t.Context(), p.owner, p.ask(t, d, nil))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var nonces atomic.Int64

func nonce() string { return "nonce-of-the-test-" + strconv.FormatInt(nonces.Add(1), 10) }

// call signs a call with a nonce of its own.
func (p pen) call(t *testing.T, at time.Time, edit func(m map[string]any)) []byte {
	t.Helper()
	m := map[string]any{
		"version": 1, "type": "signal.create", "denpaId": p.owner.DenpaID, "appId": nil, "timestamp": at.UnixMilli(), "nonce": nonce(),
		"payload": map[string]any{"marketId": "701122", "position": "NO"},
		"signer":  map[string]any{"kind": "ed25519", "publicKey": p.key()},
	}
	if p.owner.AppID != "" {
		m["appId"] = p.owner.AppID
	}
	if edit != nil {
		edit(m)
	}
	raw, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	canonical, err := jcs.Transform(raw)
	if err != nil {
		t.Fatal(err)
	}
	m["signature"] = hex.EncodeToString(ed25519.Sign(p.private, []byte("denpa-message-v1\n"+issuer+"\n"+string(canonical))))
	if raw, err = json.Marshal(m); err != nil {
		t.Fatal(err)
	}
	return raw
}

// why gives code and reason of a fault.
func why(err error) string {
	var f *apperr.Fault
	switch {
	case err == nil:
		return ""
	case !errors.As(err, &f):
		return err.Error()
	}
	if reason, ok := f.Extra["reason"].(string); ok {
		return f.Code + " " + reason
	}
	return f.Code
}

// patient asks again while the database is too slow for its budget, as a client
// would: fifty requests at once on a small machine are.
func patient(do func() error) (asks int, err error) {
	for end := time.Now().Add(30 * time.Second); ; {
		asks++
		if err = do(); !errors.Is(err, pg.ErrUnavailable) || time.Now().After(end) {
			return asks, err
		}
	}
}

func must(t *testing.T, err error, want string) {
	t.Helper()
	if why(err) != want {
		t.Errorf("%q, want %q", why(err), want)
	}
}

// newSignedDesk returns a desk and a signer of alice.
func newSignedDesk(t *testing.T) (*desk, pen) {
	t.Helper()
	d, p := newDesk(t), newPen("alice", alice)
	p.register(t, d)
	return d, p
}

// refuses returns a check of the fault of a function that returns a value and an error.
func refuses(t *testing.T, want string) func(any, error) {
	t.Helper()
	return func(_ any, err error) { t.Helper(); must(t, err, want) }
}
