package server_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/signalcast/signalcast/deploy/devidp/internal/server"
	"github.com/signalcast/signalcast/pkg/config"
	"github.com/signalcast/signalcast/pkg/oidc"
)

type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) { l.mu.Lock(); defer l.mu.Unlock(); return l.buf.Write(p) }

func (l *lines) String() string { l.mu.Lock(); defer l.mu.Unlock(); return l.buf.String() }

type issuer struct {
	t    *testing.T
	url  string
	stop func()
}

// start runs an issuer with the state directory dir. It runs until stop is called or the test ends. public is the value of
// PUBLIC_URL.
func start(t *testing.T, dir, public string) *issuer {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	out, ended := &lines{}, make(chan error, 1)
	go func() {
		ended <- server.Run(ctx, server.Config{
			Addr: "127.0.0.1:0", StateDir: dir, Issuer: public, Audience: "signalcast-dev", Secret: "pw", ReturnTo: "http://hub.test:8080", Now: time.Now,
		}, out)
	}()
	i := &issuer{t: t, stop: sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("stop: %v", err)
		}
	})}
	t.Cleanup(i.stop)
	deadline := time.Now().Add(10 * time.Second)
	for !strings.Contains(out.String(), "\n") {
		select {
		case err := <-ended:
			t.Fatal(err)
		case <-time.After(5 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			t.Fatal("no address was printed")
		}
	}
	_, rest, _ := strings.Cut(out.String(), "listening on ")
	i.url = strings.Fields(rest)[0]
	return i
}

func (i *issuer) send(method, path, body string, header ...string) (int, map[string]any) {
	i.t.Helper()
	req, err := http.NewRequest(method, i.url+path, strings.NewReader(body))
	if err != nil {
		i.t.Fatal(err)
	}
	req.SetBasicAuth("signalcast-dev", "pw")
	for n := 0; n+1 < len(header); n += 2 {
		req.Header.Set(header[n], header[n+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		i.t.Fatal(err)
	}
	defer resp.Body.Close()
	var v map[string]any
	if err := json.NewDecoder(resp.Body).Decode(&v); err != nil {
		i.t.Fatalf("%s: %v", path, err)
	}
	return resp.StatusCode, v
}

func (i *issuer) mint(body string) (token, sub, identity string) {
	i.t.Helper()
	status, v := i.send("POST", "/mint", body)
	if status != http.StatusOK {
		i.t.Fatalf("mint %s: %d %v", body, status, v)
	}
	return v["token"].(string), v["sub"].(string), v["identityToken"].(string)
}

// verifier returns a verifier as the services use it, with two providers: one whose keys are found by discovery, and one with
// the URLs of Privy.
func (i *issuer) verifier() *oidc.Verifier {
	return oidc.NewVerifier(oidc.Config{Providers: []oidc.Provider{
		{Name: "dev", Issuer: i.url, Audience: "signalcast-dev", Algs: []string{"ES256"}},
		{Name: "privy", Issuer: "privy.io", Audience: "signalcast-dev", Algs: []string{"ES256"}, JWKSURL: i.url + "/dev/idp/v1/apps/signalcast-dev/jwks.json"},
	}}, time.Now)
}

func TestTokensOfBothProfilesVerify(t *testing.T) {
	t.Parallel()
	i := start(t, t.TempDir(), "")
	v := i.verifier()
	for profile, name := range map[string]string{"": "dev", "oidc": "dev", "privy": "privy"} {
		token, sub, identity := i.mint(`{"user":"alice","profile":"` + profile + `"}`)
		s, err := v.Verify(t.Context(), token)
		if err != nil || s.Subject != sub || sub != "did:idp:alice" || s.Provider != name || s.Username != "alice" || s.Name != "Alice Quill" || s.SessionID == "" {
			t.Errorf("%s: %+v %v", profile, s, err)
		}
		if _, err := v.Verify(t.Context(), identity); !errors.Is(err, oidc.ErrUnauthenticated) {
			t.Errorf("%s: an identity token was accepted as a login: %v", profile, err)
		}
	}
	for scope, want := range map[string]string{"": "", "openid": "", "openid email": "alice@people.example"} {
		token, _, _ := i.mint(`{"user":"alice","scope":"` + scope + `"}`)
		if s, err := v.Verify(t.Context(), token); err != nil || s.Email != want {
			t.Errorf("scope %q: address %q, want %q: %v", scope, s.Email, want, err)
		}
	}
	for body, want := range map[string]bool{
		`{"user":"x","ttl":-120}`: false, `{"user":"x","ttl":-30}`: true, `{"user":"x","ttl":5}`: true, `{"user":"x","age":-3600}`: false, `{"user":"x","age":600}`: true,
	} {
		token, _, _ := i.mint(body)
		if _, err := v.Verify(t.Context(), token); (err == nil) != want {
			t.Errorf("token of %s: %v; want accepted %t", body, err, want)
		}
	}
}

func TestIdentityTokenCarriesWallets(t *testing.T) {
	t.Parallel()
	i := start(t, t.TempDir(), "")
	_, _, identity := i.mint(`{"user":"alice","profile":"privy"}`)
	payload := claims(t, identity)
	var linked []map[string]any
	if err := json.Unmarshal([]byte(payload["linked_accounts"].(string)), &linked); err != nil {
		t.Fatal(err)
	}
	last := linked[len(linked)-1]
	if payload["iss"] != "privy.io" || payload["sid"] != nil || payload["cr"] == "" || last["type"] != "wallet" || last["chain_type"] != "ethereum" || last["lv"] == nil {
		t.Errorf("the identity token has claims %v and accounts %v", payload, linked)
	}
}

func claims(t *testing.T, token string) (c map[string]any) {
	t.Helper()
	raw, err := base64.RawURLEncoding.DecodeString(strings.Split(token, ".")[1])
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestRestartKeepsKeysUsersAndWallets(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const public = "http://issuer.test"
	i := start(t, dir, public)
	_, sub, _ := i.mint(`{"user":"zoe"}`)
	if status, v := i.send("POST", "/users/"+sub+"/wallets", `{"address":"0x00000000000000000000000000000000000000aA","chainType":"ethereum"}`); status != 200 {
		t.Fatalf("%d %v", status, v)
	}
	before, _, _ := i.mint(`{"user":"zoe","profile":"privy"}`)
	i.stop()
	for _, file := range []string{"keys.json", "users.jsonl"} {
		info, err := os.Stat(filepath.Join(dir, file))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v, %v; want 0600", file, info.Mode(), err)
		}
	}
	f, err := os.OpenFile(filepath.Join(dir, "users.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = f.WriteString(`{"user":"cut-sho`) // an incomplete line, as after a crash
	f.Close()

	i = start(t, dir, public)
	if _, err := i.verifier().Verify(t.Context(), before); err != nil {
		t.Errorf("a token from before the restart was refused: %v", err)
	}
	i.mint(`{"user":"yan"}`)
	status, v := i.send("POST", "/v1/users/wallet/address", `{"address":"0x00000000000000000000000000000000000000AA"}`, "privy-app-id", "signalcast-dev")
	if status != 200 || v["id"] != sub {
		t.Errorf("the user of a wallet is %d %v after a restart; want %s", status, v, sub)
	}
	i.stop()
	i = start(t, dir, public)
	if status, _ := i.send("GET", "/v1/users/did:idp:yan", "", "privy-app-id", "signalcast-dev"); status != 200 {
		t.Errorf("a user after an incomplete line is %d; want 200", status)
	}
}

func TestRotation(t *testing.T) {
	t.Parallel()
	i := start(t, t.TempDir(), "")
	token, _, _ := i.mint(`{"user":"alice"}`)
	if status, v := i.send("POST", "/dev/idp/rotate", ""); status != 200 || v["keys"] != 2.0 {
		t.Errorf("%d %v", status, v)
	}
	if _, err := i.verifier().Verify(t.Context(), token); err != nil {
		t.Errorf("a token of the previous key was refused: %v", err)
	}
	if status, v := i.send("POST", "/rotate", `{"drop":true}`); status != 200 || v["keys"] != 1.0 {
		t.Errorf("%d %v", status, v)
	}
	if _, err := i.verifier().Verify(t.Context(), token); !errors.Is(err, oidc.ErrUnauthenticated) {
		t.Errorf("a token of a dropped key: %v; want ErrUnauthenticated", err)
	}
	fresh, _, _ := i.mint(`{"user":"alice"}`)
	if _, err := i.verifier().Verify(t.Context(), fresh); err != nil {
		t.Errorf("a token of the new key was refused: %v", err)
	}
}

func TestUsersAPI(t *testing.T) {
	t.Parallel()
	i := start(t, t.TempDir(), "")
	app := []string{"privy-app-id", "signalcast-dev"}
	for _, c := range []struct {
		method, path, body string
		header             []string
		status             int
	}{
		{"GET", "/dev/idp/v1/users/did:idp:alice", "", app, 200},
		{"GET", "/v1/users/did%3Aidp%3Aalice", "", app, 200},
		{"GET", "/v1/users/did:idp:alice", "", nil, 401},
		{"GET", "/v1/users/did:idp:alice", "", []string{"privy-app-id", "another"}, 401},
		{"GET", "/v1/users/did:idp:alice", "", append([]string{"Authorization", "Basic eDp5"}, app...), 401},
		{"GET", "/v1/users/did:idp:unknown", "", app, 404},
		{"GET", "/v1/users/alice", "", app, 404},
		{"POST", "/v1/users/wallet/address", `{"address":"0x52908400098527886e0f7030069857d2e4169ee7"}`, app, 200},
		{"POST", "/v1/users/wallet/address", `{"address":"0x1"}`, app, 404},
		{"POST", "/v1/users/wallet/address", `[]`, app, 400},
		{"POST", "/users", `{"user":"new-one"}`, nil, 200},
		{"POST", "/users", `{"user":"../x"}`, nil, 400},
		{"POST", "/users", `{}`, nil, 400},
		{"POST", "/users", `{"usr":"x"}`, nil, 400},
		{"POST", "/users", `{"user":"` + strings.Repeat("x", 17<<10) + `"}`, nil, 413},
		{"POST", "/users/did:idp:bob/wallets", `{"address":"0x52908400098527886E0F7030069857D2E4169EE7","chainType":"ethereum"}`, nil, 409},
		{"POST", "/users/did:idp:alice/wallets", `{"address":"0x52908400098527886E0F7030069857D2E4169EE7","chainType":"ethereum"}`, nil, 200},
		{"POST", "/users/did:idp:alice/wallets", `{"address":"0x52908400098527886E0F7030069857D2E4169EE7","chainType":"solana"}`, nil, 400},
		{"POST", "/users/did:idp:unknown/wallets", `{"address":"0x0000000000000000000000000000000000000001","chainType":"ethereum"}`, nil, 404},
		{"POST", "/mint", `{"user":"alice","profile":"saml"}`, nil, 400},
		{"POST", "/mint", `{"user":"alice","ttl":99999999}`, nil, 400},
		{"POST", "/mint", `{"user":""}`, nil, 400},
		{"GET", "/v1/apps/another/jwks.json", "", nil, 404},
		{"GET", "/nothing", "", nil, 404},
		{"GET", "/healthz", "", nil, 200},
		{"GET", "/readyz", "", nil, 200},
	} {
		status, v := i.send(c.method, c.path, c.body, c.header...)
		if status != c.status || status >= 400 && (v["error"] == nil || v["message"] == nil) {
			t.Errorf("%s %s %.60s: %d %v, want %d", c.method, c.path, c.body, status, v, c.status)
		}
	}
	_, v := i.send("GET", "/v1/users/did:idp:erin", "", app...)
	accounts := v["linked_accounts"].([]any)
	wallet := accounts[len(accounts)-1].(map[string]any)
	if v["id"] != "did:idp:erin" || v["is_guest"] != false || wallet["type"] != "wallet" || wallet["latest_verified_at"] == nil || v["mfa_methods"] == nil {
		t.Errorf("%v", v)
	}
}

func TestDiscoveryNamesTheIssuerAtBothRoots(t *testing.T) {
	t.Parallel()
	i := start(t, t.TempDir(), "http://issuer.test:9/base")
	for _, root := range []string{"", "/dev/idp"} {
		if _, v := i.send("GET", root+"/.well-known/openid-configuration", ""); v["issuer"] != "http://issuer.test:9/base" || v["jwks_uri"] != "http://issuer.test:9/base/jwks.json" {
			t.Errorf("%s: %v", root, v)
		}
		if _, v := i.send("GET", root+"/jwks.json", ""); len(v["keys"].([]any)) != 1 || v["keys"].([]any)[0].(map[string]any)["d"] != nil {
			t.Errorf("%s: %v", root, v)
		}
	}
}

func TestLogin(t *testing.T) {
	t.Parallel()
	i := start(t, t.TempDir(), "")
	get := func(method, query string, form url.Values) (int, string, http.Header) {
		t.Helper()
		var body io.Reader
		if form != nil {
			body = strings.NewReader(form.Encode())
		}
		req, _ := http.NewRequest(method, i.url+"/login"+query, body)
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		raw, _ := io.ReadAll(resp.Body)
		return resp.StatusCode, string(raw), resp.Header
	}
	status, page, header := get("GET", "?return_to=/dev%3Fa%3D1&state=s%22t", nil)
	if status != 200 || !strings.Contains(page, "Alice Quill") || !strings.Contains(page, `value="/dev?a=1"`) || !strings.Contains(page, `name="state" value="s&#34;t"`) || strings.Contains(page, "<script") {
		t.Errorf("%d %s", status, page)
	}
	if csp := header.Get("Content-Security-Policy"); !strings.Contains(csp, "form-action 'self' http://hub.test:8080") || !strings.Contains(csp, "default-src 'none'") {
		t.Errorf("policy %q", csp)
	}
	status, page, _ = get("POST", "", url.Values{"user": {"alice"}, "return_to": {"http://hub.test:8080/dev"}, "state": {"mark"}})
	if status != 200 || !strings.Contains(page, `action="http://hub.test:8080/dev/session"`) || !strings.Contains(page, `name="return_to" value="/dev"`) ||
		!strings.Contains(page, `name="state" value="mark"`) {
		t.Errorf("%d %s", status, page)
	}
	_, rest, _ := strings.Cut(page, `name="token" value="`)
	token, _, _ := strings.Cut(rest, `"`)
	if s, err := i.verifier().Verify(t.Context(), token); err != nil || s.Username != "alice" {
		t.Errorf("%+v %v", s, err)
	}
	for _, elsewhere := range []string{
		"http://evil.test/", "//evil.test", "http://hub.test:8081/", "https://hub.test:8080/", `/\evil.test`, "javascript:alert(1)",
		"http://hub.test:8080@evil.test/", "http://x@hub.test:8080/", "evil", "/a\nb",
	} {
		if status, page, _ := get("GET", "?return_to="+url.QueryEscape(elsewhere), nil); status != 400 || strings.Contains(page, "<form") {
			t.Errorf("return_to %q: %d", elsewhere, status)
		}
		if status, page, _ := get("POST", "", url.Values{"user": {"alice"}, "return_to": {elsewhere}}); status != 400 || strings.Contains(page, `name="token"`) {
			t.Errorf("login to %q: %d", elsewhere, status)
		}
	}
	if status, _, _ = get("GET", "?state="+strings.Repeat("s", 513), nil); status != 400 {
		t.Errorf("a state of 513 bytes: %d; want 400", status)
	}
	if status, page, _ = get("POST", "", url.Values{"user": {"<b>x"}}); status != 400 || strings.Contains(page, "<b>x") {
		t.Errorf("an invalid name: %d; want 400", status)
	}
}

func TestGuards(t *testing.T) {
	t.Parallel()
	read := func(change map[string]string) error {
		env := map[string]string{"ENV": "test", "IDP_STATE_DIR": "/tmp/x", "RETURN_TO": "http://127.0.0.1:8080/"}
		for k, v := range change {
			env[k] = v
		}
		_, err := config.LoadFrom[server.Config](env)
		return err
	}
	for _, ok := range []map[string]string{nil, {"ENV": "development"}, {"RETURN_TO": ""}, {"PUBLIC_URL": "http://x/dev/idp"}} {
		if err := read(ok); err != nil {
			t.Errorf("%v: %v", ok, err)
		}
	}
	for _, bad := range []map[string]string{
		{"ENV": "production"},
		{"ENV": ""},
		{"ENV": "Development"},
		{"ENV": "staging"},
		{"PRIVY_APP_SECRET": "s"},
		{"IDP_STATE_DIR": ""},
		{"PUBLIC_URL": "ftp://x"},
		{"RETURN_TO": "http://x/path"},
		{"RETURN_TO": "x"},
	} {
		if err := read(bad); err == nil {
			t.Errorf("%v was accepted", bad)
		}
	}
}

func TestManyMintsAtOnce(t *testing.T) {
	t.Parallel()
	i := start(t, t.TempDir(), "")
	v := i.verifier()
	var group sync.WaitGroup
	for n := range 8 {
		group.Go(func() {
			for k := range 25 {
				user := string(rune('a'+(n*25+k)%20)) + "-user"
				token, sub, _ := i.mint(`{"user":"` + user + `"}`)
				if s, err := v.Verify(context.Background(), token); err != nil || s.Subject != sub || sub != "did:idp:"+user {
					t.Errorf("%+v %v", s, err)
				}
			}
		})
	}
	group.Wait()
}
