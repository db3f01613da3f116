package caller

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/testkit"
	operatorv1 "github.com/signalcast/signalcast/proto/operator/v1"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

func TestMain(m *testing.M) { testkit.Main(m) }

var noon = time.Date(2026, 9, 18, 12, 0, 0, 0, time.UTC)

const (
	secretA = "first-signing-secret-0123456789abcdef"
	secretB = "older-signing-secret-0123456789abcdef"
	adminA  = "admin-0123456789-0123456789-0123456789"
	cronA   = "cron-9876543210-9876543210-9876543210x"
)

func keyText(n byte) string {
	raw := make([]byte, 32)
	for i := range raw {
		raw[i] = n + byte(i)
	}
	return protocol.KeyPrefix + base64.RawURLEncoding.EncodeToString(raw)
}

// world is a fake of the ledger and of the identity provider. It counts calls.
type world struct {
	operatorv1.OperatorReadServiceClient
	mu      sync.Mutex
	keys    map[KeyHash]bool // true: active
	ops     map[operator.ID]operator.Operator
	away    error
	asked   int
	counted []string // names of limits
	now     time.Time
}

func (w *world) VerifyKey(_ context.Context, q *operatorv1.VerifyKeyRequest, _ ...grpc.CallOption) (*operatorv1.VerifyKeyResponse, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked++
	if w.away != nil {
		return nil, w.away
	}
	if !w.keys[KeyHash(q.GetKeyHash())] {
		return nil, ErrUnauthenticated
	}
	return &operatorv1.VerifyKeyResponse{Operator: &operatorv1.Operator{Id: "op"}, Key: &operatorv1.Key{Permissions: []string{"read"}}}, nil
}

func (w *world) GetOperator(_ context.Context, q *operatorv1.GetOperatorRequest, _ ...grpc.CallOption) (*operatorv1.GetOperatorResponse, error) {
	if w.away != nil {
		return nil, w.away
	}
	op, ok := w.ops[operator.ID(q.GetId())]
	if !ok {
		return nil, operator.ErrUnknown
	}
	return &operatorv1.GetOperatorResponse{Operator: &operatorv1.Operator{Id: q.GetId(), SessionVersion: op.SessionVersion}}, nil
}

func (w *world) Verify(_ context.Context, raw string) (operator.Identity, error) {
	if raw == "good.jwt.sig" {
		return operator.Identity{Issuer: "iss", Subject: "sub"}, nil
	}
	return operator.Identity{}, ErrUnauthenticated
}

// counters returns a configuration of counters without Redis that uses the clock of the fake. Each check records the name of its
// limit.
func (w *world) counters(t testing.TB) Counters {
	return Counters{Redis: testkit.KV(t, "redis://127.0.0.1:1"), Replicas: 1, Now: w.Now, OnFallback: func(name string) func() {
		return func() {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.counted = append(w.counted, name)
		}
	}}
}

func (w *world) Now() time.Time { return w.now }

func newWorld(t testing.TB) (*world, *Service, *Sessions) {
	w := &world{
		keys: map[KeyHash]bool{}, ops: map[operator.ID]operator.Operator{"u1": {ID: "u1", SessionVersion: 3}},
		now: noon,
	}
	sessions := NewSessions([]string{secretA, secretB}, &storedSessions{}, false, w.Now)
	return w, New(Deps{
		Sessions: sessions, Logins: w, Directory: operator.Directory{Ledger: w}, Limits: NewLimits(w.counters(t)), Failures: NewFailures(w.counters(t), "secret"),
		Admin: protocol.NewSecret(adminA), Cron: protocol.NewSecret(cronA), Now: w.Now,
	}), sessions
}

func hashOf(t *testing.T, text string) KeyHash {
	t.Helper()
	b, err := parseBearer([]string{"Bearer " + text})
	if err != nil {
		t.Fatal(err)
	}
	return b.hash
}

func TestKeyHashVector(t *testing.T) {
	t.Parallel()
	const text = "dk_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"
	if text != keyText(0) {
		t.Fatalf("bytes 0..31 spell %s", keyText(0))
	}
	h := hashOf(t, text)
	if got := hex.EncodeToString(h[:]); got != "bf059144f3f0f782f4ea84903eec10746433ef53da56b1a989763f988b13007b" {
		t.Errorf("hash is %s", got)
	}
}

func TestBearerForms(t *testing.T) {
	t.Parallel()
	key := strings.TrimPrefix(keyText(7), protocol.KeyPrefix)
	for value, want := range map[string]Kind{
		"Bearer dk_" + key:      Key,
		"bearer dk_" + key:      Key,
		"Bearer db_live_" + key: Key,
		"Bearer dat_" + key:     Token,
		"Bearer a.b.c":          Login,
	} {
		if b, err := parseBearer([]string{value}); err != nil || b.kind != want {
			t.Errorf("%s: kind %d, error %v", value, b.kind, err)
		}
	}
	for _, value := range []string{
		"", "Bearer", "Bearer ", "Bearer  dk_" + key, "Basic dXNlcjpwdw==", "dk_" + key,
		"Bearer dk_" + key[1:], "Bearer dk_" + key + "A", "Bearer dk_" + key[:42] + "=", "Bearer dk_" + key + " x",
		"Bearer DK_" + key, "Bearer sk_" + key, "Bearer a.b", "Bearer a..c", "Bearer a.b.c.d", "Bearer dat_", "Bearer dat_abc", "Bearer drt_" + key,
		"Bearer a.b." + strings.Repeat("c", 8<<10),
	} {
		if b, err := parseBearer([]string{value}); err == nil {
			t.Errorf("%.60q is accepted as kind %d", value, b.kind)
		}
	}
	if _, err := parseBearer([]string{"Bearer dk_" + key, "Bearer dk_" + key}); err == nil {
		t.Error("two credentials are accepted")
	}
}

func TestKeyIsCountedWhereItIsVerified(t *testing.T) {
	t.Parallel()
	w, s, _ := newWorld(t)
	good, random := keyText(1), keyText(2)
	w.keys[hashOf(t, good)] = true
	ask := func(text string, inCall bool) error {
		_, _, err := s.Resolve(t.Context(), Request{Accept: AcceptKey, InCall: inCall, Authorization: []string{"Bearer " + text}})
		return err
	}
	for range 3 {
		if err := ask(random, true); !errors.Is(err, ErrUnauthenticated) {
			t.Fatal(err)
		}
	}
	if len(w.counted) != 0 || w.asked != 1 {
		t.Errorf("a random key: counted %d times, looked up %d times; want 0 and 1", len(w.counted), w.asked)
	}
	w.asked = 0
	accepted := 0
	for range 100 {
		if ask(good, true) == nil {
			accepted++
		}
	}
	if accepted != KeyLimit || w.asked != 1 {
		t.Errorf("with InCall: %d accepted with %d look-ups; want %d and 1", accepted, w.asked, KeyLimit)
	}
}

func TestRevokedKeyIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	w, s, _ := newWorld(t)
	text := keyText(3)
	hash := hashOf(t, text)
	w.keys[hash] = true
	r := Request{Accept: AcceptKey, Authorization: []string{"Bearer " + text}}
	if _, _, err := s.Resolve(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	w.keys[hash] = false
	if _, _, err := s.Resolve(t.Context(), r); !errors.Is(err, ErrUnauthenticated) {
		t.Errorf("revoked key: %v", err)
	}
	counted := len(w.counted)
	if _, _, err := s.Resolve(t.Context(), r); !errors.Is(err, ErrUnauthenticated) || len(w.counted) != counted {
		t.Errorf("refused key was counted again: %v", err)
	}
	// The write call to the ledger may be the first to detect a revoked key.
	text = keyText(4)
	w.keys[hashOf(t, text)] = true
	r = Request{Accept: AcceptKey, InCall: true, Authorization: []string{"Bearer " + text}}
	c, _, err := s.Resolve(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Refused(t.Context(), c, ErrUnauthenticated); !errors.Is(err, ErrUnauthenticated) {
		t.Errorf("refused key: %v", err)
	}
	asked := w.asked
	if _, _, err := s.Resolve(t.Context(), r); !errors.Is(err, ErrUnauthenticated) || w.asked != asked {
		t.Errorf("after the ledger refused the key in a write: %v", err)
	}
}

// TestKnown checks that Known recognizes only keys and sessions that were accepted before and have not been refused since.
func TestKnown(t *testing.T) {
	t.Parallel()
	w, s, sessions := newWorld(t)
	seen, unseen, gone := "Bearer "+keyText(1), "Bearer "+keyText(2), "Bearer "+keyText(3)
	for _, key := range []string{seen, unseen, gone} {
		w.keys[hashOf(t, key[7:])] = true
	}
	for _, key := range []string{seen, gone} {
		if _, _, err := s.Resolve(t.Context(), Request{Accept: AcceptKey, Authorization: []string{key}}); err != nil {
			t.Fatal(err)
		}
	}
	_ = s.Refused(t.Context(), Caller{Kind: Key, KeyHash: hashOf(t, gone[7:])}, ErrUnauthenticated)
	uid, sig := start(t, sessions, "u1", 3)
	asked := w.asked
	for name, c := range map[string]struct {
		r    Request
		want Kind
	}{
		"nothing":                        {Request{}, Anonymous},
		"a key seen before":              {Request{Authorization: []string{seen}}, Key},
		"a valid key not seen":           {Request{Authorization: []string{unseen}}, Anonymous},
		"a key refused since":            {Request{Authorization: []string{gone}}, Anonymous},
		"one twice":                      {Request{Authorization: []string{seen, seen}}, Anonymous},
		"an empty header":                {Request{Authorization: []string{""}}, Anonymous},
		"a login":                        {Request{Authorization: []string{"Bearer good.jwt.sig"}}, Anonymous},
		"a session":                      {Request{UID: uid, Sig: sig}, Session},
		"half of a session":              {Request{UID: uid}, Anonymous},
		"another signature":              {Request{UID: uid, Sig: uid}, Anonymous},
		"a session and a new key":        {Request{Authorization: []string{unseen}, UID: uid, Sig: sig}, Anonymous},
		"a session and the admin secret": {Request{AdminSecret: []string{adminA}, UID: uid, Sig: sig}, Anonymous},
		"a key and the cron secret":      {Request{CronSecret: []string{cronA}, Authorization: []string{seen}}, Anonymous},
	} {
		if got := s.Known(c.r); got != c.want {
			t.Errorf("%s: kind %d, want %d", name, got, c.want)
		}
	}
	if w.asked != asked {
		t.Errorf("Known caused %d look-ups, want 0", w.asked-asked)
	}
	w.now = w.now.Add(maxSessionAge + time.Second)
	if got := s.Known(Request{UID: uid, Sig: sig}); got != Anonymous {
		t.Errorf("an old session: kind %d", got)
	}
}

func TestRefusalExpires(t *testing.T) {
	t.Parallel()
	w, s, _ := newWorld(t)
	text := keyText(5)
	r := Request{Accept: AcceptKey, Authorization: []string{"Bearer " + text}}
	_, _, _ = s.Resolve(t.Context(), r)
	w.keys[hashOf(t, text)] = true
	if _, _, err := s.Resolve(t.Context(), r); err == nil {
		t.Error("a refusal was not cached")
	}
	w.now = w.now.Add(refusalLife)
	if _, _, err := s.Resolve(t.Context(), r); err != nil {
		t.Errorf("a refusal was cached too long: %v", err)
	}
}

func TestUnavailableLedgerIsNotARefusal(t *testing.T) {
	t.Parallel()
	w, s, sessions := newWorld(t)
	w.away = apperr.New(apperr.Unavailable, "signal_service_unavailable", "")
	text := keyText(6)
	w.keys[hashOf(t, text)] = true
	r := Request{Accept: AcceptKey, Authorization: []string{"Bearer " + text}}
	if _, _, err := s.Resolve(t.Context(), r); !errors.Is(err, w.away) {
		t.Errorf("key: %v", err)
	}
	uid, sig := start(t, sessions, "u1", 3)
	if _, _, err := s.Resolve(t.Context(), Request{Accept: AcceptSession, UID: uid, Sig: sig}); !errors.Is(err, w.away) {
		t.Errorf("session: %v", err)
	}
	if c, _, err := s.Resolve(t.Context(), Request{Accept: AcceptNone | AcceptSession, UID: uid, Sig: sig}); err != nil || c.Kind != Anonymous {
		t.Errorf("session on a public read: %v", err)
	}
	w.away = nil
	if _, _, err := s.Resolve(t.Context(), r); err != nil {
		t.Errorf("after the ledger recovered: %v", err)
	}
}

func TestGenerationsStayBounded(t *testing.T) {
	t.Parallel()
	h := newGenerations[KeyHash, time.Time](maxKnown)
	for i := range 3 * maxKnown {
		h.put(KeyHash{byte(i), byte(i >> 8), byte(i >> 16)}, noon)
	}
	if n := len(h.cur) + len(h.old); n > 2*maxKnown {
		t.Errorf("%d entries are cached", n)
	}
}

func TestLogin(t *testing.T) {
	t.Parallel()
	w, s, _ := newWorld(t)
	ask := func(raw string, accept Accepted) (Caller, *RateLimitState, error) {
		return s.Resolve(t.Context(), Request{Accept: accept, Authorization: []string{"Bearer " + raw}})
	}
	if _, _, err := ask("bad.jwt.sig", AcceptLogin); !errors.Is(err, ErrUnauthenticated) || len(w.counted) != 0 {
		t.Errorf("bad token: %v, %d counted", err, len(w.counted))
	}
	if _, _, err := ask("good.jwt.sig", AcceptKey|AcceptSession); !errors.Is(err, ErrUnauthenticated) {
		t.Errorf("a login on a route that accepts none: %v", err)
	}
	for range LoginLimit {
		if c, _, err := ask("good.jwt.sig", AcceptLogin); err != nil || c.Identity.Subject != "sub" {
			t.Fatal(err)
		}
	}
	_, st, err := ask("good.jwt.sig", AcceptLogin)
	if !errors.Is(err, ErrLimited) || st == nil || apperr.Of(err).Extra["retryAfterMs"] != int64(60_000) {
		t.Errorf("beyond the limit: %v", err)
	}
}
