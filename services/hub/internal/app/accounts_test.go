package app

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/conf"
)

const wallet = "0x52908400098527886E0F7030069857D2E4169EE7"

// linker is the users interface of the town's provider.
type linker struct {
	answer atomic.Value // string; empty: 500
	asked  atomic.Int32
}

func (l *linker) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	l.asked.Add(1)
	app, password, _ := r.BasicAuth()
	text, _ := l.answer.Load().(string)
	if text == "" || app != "app" || password != "pw" || r.Header.Get("privy-app-id") != "app" {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	_, _ = fmt.Fprintf(w, `{"id":%q,"linked_accounts":%s}`, strings.TrimPrefix(r.URL.Path, "/v1/users/"), text)
}

// signIn gives the headers of a page of a person who has signed in.
func (h *hub) signIn(w *town, subject string) []string {
	status, head, body := h.do("POST", "/api/auth/privy", "", "Authorization", "Bearer "+w.issuer.token(w.t, subject))
	if status != http.StatusOK {
		w.t.Fatal(status, body)
	}
	var cookies []string
	for _, c := range head["Set-Cookie"] {
		pair, _, _ := strings.Cut(c, ";")
		cookies = append(cookies, pair)
	}
	return []string{"Cookie", strings.Join(cookies, "; "), "Origin", "http://hub.test"}
}

func linkedTo(address string) string {
	return fmt.Sprintf(`[{"type":"wallet","address":%q,"chain_type":"ethereum","verified_at":1,"lv":1}]`, address)
}

// identity is an identity token of a subject, issued some time ago.
func (w *town) identity(subject, accounts string, age time.Duration) string {
	now := time.Now().Unix()
	return w.issuer.sign(w.t, map[string]any{
		"iss": "privy.io", "aud": "app", "sub": subject, "iat": now - int64(age/time.Second), "exp": now + 3600, "cr": "1", "linked_accounts": accounts,
	})
}

// From the provider's word on a wallet to a claim that everybody reads.
func TestClaimsThroughTheProvider(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	link := &linker{}
	users := httptest.NewServer(link)
	t.Cleanup(users.Close)
	w.environ["IDP_PROVIDERS"] = fmt.Sprintf(
		`[{"name":"main","issuer":"privy.io","audience":"app","jwksURL":%q,"walletsFrom":"identityToken","usersAPI":%q,"usersSecret":"pw"}]`, w.issuer.url, users.URL)
	h := w.hub()
	h.ready()
	const mara, bob = "did:privy:mara_k", "did:privy:bob_ross"
	page, other := h.signIn(w, mara), h.signIn(w, bob)
	claim := func(page []string, address string, more ...string) (int, string) {
		t.Helper()
		status, _, body := h.do("POST", "/api/identity/claim", `{"address":"`+address+`"}`, append(more, page...)...)
		var b struct{ Error string }
		if err := json.Unmarshal([]byte(body), &b); err != nil {
			t.Fatal(body)
		}
		return status, b.Error
	}
	expect := func(name string, status int, code string, gotStatus int, got string) {
		t.Helper()
		if gotStatus != status || got != code {
			t.Errorf("%s: %d %s, want %d %s", name, gotStatus, got, status, code)
		}
	}
	try := func(name string, wantStatus int, wantCode string, page []string, address string, more ...string) {
		t.Helper()
		status, code := claim(page, address, more...)
		expect(name, wantStatus, wantCode, status, code)
	}
	fresh := w.identity(mara, linkedTo(wallet), 0)
	try("provider away, no token", 503, "identity_provider_unavailable", page, wallet)
	try("a fresh token", 200, "", page, strings.ToLower(wallet), "privy-id-token", fresh)
	asked := link.asked.Load()
	try("a token of somebody else", 401, "unauthenticated", other, wallet, "privy-id-token", fresh)
	try("an access token in its place", 401, "unauthenticated", page, wallet, "privy-id-token", w.issuer.token(t, mara))
	try("a forged token", 401, "unauthenticated", page, wallet, "privy-id-token", fresh[:len(fresh)-4]+"AAAA")
	if n := link.asked.Load(); n != asked {
		t.Errorf("the users interface was asked %d times about bad tokens", n-asked)
	}
	link.answer.Store(`[]`)
	try("an old token", 403, "wallet_not_linked", other, wallet, "privy-id-token", w.identity(bob, linkedTo(wallet), 6*time.Minute))
	try("not linked", 403, "wallet_not_linked", other, wallet)
	link.answer.Store(linkedTo(strings.ToLower(wallet)))
	try("linked by the users interface", 200, "", other, wallet) // and the wallet passes on
	for handle, claimed := range map[string]bool{"mara_k": false, "bob_ross": true} {
		status, _, body := h.do("GET", "/api/network/identity/"+handle, "")
		if status != 200 || strings.Contains(body, wallet) != claimed {
			t.Errorf("%s: %d %s", handle, status, body)
		}
	}
	for _, secret := range []string{fresh, strings.Split(fresh, ".")[2], wallet, `"pw"`} {
		if strings.Contains(h.logs.String(), secret) {
			t.Error("the log tells too much")
		}
	}
}

// TestHandleOfTheIdentityToken: where the login names nobody, as the provider's own
// logins do, the identity token beside it does.
func TestHandleOfTheIdentityToken(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	h := w.hub()
	h.ready()
	const subject = "did:privy:cm1"
	now := time.Now().Unix()
	login := w.issuer.sign(t, map[string]any{"iss": "privy.io", "aud": "app", "sub": subject, "sid": "s1", "iat": now, "exp": now + 3600})
	token := w.identity(subject, `[{"type":"farcaster","fid":7,"username":"tidewatch","lv":1}]`, time.Hour)
	other := w.identity("did:privy:cm2", `[{"type":"farcaster","fid":8,"username":"other","lv":1}]`, 0)
	for name, bad := range map[string]string{"somebody else's": other, "a login": login, "no token": "x.y.z"} {
		if status, _, body := h.do("POST", "/api/auth/privy", "", "Authorization", "Bearer "+login, "privy-id-token", bad); status != 401 {
			t.Errorf("%s: %d %s", name, status, body)
		}
	}
	if status, _, body := h.do("POST", "/api/auth/privy", "", "Authorization", "Bearer "+token); status != 401 {
		t.Errorf("an identity token as a login: %d %s", status, body)
	}
	status, _, body := h.do("POST", "/api/auth/privy", `{"handle":"admin"}`, "Authorization", "Bearer "+login, "privy-id-token", token)
	if status != 200 || !strings.Contains(body, `"handle":"tidewatch"`) {
		t.Errorf("%d %s", status, body)
	}
}

func TestFollowsOnTwoHubs(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	hubs := []*hub{w.hub(), w.hub()}
	for _, h := range hubs {
		h.ready()
	}
	w.ledger.AddOperator("tidewatch")
	page := hubs[0].signIn(w, "did:privy:mara_k")
	if status, _, body := hubs[0].do("POST", "/api/user/follow", `{"handle":"tidewatch"}`, page...); status != 200 || !strings.Contains(body, `"followers":1,"following":1,"isFollowing":true`) {
		t.Error(status, body)
	}
	if status, _, body := hubs[1].do("DELETE", "/api/user/follow?handle=tidewatch", "", page...); status != 200 || !strings.Contains(body, `"followers":0,"following":0,"isFollowing":false`) {
		t.Error(status, body)
	}
}

func TestDigestGoesToTheLog(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	h := w.hub()
	h.ready()
	path := "/api/admin/daily-digest?secret=" + w.environ["CRON_SECRET"]
	if status, _, body := h.do("POST", path, ""); status != 200 || !strings.Contains(body, `"sent":1`) {
		t.Fatal(status, body)
	}
	if status, _, body := h.do("POST", path, ""); status != 200 || !strings.Contains(body, `"sent":0,"already":true`) {
		t.Error(status, body)
	}
	day := time.Now().UTC().AddDate(0, 0, -1).Format(time.DateOnly)
	if logs := h.logs.String(); strings.Count(logs, "daily digest") != 1 || !strings.Contains(logs, day) || strings.Contains(logs, w.environ["CRON_SECRET"]) {
		t.Error(logs)
	}
}

func TestAccountSettings(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		changes map[string]string
		setting string // of the mistake; empty: none
	}{
		"nothing set":        {nil, ""},
		"payouts":            {map[string]string{"PAYOUT_CHAIN_ID": "8453", "PAYOUT_CHAIN_LABEL": "Base", "PAYOUT_USDC_ADDRESS": wallet}, ""},
		"no label":           {map[string]string{"PAYOUT_CHAIN_ID": "8453", "PAYOUT_USDC_ADDRESS": wallet}, "PAYOUT_CHAIN_LABEL"},
		"no token":           {map[string]string{"PAYOUT_CHAIN_ID": "8453", "PAYOUT_CHAIN_LABEL": "Base"}, "PAYOUT_USDC_ADDRESS"},
		"below zero":         {map[string]string{"PAYOUT_CHAIN_ID": "-1"}, "PAYOUT_CHAIN_ID"},
		"a station of words": {map[string]string{"PARTNER_STATION": "Two Words"}, "PARTNER_STATION"},
		"profiles over http": {map[string]string{"PARTNER_PROFILE_URL": "http://partner.example/"}, "PARTNER_PROFILE_URL"},
		"mail":               {map[string]string{"DIGEST_SMTP_URL": "smtps://u:" + canary + "@mail.example", "DIGEST_FROM": "a@b.example", "DIGEST_TO": "c@d.example,e@f.example"}, ""},
		"mail to nobody":     {map[string]string{"DIGEST_SMTP_URL": "smtps://u:" + canary + "@mail.example", "DIGEST_FROM": "a@b.example"}, "DIGEST_SMTP_URL"},
		"mail by http":       {map[string]string{"DIGEST_SMTP_URL": "http://u:" + canary + "@mail.example", "DIGEST_FROM": "a@b.example", "DIGEST_TO": "c@d.example"}, "DIGEST_SMTP_URL"},
	} {
		environ := maps.Clone(good())
		maps.Copy(environ, c.changes)
		_, err := conf.LoadFrom[Config](environ)
		switch {
		case c.setting == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.setting != "" && (err == nil || !strings.Contains(err.Error(), c.setting) || strings.Contains(err.Error(), canary)):
			t.Errorf("%s: %v", name, err)
		}
	}
}
