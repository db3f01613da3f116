package edge_test

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"testing"
	"time"

	"google.golang.org/grpc"

	"github.com/signalcast/signalcast/pkg/limit"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/hub/internal/creation"
	"github.com/signalcast/signalcast/services/hub/internal/edge"
	"github.com/signalcast/signalcast/services/hub/internal/message"
	"github.com/signalcast/signalcast/services/hub/internal/postgres"
	"github.com/signalcast/signalcast/services/hub/internal/signal"
	"github.com/signalcast/signalcast/services/hub/internal/upstream"
)

const (
	signersPath  = "/api/protocol/v1/signers"
	messagesPath = "/api/protocol/v1/messages"
	hubSeed      = "4f1c9ad27be03658e1d4a7b09c3f62855d0e7a41b8c9f2e6370d5a4b1c8e9f07"
)

// messageStores are the stores of messages: empty until a test gives them a
// database.
type messageStores struct {
	air      *airStore
	messages messageStore
	signers  signerStore
	dues     dueStore
}

type (
	messageStore struct{ message.Messages }
	signerStore  struct{ message.Signers }
	dueStore     struct{ creation.Dues }
)

func (m *messageStore) List(ctx context.Context, q message.Query, after syntax.Cursor) (message.Page, error) {
	if m.Messages == nil {
		return message.Page{}, nil
	}
	return m.Messages.List(ctx, q, after)
}

func (m *signerStore) List(ctx context.Context, denpaID string) ([]message.Signer, error) {
	if m.Signers == nil {
		return nil, nil
	}
	return m.Signers.List(ctx, denpaID)
}

func (m *signerStore) RevokeOfKey(ctx context.Context, keyID string, now time.Time) ([]string, error) {
	if m.Signers == nil {
		return nil, nil
	}
	return m.Signers.RevokeOfKey(ctx, keyID, now)
}

func (m *messageStore) Attest(ctx context.Context, r message.Record) (message.Record, error) {
	if m.Messages == nil {
		return r, nil
	}
	return m.Messages.Attest(ctx, r)
}

func (d *dueStore) AddDue(ctx context.Context, due creation.Due) error {
	if d.Dues == nil {
		return nil
	}
	return d.Dues.AddDue(ctx, due)
}

func (d *dueStore) DropDue(ctx context.Context, subject string) error {
	if d.Dues == nil {
		return nil
	}
	return d.Dues.DropDue(ctx, subject)
}

// keyLimit is exact within this process.
type keyLimit struct{ *limit.Local }

func (l keyLimit) Allow(_ context.Context, key string) limit.Decision { return l.Local.Allow(key) }

// wireMessages builds what signed messages need.
func wireMessages(t testing.TB, d *edge.Deps, conn grpc.ClientConnInterface) *messageStores {
	t.Helper()
	keys, err := message.ParseHubKeys(`[{"seed":"` + hubSeed + `","notBefore":"2026-01-01T00:00:00Z"}]`)
	if err != nil {
		t.Fatal(err)
	}
	stores := &messageStores{}
	filer := signal.NewService(d.Ledger, d.NewID)
	d.Messages = message.NewService(message.Config{
		Issuer: issuer, Now: d.Now, NewID: d.NewID, Keys: keys, Messages: &stores.messages, Signers: &stores.signers, OperatorKeys: upstream.NewOperators(conn), Moderation: d.Ledger.Moderation,
		Effects: &creation.Effects{
			Ledger: d.Ledger, Filer: filer, Profiles: upstream.NewOperators(conn),
			Air: d.OnAir, People: upstream.NewOperators(conn), Videos: []string{"video.example"},
		},
	})
	d.Creations = creation.NewService(creation.Config{
		Issuer: issuer, Now: d.Now, NewID: d.NewID, Ledger: d.Ledger, Filer: filer,
		Attester: d.Messages, Dues: &stores.dues,
	})
	d.Keys = keyLimit{limit.NewLocal("message", edge.MessageLimit, time.Minute, d.Now)}
	return stores
}

// withMessages is a front door whose messages and sign-in are kept in Postgres.
func withMessages(t testing.TB, options ...option) (*bench, testkit.Database) {
	t.Helper()
	b, db := withDatabase(t, options...)
	store := postgres.New(testkit.Pool(t, db.URL("hub_rw")))
	b.stores.messages.Messages, b.stores.signers.Signers, b.stores.dues.Dues = store.Messages(), store.Signers(), store
	b.stores.air.Store = store.OnAir()
	return b, db
}

// pen is a key that signs, and for whom.
type pen struct {
	b       *bench
	private ed25519.PrivateKey
	denpaID string
	appID   any // nil: the passport's own
	n       int
}

// newPen makes a key that nobody knows yet.
func (b *bench) newPen(name string) *pen {
	seed := sha256.Sum256([]byte(name))
	return &pen{b: b, private: ed25519.NewKeyFromSeed(seed[:]), denpaID: b.mara.GetId()}
}

func (p *pen) key() string { return hex.EncodeToString(p.private[32:]) }

// challenge asks for one.
func (p *pen) challenge(by header) string {
	p.b.t.Helper()
	w := p.b.send("POST", signersPath+"/challenge", object("publicKey", p.key()), by)
	want(p.b.t, w, 200, "")
	return field(w, "challenge")
}

// registration is a good request for a signer; the proof is made over proved.
func (p *pen) registration(challenge string, scopes ...string) string {
	p.b.t.Helper()
	owner := message.Owner{DenpaID: p.denpaID}
	if id, ok := p.appID.(string); ok {
		owner.AppID = id
	}
	expires := syntax.Stamp(p.b.clock.Now().Add(30 * 24 * time.Hour))
	proved, err := message.SignerProof(issuer, owner, message.SignerDraft{PublicKey: p.key(), Scopes: scopes, Challenge: challenge, ExpiresAt: expires})
	if err != nil {
		p.b.t.Fatal(err)
	}
	return object("publicKey", p.key(), "scopes", scopes, "label", "bot", "expiresAt", expires, "challenge", challenge, "proof", hex.EncodeToString(ed25519.Sign(p.private, proved)))
}

// register makes the key a signer.
func (p *pen) register(by header, scopes ...string) *httptest.ResponseRecorder {
	p.b.t.Helper()
	return p.b.send("POST", signersPath, p.registration(p.challenge(by), scopes...), by)
}

// signer is a registered pen of mara's own.
func (b *bench) signer(name string, scopes ...string) *pen {
	b.t.Helper()
	p := b.newPen(name)
	want(b.t, p.register(b.byKey(), scopes...), 201, "")
	return p
}

// object writes a JSON object of names and values.
func object(pairs ...any) string {
	m := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i].(string)] = pairs[i+1]
	}
	raw, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// unsigned is a message of now with a nonce of its own.
func (p *pen) unsigned(kind string, payload map[string]any) map[string]any {
	p.n++
	return map[string]any{
		"version": 1, "type": kind, "denpaId": p.denpaID, "appId": p.appID, "timestamp": p.b.clock.Now().UnixMilli(),
		"nonce": fmt.Sprintf("nonce-of-a-test-%06d", p.n), "payload": payload,
		"signer": map[string]any{"kind": "ed25519", "publicKey": p.key()},
	}
}

// sign signs a message for an issuer with a prefix.
func (p *pen) sign(m map[string]any, prefix, issuer string) string {
	p.b.t.Helper()
	raw, err := json.Marshal(m)
	if err != nil {
		p.b.t.Fatal(err)
	}
	canonical, err := message.Canonical(raw)
	if err != nil {
		p.b.t.Fatal(err)
	}
	m["signature"] = hex.EncodeToString(ed25519.Sign(p.private, []byte(prefix+"\n"+issuer+"\n"+string(canonical))))
	raw, _ = json.Marshal(m)
	delete(m, "signature")
	return string(raw)
}

// write is a good message.
func (p *pen) write(kind string, payload map[string]any) string {
	p.b.t.Helper()
	return p.sign(p.unsigned(kind, payload), message.MessagePrefix, issuer)
}

func call(market string) map[string]any {
	return map[string]any{"marketId": market, "position": "YES", "priceBps": 3150}
}

// reason is the extra member that tells kinds of one code apart.
func reason(t testing.TB, w *httptest.ResponseRecorder, status int, code, why string) {
	t.Helper()
	if want(t, w, status, code); field(w, "reason") != why {
		t.Errorf("reason %q, want %q: %s", field(w, "reason"), why, w.Body)
	}
}

// count runs a query that answers one number, as the administrator.
func count(t testing.TB, db testkit.Database, sql string) (n int) {
	t.Helper()
	if err := testkit.Pool(t, db.Admin).QueryRow(t.Context(), sql).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
