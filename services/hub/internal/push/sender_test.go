package push

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"

	"github.com/signalcast/signalcast/pkg/protocol"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	"github.com/signalcast/signalcast/services/hub/internal/notification"
)

var base64url = base64.RawURLEncoding

// browser is a receiver of messages: the keys of a subscription, and a push service that answers with a status.
type browser struct {
	*httptest.Server
	key  *ecdh.PrivateKey
	auth []byte

	mu       sync.Mutex
	status   int
	received []*http.Request
	bodies   [][]byte
}

func newBrowser(t *testing.T) *browser {
	t.Helper()
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	b := &browser{key: key, auth: []byte("sixteen bytes ok"), status: http.StatusCreated}
	b.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		b.mu.Lock()
		defer b.mu.Unlock()
		b.received, b.bodies = append(b.received, r), append(b.bodies, body)
		w.WriteHeader(b.status)
	}))
	t.Cleanup(b.Close)
	return b
}

func (b *browser) subscription() string {
	return fmt.Sprintf(`{"endpoint":%q,"expirationTime":null,"keys":{"p256dh":%q,"auth":%q}}`,
		b.URL+"/send/1", base64url.EncodeToString(b.key.PublicKey().Bytes()), base64url.EncodeToString(b.auth))
}

// decrypt returns the text of a message (RFC 8188, RFC 8291).
func (b *browser) decrypt(t *testing.T, body []byte) string {
	t.Helper()
	salt, size, n := body[:16], binary.BigEndian.Uint32(body[16:20]), int(body[20])
	sender, err := ecdh.P256().NewPublicKey(body[21 : 21+n])
	if err != nil || size != 4096 || len(body) > 4096 {
		t.Fatalf("record size %d, message of %d bytes, error %v", size, len(body), err)
	}
	secret, err := b.key.ECDH(sender)
	if err != nil {
		t.Fatal(err)
	}
	derive := func(secret, salt []byte, info string, size int) []byte {
		out, err := hkdf.Key(sha256.New, secret, salt, info, size)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	ikm := derive(secret, b.auth, "WebPush: info\x00"+string(b.key.PublicKey().Bytes())+string(sender.Bytes()), 32)
	block, err := aes.NewCipher(derive(ikm, salt, "Content-Encoding: aes128gcm\x00", 16))
	if err != nil {
		t.Fatal(err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := aead.Open(nil, derive(ikm, salt, "Content-Encoding: nonce\x00", 12), body[21+n:], nil)
	if err != nil {
		t.Fatal(err)
	}
	text, padding, last := strings.Cut(string(plain), "\x02")
	if !last || strings.Trim(padding, "\x00") != "" {
		t.Error("the last record is not delimited")
	}
	return text
}

// requireSigned checks the header Authorization of a message (RFC 8292).
func requireSigned(t *testing.T, r *http.Request, audience, key string) {
	t.Helper()
	token, public, _ := strings.Cut(strings.TrimPrefix(r.Header.Get("Authorization"), "vapid t="), ", k=")
	parts := strings.Split(token, ".")
	raw, err := base64url.DecodeString(public)
	if err != nil || public != key || len(parts) != 3 {
		t.Fatalf("Authorization %q, error %v", r.Header.Get("Authorization"), err)
	}
	signer, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), raw)
	if err != nil {
		t.Fatal(err)
	}
	signature, _ := base64url.DecodeString(parts[2])
	hash := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	if len(signature) != 64 || !ecdsa.Verify(signer, hash[:], new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:])) {
		t.Error("the signature is invalid")
	}
	var claims struct {
		Aud, Sub string
		Exp      int64
	}
	text, _ := base64url.DecodeString(parts[1])
	if err := json.Unmarshal(text, &claims); err != nil || claims.Aud != audience || claims.Sub != "mailto:desk@hub.example" ||
		time.Until(time.Unix(claims.Exp, 0)) > 24*time.Hour {
		t.Errorf("claims %s, error %v", text, err)
	}
}

// queue is a fake of the store: one message and what happened to it.
type queue struct {
	message notification.Message
	done    string
}

func (q *queue) ListPush(context.Context, time.Time, time.Time, int) ([]notification.Message, error) {
	return []notification.Message{q.message}, nil
}

func (q *queue) DeletePush(context.Context, notification.Message) error {
	q.done = "deleted"
	return nil
}

func (q *queue) EndPush(context.Context, notification.Message) error { q.done = "ended"; return nil }

func (q *queue) DelayPush(_ context.Context, _ notification.Message, due time.Time) error {
	q.done = "delayed " + due.Sub(noon).String()
	return nil
}

var noon = time.Date(2026, 9, 17, 12, 0, 0, 0, time.UTC)

// catalogue is a fake of the ledger that has one market.
type catalogue struct {
	marketv1.MarketReadServiceClient
}

func (catalogue) ListMarkets(context.Context, *marketv1.ListMarketsRequest, ...grpc.CallOption) (*marketv1.ListMarketsResponse, error) {
	return &marketv1.ListMarketsResponse{Markets: []*marketv1.Market{{Id: "701122", Title: "Will the lighthouse burn?"}}}, nil
}

func TestMessages(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	private := make([]byte, 32)
	private[31] = 7
	key, err := ParseKey(base64url.EncodeToString(private))
	if err != nil {
		t.Fatal(err)
	}
	subscription, err := notification.ParseSubscription(b.subscription())
	if err != nil {
		t.Fatal(err)
	}
	const id, signal = "0199f0b0-0000-7000-8000-000000000001", "0199f0b0-0000-7000-8000-000000000002"
	q := &queue{message: notification.Message{Subscription: subscription, Entry: notification.Entry{
		ID: id, Kind: notification.CallResolved, Status: "won", MarketID: protocol.MarketID("701122"), SignalID: signal,
	}}}
	s := NewSender(q, catalogue{}, key, "mailto:desk@hub.example", func() time.Time { return noon }, slog.New(slog.DiscardHandler))
	if _, err := s.Round(t.Context()); err != nil || q.done != "delayed 30s" || len(b.received) > 0 {
		t.Errorf("a push service at a private address received %d messages: %q, error %v", len(b.received), q.done, err)
	}
	s.client = b.Client()
	for _, c := range []struct {
		status, attempts int
		want             string
	}{
		{http.StatusCreated, 0, "deleted"},
		{http.StatusNotFound, 0, "ended"},
		{http.StatusGone, 0, "ended"},
		{http.StatusForbidden, 0, "deleted"},
		{http.StatusTemporaryRedirect, 0, "deleted"},
		{http.StatusTooManyRequests, 0, "delayed 30s"},
		{http.StatusBadGateway, 2, "delayed 2m0s"},
		{http.StatusBadGateway, maxAttempts - 1, "deleted"},
	} {
		b.status, q.message.Attempts, q.done = c.status, c.attempts, ""
		if n, err := s.Round(t.Context()); n != 1 || err != nil || q.done != c.want {
			t.Errorf("after the status %d and %d failed attempts, the message is %q (error %v); want %q", c.status, c.attempts, q.done, err, c.want)
		}
	}
	const want = `{"id":"` + id + `","kind":"call_resolved","text":"Your call won","title":"Will the lighthouse burn?","url":"/receipts/` + signal + `"}`
	if got := b.decrypt(t, b.bodies[0]); got != want {
		t.Errorf("the message is %s, want %s", got, want)
	}
	r := b.received[0]
	requireSigned(t, r, b.URL, key.public)
	for name, want := range map[string]string{
		"TTL": "86400", "Content-Encoding": "aes128gcm", "Topic": strings.ReplaceAll(id, "-", ""),
	} {
		if got := r.Header.Get(name); r.Method != http.MethodPost || got != want {
			t.Errorf("%s has %s %q, want %q", r.Method, name, got, want)
		}
	}
	b.Close()
	if _, err := s.Round(t.Context()); err != nil || q.done != "deleted" {
		t.Errorf("without a push service, the message is %q after the last attempt, error %v", q.done, err)
	}
}

func TestKeysAreChecked(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"", "x", base64url.EncodeToString(make([]byte, 32)), base64url.EncodeToString(make([]byte, 33))} {
		if _, err := ParseKey(bad); err == nil {
			t.Errorf("the key %q is accepted", bad)
		}
	}
}
