package app

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/config"
	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/api/apitest"
	"github.com/signalcast/signalcast/services/hub/internal/postgres"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// town is the fixture that all hubs of a test share: a ledger, Redis, a database and an identity provider.
type town struct {
	t       *testing.T
	ledger  *apitest.API
	redis   string
	issuer  *issuer
	environ map[string]string
	client  *http.Client
}

func newTown(t *testing.T) *town {
	t.Helper()
	w := &town{
		t: t, ledger: apitest.Start(t, time.Now, postgres.Schema("")), redis: testkit.Redis(t), issuer: newIssuer(t),
	}
	transport := &http.Transport{MaxIdleConnsPerHost: 64, MaxConnsPerHost: 128}
	w.client = &http.Client{Transport: transport, Timeout: 30 * time.Second}
	t.Cleanup(transport.CloseIdleConnections)
	w.ledger.AddMarket(apitest.Market{ID: "701122", Title: "Ostrava", Yes: 3100, YesPrice: 3150, NoPrice: 6900})
	w.environ = map[string]string{
		"ENV": "test", "HTTP_ADDR": "127.0.0.1:0", "METRICS_ADDR": "127.0.0.1:0",
		"DATABASE_URL": w.ledger.Database.URL("hub_rw"), "DB_READ_TIMEOUT": "20s", "REDIS_URL": w.redis, "API_ADDR": w.ledger.Serve("127.0.0.1:0"),
		"LINK_SECRET": apitest.Link, "SESSION_SECRETS": good()["SESSION_SECRETS"], "HUB_KEYS": good()["HUB_KEYS"],
		"SUCCESSOR_SECRETS": good()["SUCCESSOR_SECRETS"],
		"ADMIN_SECRET":      good()["ADMIN_SECRET"], "CRON_SECRET": good()["CRON_SECRET"],
		"HUB_URL": "http://hub.test", "REPLICAS": "2", "RATE_LIMIT_ANON": "0", "DRAIN_WAIT": "0s", "INSTANCE_NONCE": "n-1",
		"IDP_PROVIDERS": fmt.Sprintf(`[{"name":"main","issuer":"privy.io","audience":"app","jwksURL":%q}]`, w.issuer.url),
	}
	return w
}

// hub is a running hub with its log and a function that stops it.
type hub struct {
	*App
	w    *town
	logs *lines
	stop func()
}

func (w *town) hub(changes ...string) *hub {
	w.t.Helper()
	return w.run(w.config(changes...))
}

// config returns the configuration of the fixture with some settings changed. changes are alternating names and values.
func (w *town) config(changes ...string) Config {
	w.t.Helper()
	environ := maps.Clone(w.environ)
	for i := 0; i < len(changes); i += 2 {
		environ[changes[i]] = changes[i+1]
	}
	cfg, err := config.LoadFrom[Config](environ)
	must(w.t, err)
	return cfg
}

func (w *town) run(cfg Config) *hub {
	w.t.Helper()
	h := &hub{w: w, logs: &lines{}}
	var err error
	if h.App, err = New(w.t.Context(), cfg, h.logs, time.Now); err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ran := make(chan error, 1)
	go func() { ran <- h.Run(ctx) }()
	h.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ran; err != nil {
			w.t.Errorf("hub: %v", err)
		}
	})
	w.t.Cleanup(h.stop)
	<-h.Up()
	testkit.Eventually(w.t, 10*time.Second, func() bool {
		status, _, _ := h.do("GET", "/readyz", "")
		return status == http.StatusOK
	})
	return h
}

// do sends a request to the public server of the hub. headers are alternating names and values.
func (h *hub) do(method, path, body string, headers ...string) (status int, head http.Header, text string) {
	h.w.t.Helper()
	r, err := http.NewRequestWithContext(h.w.t.Context(), method, "http://"+h.HTTPAddr()+path, strings.NewReader(body))
	must(h.w.t, err)
	if body != "" && !slices.Contains(headers, "Content-Type") {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	resp, err := h.w.client.Do(r)
	if err != nil {
		h.w.t.Error(err)
		return 0, nil, ""
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		h.w.t.Error(err)
	}
	return resp.StatusCode, resp.Header, string(raw)
}

// must ends the test if err is not nil.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// equal checks that got equals want. about describes the checked value in a failure message.
func equal[T comparable](t *testing.T, got, want T, about ...any) {
	t.Helper()
	if got != want {
		t.Errorf("%v: got %v, want %v", about, got, want)
	}
}

// lines is a log that is safe for concurrent reads and writes.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// issuer is an identity provider that signs tokens and publishes its public key.
type issuer struct {
	key *ecdsa.PrivateKey
	url string
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	point, err := key.PublicKey.Bytes() // 4, x, y
	must(t, err)
	set := fmt.Sprintf(`{"keys":[{"kty":"EC","crv":"P-256","alg":"ES256","use":"sig","kid":"k1","x":%q,"y":%q}]}`,
		b64(point[1:33]), b64(point[33:]))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, set)
	}))
	t.Cleanup(func() {
		server.Close()
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	})
	return &issuer{key: key, url: server.URL}
}

func (i *issuer) token(t *testing.T, subject string) string {
	t.Helper()
	now := time.Now().Unix()
	return i.sign(t, map[string]any{
		"iss": "privy.io", "aud": "app", "sub": subject, "sid": "s1", "iat": now, "exp": now + 3600,
		"preferred_username": strings.TrimPrefix(subject, "did:privy:"),
	})
}

// sign returns a signed token with these claims.
func (i *issuer) sign(t *testing.T, of map[string]any) string {
	t.Helper()
	return i.signWith(t, map[string]any{"alg": "ES256", "typ": "JWT", "kid": "k1"}, of)
}

func (i *issuer) signWith(t *testing.T, header, of map[string]any) string {
	t.Helper()
	head, err := json.Marshal(header)
	must(t, err)
	claims, err := json.Marshal(of)
	must(t, err)
	text := b64(head) + "." + b64(claims)
	sum := sha256.Sum256([]byte(text))
	r, s, err := ecdsa.Sign(rand.Reader, i.key, sum[:])
	must(t, err)
	sig := make([]byte, 64)
	new(big.Int).Set(r).FillBytes(sig[:32])
	new(big.Int).Set(s).FillBytes(sig[32:])
	return text + "." + b64(sig)
}

func b64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }
