package app

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/testkit"
)

// longState is 2 KiB of other letters than ours.
var longState = strings.Repeat("é☂", 410)[:2048] + " +&=%"

const proof = "the-verifier-of-the-tests-is-long-enough-43"

// session signs somebody in and gives the cookies as a browser sends them.
func (h *hub) session(subject string) string {
	h.w.t.Helper()
	_, head, _ := h.do("POST", "/api/auth/privy", "", "Authorization", "Bearer "+h.w.issuer.token(h.w.t, subject))
	var pairs []string
	for _, line := range head["Set-Cookie"] {
		pair, _, _ := strings.Cut(line, ";")
		pairs = append(pairs, pair)
	}
	return strings.Join(pairs, "; ")
}

func (h *hub) json(want int, method, path, body string, headers ...string) map[string]any {
	h.w.t.Helper()
	status, _, text := h.do(method, path, body, headers...)
	out := map[string]any{}
	_ = json.Unmarshal([]byte(text), &out)
	if status != want {
		h.w.t.Fatalf("%s %s: %d %s", method, path, status, text)
	}
	return out
}

// connected is an app with tokens for a user, made the whole way through this hub.
type connected struct{ clientID, code, access, refresh, grantID string }

func (h *hub) connect() connected {
	h.w.t.Helper()
	login := "Bearer " + h.w.issuer.token(h.w.t, "did:privy:maker")
	app := h.json(201, "POST", "/api/dev/apps",
		`{"name":"Desk","type":"public","redirectUris":["https://app.example.com/cb"],"scopes":["profile:read","offline_access"]}`, "Authorization", login)
	c := connected{clientID: app["clientId"].(string)}
	cookies, sum := h.session("did:privy:mara"), sha256.Sum256([]byte(proof))
	ask := url.Values{
		"response_type": {"code"}, "client_id": {c.clientID}, "redirect_uri": {"https://app.example.com/cb"}, "state": {longState},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"}, "scope": {"profile:read offline_access"},
	}
	status, _, page := h.do("GET", "/protocol/authorize?"+ask.Encode(), "", "Cookie", cookies)
	m := regexp.MustCompile(`name="request" value="([^"]+)"`).FindStringSubmatch(page)
	if status != 200 || m == nil {
		h.w.t.Fatalf("%d %s", status, page)
	}
	form := url.Values{"request": {html.UnescapeString(m[1])}, "decision": {"approve"}}.Encode()
	status, head, text := h.do("POST", "/protocol/authorize", form, "Cookie", cookies, "Origin", "http://hub.test", "Content-Type", "application/x-www-form-urlencoded")
	to, err := url.Parse(head.Get("Location"))
	if status != http.StatusSeeOther || err != nil {
		h.w.t.Fatalf("%d %s", status, text)
	}
	if q := to.Query(); q.Get("state") != longState || q.Get("iss") != "http://hub.test/api/protocol/v1" { // S6
		h.w.t.Errorf("state of %d bytes came back as %d, iss %s", len(longState), len(q.Get("state")), q.Get("iss"))
	}
	c.code = to.Query().Get("code")
	t := h.json(200, "POST", "/api/protocol/v1/oauth/token",
		`{"grantType":"authorization_code","code":"`+c.code+`","codeVerifier":"`+proof+`","clientId":"`+c.clientID+`"}`)
	c.access, c.refresh, c.grantID = t["accessToken"].(string), t["refreshToken"].(string), t["grantId"].(string)
	return c
}

// TestRevocationHoldsEverywhere (S25): two hubs over one database; what one of them
// ends, the other refuses with its very next request.
func TestRevocationHoldsEverywhere(t *testing.T) {
	w := newTown(t)
	w.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	one, two := w.hub("LOG_LEVEL", "debug"), w.hub("LOG_LEVEL", "debug")
	one.ready()
	two.ready()
	for range 3 {
		c := one.connect()
		me := []string{"Authorization", "Bearer " + c.access}
		one.json(200, "GET", "/api/protocol/v1/me", "", me...)
		two.json(200, "GET", "/api/protocol/v1/me", "", me...)
		next := two.json(200, "POST", "/api/protocol/v1/oauth/token", `{"grantType":"refresh_token","refreshToken":"`+c.refresh+`","clientId":"`+c.clientID+`"}`)
		again := one.json(200, "POST", "/api/protocol/v1/oauth/token", `{"grantType":"refresh_token","refreshToken":"`+c.refresh+`","clientId":"`+c.clientID+`"}`)
		if next["refreshToken"] != again["refreshToken"] {
			t.Error("two hubs derive different successors")
		}
		one.json(200, "DELETE", "/api/protocol/v1/grants/"+c.grantID, "", me...)
		two.json(401, "GET", "/api/protocol/v1/me", "", me...)
		one.json(401, "GET", "/api/protocol/v1/me", "", me...)
		two.json(400, "POST", "/api/protocol/v1/oauth/token", `{"grantType":"refresh_token","refreshToken":"`+next["refreshToken"].(string)+`","clientId":"`+c.clientID+`"}`)

		for _, secret := range []string{c.code, c.access, c.refresh, next["accessToken"].(string), next["refreshToken"].(string), proof} { // S18
			body := secret[strings.IndexByte(secret, '_')+1:]
			for _, log := range []string{one.logs.String(), two.logs.String()} {
				if strings.Contains(log, body) {
					t.Errorf("a log line holds %.8s…", secret)
				}
			}
		}
	}
	if !strings.Contains(one.logs.String(), "/oauth/token") {
		t.Error("the log has no line of the token endpoint: the search is broken")
	}
}

// TestSweepOfSignIn: one hub deletes what nothing can come of any more.
func TestSweepOfSignIn(t *testing.T) {
	w := newTown(t)
	db := testkit.Pool(t, w.database.Admin)
	h := w.hub()
	h.ready()
	w.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	h.connect()
	h.stop()
	if _, err := db.Exec(t.Context(), "UPDATE hub.access_tokens SET created_at = now() - interval '3 hours', expires_at = now() - interval '2 hours'"); err != nil {
		t.Fatal(err)
	}
	w.hub()
	testkit.Eventually(t, 10*time.Second, func() bool {
		var left int
		err := db.QueryRow(t.Context(), "SELECT count(*) FROM hub.access_tokens").Scan(&left)
		return err == nil && left == 0
	})
}
