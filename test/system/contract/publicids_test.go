package contract

import (
	"bytes"
	"crypto/hmac"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/coder/websocket"
	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/test/system/openapi"
	"github.com/signalcast/signalcast/test/system/stack"
)

// providerIDRoutes are the routes whose answers contain user ids of the identity provider, as the protocol specifies.
var providerIDRoutes = []string{"GET api/api/v1/signals/leaderboard", "GET hub/api/m/{marketId}/signals"}

// person contains the ids of a person. ProviderID is the user id at the identity provider, and PublicID is computed from
// MaskedText.
type person struct{ MaskedText, ProviderID, PublicID string }

// people returns all persons who have signed in.
func people(t *testing.T, s *stack.Stack) []person {
	t.Helper()
	rows, err := s.DB(t).Query(t.Context(), `SELECT CASE WHEN issuer LIKE 'http%' THEN provider_id ELSE issuer || '|' || provider_id END,
		provider_id, public_id FROM api.users WHERE issuer <> 'seed'`)
	if err != nil {
		t.Fatal(err)
	}
	out, err := pgx.CollectRows(rows, pgx.RowToStructByPos[person])
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestProviderIDsAreOnTwoRoutes checks that user ids of the identity provider appear in the answers of only two routes, and in
// no log (guarantee G9).
func TestProviderIDsAreOnTwoRoutes(t *testing.T) {
	t.Parallel()
	s := system(t)
	x := newThings(t, s)
	native := s.NewNativeMarket(t, 5000, nil)
	for i, side := range []string{"YES", "NO", "YES"} {
		o := s.NewOperator(t)
		for _, market := range []string{x.Market, native} {
			o.File(t, stack.Call(market, side, 5200)).Require(http.StatusOK)
		}
		stack.Post(t, s.HubAt(i)+"/api/user/follow", o.Session(t), stack.Body(stack.JSON{"handle": x.Handle})).
			Require(http.StatusOK)
	}
	s.Finalize(t, native, "YES")
	feed := subscribe(t, s, "feed", "market:"+x.Market, "operator:"+x.Handle)
	find := newIDFinder(people(t, s))
	shown := map[string]bool{}
	var mu sync.Mutex
	t.Run("routes", func(t *testing.T) {
		for _, o := range openapi.ForTest(t).Operations {
			secret := o.Takes("adminSecret") || o.Takes("cronSecret")
			if o.Method != http.MethodGet || secret || o.Gone() || o.Streams() {
				continue
			}
			t.Run(o.Name(), func(t *testing.T) {
				t.Parallel()
				address := x.address(t, o) // contains ids of existing objects; TestReadsAnswer requires a successful answer
				missing := strings.NewReplacer(
					x.Market, "native-0000000000", x.CallID, x.ID, x.Handle, "unknown_person", x.message, x.ID,
				).Replace(address)
				bare, _, _ := strings.Cut(address, "?")
				for _, address := range []string{address, missing, bare + "?limit=x&cursor=%00&id=%7b"} {
					a := get(t, address, x.credential(o))
					mu.Lock()
					// whoami shows the ids of the caller to the caller, which is permitted.
					shown[o.Name()] = shown[o.Name()] || o.Path != "/api/dev/whoami" && find.in(a.Body, fmt.Append(nil, a.Header))
					mu.Unlock()
				}
			})
		}
	})
	for name, is := range shown {
		if want := slices.Contains(providerIDRoutes, name); is != want {
			t.Errorf("%s shows user ids of the identity provider: %t; want %t", name, is, want)
		}
	}
	root, err := stack.Root()
	if err != nil {
		t.Fatal(err)
	}
	document, err := os.ReadFile(filepath.Join(root, "proto/openapi/openapi.json"))
	if err != nil {
		t.Fatal(err)
	}
	if find.in(document) || bytes.Contains(document, []byte(`"did:`)) {
		t.Error("the OpenAPI document shows an id of the identity provider")
	}
	late := s.NewOperator(t)
	late.File(t, stack.Call(x.Market, "YES", 5000)).Require(http.StatusOK)
	if newIDFinder(people(t, s)).in(feed(t, late.Handle)) {
		t.Error("the live feed shows an id of the identity provider")
	}
	for _, path := range s.Logs(t) {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Base(path) != "idp.log" && find.in(raw) {
			t.Errorf("%s shows a user id of the identity provider; want none", path)
		}
	}
}

// idFinder contains user ids of the identity provider in several encodings, to find them in texts.
type idFinder [][]byte

func newIDFinder(people []person) (f idFinder) {
	for _, p := range people {
		id := []byte(p.ProviderID)
		for _, text := range []string{
			p.ProviderID, url.QueryEscape(p.ProviderID), hex.EncodeToString(id), base64.StdEncoding.EncodeToString(id)[:len(id)],
			base64.RawURLEncoding.EncodeToString(id)[:len(id)],
		} {
			if len(text) > 8 {
				f = append(f, []byte(text))
			}
		}
	}
	return f
}

func (f idFinder) in(texts ...[]byte) bool {
	return slices.ContainsFunc(texts, func(text []byte) bool {
		return slices.ContainsFunc(f, func(id []byte) bool { return bytes.Contains(text, id) })
	})
}

// subscribe opens a websocket on channels of the live feed. The returned function reads frames until one contains a
// word, and returns all frames.
func subscribe(t *testing.T, s *stack.Stack, channels ...string) func(t *testing.T, word string) []byte {
	t.Helper()
	conn, _, err := websocket.Dial(t.Context(), "ws"+strings.TrimPrefix(s.API, "http")+"/ws", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.CloseNow() })
	raw, err := json.Marshal(stack.JSON{"op": "subscribe", "id": "1", "channels": channels})
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.Write(t.Context(), websocket.MessageText, raw); err != nil {
		t.Fatal(err)
	}
	return func(t *testing.T, word string) (all []byte) {
		t.Helper()
		for !bytes.Contains(all, []byte(word)) {
			_, frame, err := conn.Read(t.Context())
			if err != nil {
				t.Fatalf("the live feed ended before a frame contained %s: %v", word, err)
			}
			all = append(append(all, frame...), '\n')
		}
		return all
	}
}

// TestPublicIDsNeedTheSecret checks that public ids cannot be computed without the secret (guarantee G9).
func TestPublicIDsNeedTheSecret(t *testing.T) {
	t.Parallel()
	s := system(t)
	s.NewOperator(t)
	settings := s.Settings(t, "api")
	mask := func(secret, text string) string {
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write([]byte(text))
		return "op_" + hex.EncodeToString(mac.Sum(nil)[:8])
	}
	hashes := map[string]func(text string) []byte{
		"SHA-256": func(text string) []byte { sum := sha256.Sum256([]byte(text)); return sum[:] },
		"SHA-512": func(text string) []byte { sum := sha512.Sum512([]byte(text)); return sum[:] },
		"SHA-1":   func(text string) []byte { sum := sha1.Sum([]byte(text)); return sum[:] },
		"MD5":     func(text string) []byte { sum := md5.Sum([]byte(text)); return sum[:] },
	}
	known := []string{"", "secret", "signalcast", "signalcast-dev", "test-pepper-do-not-use", settings["HUB_URL"], settings["LINK_SECRET"]}
	for _, p := range people(t, s) {
		if want := mask(settings["MASK_SECRET"], p.MaskedText); p.PublicID != want {
			t.Errorf("the public id of %s is %s; want %s", p.MaskedText, p.PublicID, want)
		}
		for _, text := range []string{p.MaskedText, p.ProviderID} {
			for _, secret := range known {
				if mask(secret, text) == p.PublicID {
					t.Errorf("the public id of %s can be computed with the public secret %q", p.MaskedText, secret)
				}
			}
			for name, hash := range hashes {
				if "op_"+hex.EncodeToString(hash(text)[:8]) == p.PublicID {
					t.Errorf("the public id of %s can be computed without a secret, with %s", p.MaskedText, name)
				}
			}
		}
	}
}
