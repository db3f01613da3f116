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

// midday is the initial time of the test clock.
var midday = time.Date(2026, 9, 18, 12, 0, 0, 0, time.UTC)

// ledger is a fake of the ledger. It applies each message once and returns the same result for repetitions.
type ledger struct {
	mu     sync.Mutex
	done   map[message.ID]int // number of the effect by message
	asked  int
	refuse error // error of every new effect
	away   error // error of every call; with reach the effect is applied nevertheless
	reach  bool
}

func (l *ledger) Apply(_ context.Context, a message.Action) (message.Result, error) {
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

var errUnavailable = apperr.New(apperr.Unavailable, "signal_service_unavailable", "unavailable")

// desk is a message service with a database of its own.
type desk struct {
	*message.Service
	db     testkit.Database
	store  *postgres.Store
	clock  *testkit.Clock
	ledger *ledger
	keys   string
}

// shownText is a fake of the moderation service that hides no text.
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

// serve restarts the service with the current hub keys.
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

// count returns the number of rows of a table.
func (d *desk) count(t *testing.T, table string) int {
	t.Helper()
	var n int
	if err := testkit.Pool(t, d.db.URL("hub_rw")).QueryRow(t.Context(), "SELECT count(*) FROM "+table).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// signingClient is a client with a signing key.
type signingClient struct {
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

func newClient(name, denpaID string) signingClient {
	seed := sha256.Sum256([]byte(name))
	return signingClient{ed25519.NewKeyFromSeed(seed[:]), message.Owner{DenpaID: denpaID, Scopes: everything}}
}

func (p signingClient) key() string {
	return hex.EncodeToString(p.private.Public().(ed25519.PublicKey))
}

// ask requests a challenge and returns a signed registration after the change by edit.
func (p signingClient) ask(t *testing.T, d *desk, edit func(*message.SignerDraft)) message.SignerDraft {
	t.Helper()
	challenge, _, err := d.Challenge(t.Context(), p.owner, p.key())
	if err != nil {
		t.Fatal(err)
	}
	out := message.SignerDraft{PublicKey: p.key(), Scopes: p.owner.Scopes, Label: "signingClient", Challenge: challenge}
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

// register registers the key as a signer.
func (p signingClient) register(t *testing.T, d *desk) message.Signer {
	t.Helper()
	s, err := d.RegisterSigner(t.Context(), p.owner, p.ask(t, d, nil))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var nonces atomic.Int64

func nonce() string { return "nonce-of-the-test-" + strconv.FormatInt(nonces.Add(1), 10) }

// call returns a signed call with a new nonce after the change by edit.
func (p signingClient) call(t *testing.T, at time.Time, edit func(m map[string]any)) []byte {
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

// why returns the code and the reason of an error as text.
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

// retryBusy repeats do, like a client, while the database exceeds its time limit. Fifty concurrent requests can overload a small
// test machine.
func retryBusy(do func() error) (attempts int, err error) {
	for end := time.Now().Add(30 * time.Second); ; {
		attempts++
		if err = do(); !errors.Is(err, pg.ErrUnavailable) || time.Now().After(end) {
			return attempts, err
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
func newSignedDesk(t *testing.T) (*desk, signingClient) {
	t.Helper()
	d, p := newDesk(t), newClient("alice", alice)
	p.register(t, d)
	return d, p
}

// refuses returns a function that checks the error of a call with two results. The error must be want.
func refuses(t *testing.T, want string) func(any, error) {
	t.Helper()
	return func(_ any, err error) { t.Helper(); must(t, err, want) }
}
