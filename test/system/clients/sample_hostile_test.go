package clients

import (
	"bytes"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/signalcast/signalcast/test/system/stack"
)

// wiretap is a proxy in front of the hub that records the tokens of answers. It names itself as the issuer, so that an
// application accepts it as the hub.
type wiretap struct {
	url  string
	away atomic.Bool // every connection is closed

	mu     sync.Mutex
	tokens []string
}

var aToken = regexp.MustCompile(`d[ar]t_[A-Za-z0-9_-]{20,}`)

func standBetween(t *testing.T, hub string) *wiretap {
	t.Helper()
	b := &wiretap{}
	to, err := url.Parse(hub)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) },
		ModifyResponse: func(res *http.Response) error {
			raw, err := io.ReadAll(res.Body)
			if err != nil {
				return err
			}
			b.mu.Lock()
			for _, token := range aToken.FindAllString(string(raw), -1) {
				if !slices.Contains(b.tokens, token) {
					b.tokens = append(b.tokens, token)
				}
			}
			b.mu.Unlock()
			if strings.HasPrefix(res.Request.URL.Path, "/.well-known/") {
				raw = bytes.ReplaceAll(raw, []byte(hub), []byte(b.url))
			}
			res.Body, res.ContentLength = io.NopCloser(bytes.NewReader(raw)), int64(len(raw))
			res.Header.Set("Content-Length", strconv.Itoa(len(raw)))
			return nil
		},
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if b.away.Load() {
			panic(http.ErrAbortHandler)
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	b.url = server.URL
	return b
}

// seen returns the recorded tokens of a kind, oldest first.
func (b *wiretap) seen(kind string) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(b.tokens), func(token string) bool { return !strings.HasPrefix(token, kind) })
}

// visitor is a client that stores cookies and follows no redirect.
type visitor struct {
	t    *testing.T
	app  *sample
	http *http.Client
}

func (app *sample) visitor(t *testing.T) *visitor {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	follow := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &visitor{t: t, app: app, http: &http.Client{Jar: jar, CheckRedirect: follow}}
}

// ask sends a request, with a form if there is one.
func (v *visitor) ask(path string, form url.Values, opts ...stack.Set) (*http.Response, string) {
	v.t.Helper()
	method, body := http.MethodGet, ""
	if form != nil {
		method, body = http.MethodPost, form.Encode()
	}
	r, err := http.NewRequestWithContext(v.t.Context(), method, v.app.url+path, strings.NewReader(body))
	if err != nil {
		v.t.Fatal(err)
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for _, o := range opts {
		o(r)
	}
	res, err := v.http.Do(r)
	if err != nil {
		v.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	return res, string(raw)
}

// gets requires a status and a text and returns the Location header.
func (v *visitor) gets(status int, words, path string, form url.Values, opts ...stack.Set) string {
	v.t.Helper()
	res, page := v.ask(path, form, opts...)
	if res.StatusCode != status || !strings.Contains(page, words) {
		v.t.Fatalf("%s: %d, want %d with %q:\n%s", path, res.StatusCode, status, words, page)
	}
	return res.Header.Get("Location")
}

// consent starts a sign-in, decides at the hub, and returns the query of the redirect to the application.
func (v *visitor) consent(s *stack.Stack, cookies stack.Set, decision, issuer string) string {
	v.t.Helper()
	address := v.gets(http.StatusSeeOther, "", "/signin", nil)
	page := get(v.t, address, cookies).Require(http.StatusOK)
	_, rest, _ := strings.Cut(string(page.Body), `name="request" value="`)
	request, _, _ := strings.Cut(rest, `"`)
	at, _, _ := strings.Cut(address, "?")
	done := post(v.t, at, cookies, stack.Form(url.Values{"request": {request}, "decision": {decision}})).Require(http.StatusSeeOther)
	to, err := url.Parse(done.Header.Get("Location"))
	if err != nil {
		v.t.Fatal(err)
	}
	q := to.Query()
	q.Set("iss", issuer)
	return q.Encode()
}

// The example application accepts no answer of another sign-in and no form of another site, shows and logs no token, files
// a call once, and revokes its tokens at sign-out.
func TestSampleHoldsOn(t *testing.T) {
	t.Parallel()
	s := system(t)
	p := s.NewOperator(t)
	cookies := p.Session(t)
	hub := standBetween(t, s.Hub)
	issuer := hub.url + "/api/protocol/v1"
	// Tokens last 15 minutes: RENEW_EARLY=20m refreshes before each request.
	app := runSample(t, "HUB_URL="+hub.url, "CLIENT_ID="+sampleApp(t, s, p), "RENEW_EARLY=20m")
	v, thief := app.visitor(t), app.visitor(t)
	const strange = "does not belong to a sign-in that was begun in this browser"

	v.gets(http.StatusBadRequest, strange, "/callback?code=x&state=y&iss="+url.QueryEscape(issuer), nil)
	answer := v.consent(s, cookies, "approve", issuer)
	thief.gets(http.StatusBadRequest, strange, "/callback?"+answer, nil)
	thief.gets(http.StatusSeeOther, "", "/signin", nil)
	thief.gets(http.StatusBadRequest, strange, "/callback?"+answer, nil)
	other, err := url.ParseQuery(answer)
	if err != nil {
		t.Fatal(err)
	}
	other.Set("iss", "https://evil.example")
	v.gets(http.StatusBadRequest, strange, "/callback?"+other.Encode(), nil)
	other.Del("iss")
	v.gets(http.StatusBadRequest, strange, "/callback?"+other.Encode(), nil)

	res, _ := v.ask("/callback?"+answer, nil)
	if res.StatusCode != http.StatusSeeOther || res.Header.Get("Location") != "/" {
		t.Fatalf("%d %v\n%s", res.StatusCode, res.Header, app.out)
	}
	kept := 0
	for _, c := range res.Cookies() {
		if c.Value == "" {
			continue
		}
		kept++
		if !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.Domain != "" || c.Secure || len(c.Value) != 26 {
			t.Errorf("cookie: %+v", c)
		}
	}
	if kept != 1 {
		t.Errorf("%d cookies", kept)
	}
	v.gets(http.StatusBadRequest, strange, "/callback?"+answer, nil) // once
	v.gets(http.StatusOK, "@"+p.Handle, "/", nil)
	v.gets(http.StatusSeeOther, "", "/signin", nil) // it does not end the session
	res, page := v.ask("/", nil)
	for name, part := range map[string]string{
		"Content-Security-Policy": "frame-ancestors 'none'", "Cache-Control": "no-store", "Referrer-Policy": "no-referrer",
		"X-Content-Type-Options": "nosniff",
	} {
		if !strings.Contains(res.Header.Get(name), part) {
			t.Errorf("%s: %q", name, res.Header.Get(name))
		}
	}

	market := s.NewNativeMarket(t, 5000, nil)
	form := url.Values{
		"market": {market}, "side": {"YES"}, "price": {"61"}, "take": {`"><script>x()</script>`},
		"key": {keyOfForm(page)},
	}
	for _, from := range []stack.Set{stack.Header("Origin", "https://evil.example"), stack.Header("Sec-Fetch-Site",
		"cross-site"), stack.Header("Sec-Fetch-Site", "same-site"), stack.Header("Origin", "null")} {
		v.gets(http.StatusForbidden, "", "/call", form, from)
		v.gets(http.StatusForbidden, "", "/signout", url.Values{}, from)
	}
	thief.gets(http.StatusUnauthorized, "Please sign in first.", "/call", form)
	bad := url.Values{"market": {market}, "side": {"YES"}, "price": {"NaN"}, "take": {`"><script>x()</script>`}}
	v.gets(http.StatusBadRequest, "from 0 to 100", "/call", bad)
	if _, page := v.ask("/call", bad); strings.Contains(page, "<script>") {
		t.Errorf("what was typed is markup: %s", page)
	}
	v.gets(http.StatusNotFound, "There is no such market.", "/call",
		url.Values{"market": {"native-0199f0a4-0000-7000-8000-00000000ffff"}, "side": {"YES"}, "price": {"5"}})
	v.gets(http.StatusBadRequest, "The hub cannot read this call.", "/call", url.Values{
		"market": {market},
		"side":   {"MAYBE"}, "price": {"5"},
	})

	before := len(hub.seen("dat_"))
	first := v.gets(http.StatusSeeOther, "", "/call", form)
	if again := v.gets(http.StatusSeeOther, "", "/call", form); again != first || !strings.HasPrefix(first, "/receipt/") {
		t.Errorf("the same form twice: %s, %s", first, again)
	}
	if after := len(hub.seen("dat_")); after < before+2 {
		t.Errorf("%d access tokens, then %d: it does not renew", before, after)
	}
	v.gets(http.StatusOK, "at 61 cents", first, nil)
	form.Set("key", "another")
	v.gets(http.StatusConflict, first, "/call", form) // the stored call
	v.gets(http.StatusNotFound, "", "/receipt/..%2f..%2fme", nil)

	dat, drt := hub.seen("dat_"), hub.seen("drt_")
	me := s.Hub + "/api/protocol/v1/me"
	get(t, me, stack.Bearer(dat[len(dat)-1])).Require(http.StatusOK)
	copied := app.visitor(t)
	copied.http.Jar.SetCookies(mustURL(t, app.url), v.http.Jar.Cookies(mustURL(t, app.url)))
	v.gets(http.StatusSeeOther, "", "/signout", url.Values{})
	for _, token := range dat {
		get(t, me, stack.Bearer(token)).RequireError(http.StatusUnauthorized, "unauthenticated")
	}
	copied.gets(http.StatusUnauthorized, "Please sign in first.", "/call", form)

	_, page = v.ask("/", nil)
	for _, token := range append(dat, drt...) {
		if strings.Contains(app.out.String()+page, token) {
			t.Errorf("a token is shown or logged:\n%s", app.out)
		}
	}
}

func mustURL(t *testing.T, address string) *url.URL {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func keyOfForm(page string) string {
	_, rest, _ := strings.Cut(page, `name="key" value="`)
	key, _, _ := strings.Cut(rest, `"`)
	return key
}
