package e2e

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/getkin/kin-openapi/openapi3"
	"golang.org/x/oauth2"

	"github.com/signalcast/signalcast/pkg/localdb"
	"github.com/signalcast/signalcast/pkg/testkit"
)

func asInt(v any) int {
	n, ok := v.(interface{ Int64() (int64, error) })
	if !ok {
		return -1
	}
	i, err := n.Int64()
	if err != nil {
		return -1
	}
	return int(i)
}

// holds tells whether one of the rows has a member with that value.
func holds(rows []any, name string, value any) bool {
	for _, row := range rows {
		if m, ok := row.(map[string]any); ok && same(m[name], value) {
			return true
		}
	}
	return false
}

// startOther runs a second stack with the programs of the shared one.
func startOther(t *testing.T, env ...string) *stack {
	t.Helper()
	up(t)
	dir, err := os.MkdirTemp("", "signalcast-e2e-")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o711); err != nil { // the database may run as another user
		t.Fatal(err)
	}
	r := &launch{dir: filepath.Join(dir, "stack")}
	cmd := exec.Command(filepath.Join(filepath.Dir(shared.run.dir), "local"), "up", "--dir", r.dir, "--fresh", "--ports", "auto", "--bin", filepath.Join(shared.run.dir, "bin"))
	cmd.Env = append(plainEnv(), env...)
	cmd.Stdout, cmd.Stderr = &r.out, &r.out
	if r.child, err = localdb.StartChild(cmd, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		r.stop()
		if err := r.child.Err(); err != nil {
			t.Errorf("the stack did not stop in order: %v\n%s", err, r.out.String())
		}
	})
	if err := r.waitReady(); err != nil {
		t.Fatal(err)
	}
	s, err := read(r.dir)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// scanReport is what a scan answers.
type scanReport struct {
	Busy              bool
	Scanned, Resolved int
	Scored            int
	Skipped           map[string]int
	Errors            []any
	TookMs            int64
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// masked is how an operator of the primary issuer is shown in public.
func (s *stack) masked(subject string) string {
	raw, err := os.ReadFile(filepath.Join(s.dir, "secrets.json"))
	if err != nil {
		return err.Error()
	}
	var secrets struct {
		Mask string `json:"maskSecret"`
	}
	if err := json.Unmarshal(raw, &secrets); err != nil {
		return err.Error()
	}
	mac := hmac.New(sha256.New, []byte(secrets.Mask))
	_, _ = mac.Write([]byte(subject))
	return "op_" + hex.EncodeToString(mac.Sum(nil))[:16]
}

// insist files a call until it is taken, while the ledger comes and goes. It gives no
// id when it never is.
func (p *person) insist(t testing.TB, market string) (id string) {
	testkit.Eventually(t, time.Minute, func() bool {
		a, err := try(t, http.MethodPost, p.s.Hub+"/api/predictions", p.auth(t), payload(obj{"marketId": market, "direction": "NO", "priceAtPrediction": 5000}))
		if err != nil || a.status != http.StatusOK && a.status != http.StatusConflict {
			return false
		}
		id = a.str("id")
		return true
	})
	return id
}

// signIn opens a session and gives its cookies.
func (p *person) signIn(t testing.TB, opts ...option) (cookies option, a *answer) {
	t.Helper()
	a = post(t, p.s.Hub+"/api/auth/privy", append([]option{p.login()}, opts...)...).is(http.StatusOK)
	res := http.Response{Header: a.header}
	var pair []string
	for _, c := range res.Cookies() {
		if !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.MaxAge != 30*24*3600 || c.Secure {
			t.Errorf("cookie: %+v", c)
		}
		pair = append(pair, c.Name+"="+c.Value)
	}
	if len(pair) != 2 {
		t.Fatalf("%d cookies", len(pair))
	}
	return with("Cookie", strings.Join(pair, "; ")), a
}

// frame is what a server sends, as far as tests look at it.
type frame struct {
	Op       string          `json:"op"`
	ID       string          `json:"id"`
	Channel  string          `json:"channel"`
	Channels []string        `json:"channels"`
	Seq      int64           `json:"seq"`
	Prev     *int64          `json:"prev"`
	Type     string          `json:"type"`
	At       string          `json:"at"`
	Data     json.RawMessage `json:"data"`
	Error    string          `json:"error"`
	Head     int64           `json:"head"`
	Protocol string          `json:"protocol"`
}

// socket is one connection; last is the newest number seen on each channel.
type socket struct {
	t    testing.TB
	conn *websocket.Conn
	last map[string]int64
}

// connect opens a websocket and takes its hello.
func (s *stack) connect(t testing.TB, header http.Header) *socket {
	t.Helper()
	k, err := s.tryConnect(t, header)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func (s *stack) tryConnect(t testing.TB, header http.Header) (*socket, error) {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	conn, res, err := websocket.Dial(ctx, strings.Replace(s.API, "http", "ws", 1)+"/ws", &websocket.DialOptions{
		HTTPHeader: header, Subprotocols: []string{"signal.v1"}, HTTPClient: httpClient,
	})
	if err != nil {
		return nil, err
	}
	if got := res.Header.Get("Sec-WebSocket-Protocol"); got != "signal.v1" {
		t.Errorf("subprotocol %q", got)
	}
	t.Cleanup(func() { _ = conn.CloseNow() })
	k := &socket{t: t, conn: conn, last: map[string]int64{}}
	hello, err := k.next(10 * time.Second)
	if err == nil && (hello.Op != "hello" || hello.Protocol != "signal.v1") {
		t.Errorf("first frame: %+v", hello)
	}
	return k, err
}

func (k *socket) say(v any) {
	k.t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		k.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(k.t.Context(), 5*time.Second)
	defer cancel()
	if err := k.conn.Write(ctx, websocket.MessageText, raw); err != nil {
		k.t.Fatal(err)
	}
}

// next reads one frame and judges it; beats are passed over.
func (k *socket) next(within time.Duration) (frame, error) {
	ctx, cancel := context.WithTimeout(k.t.Context(), within)
	defer cancel()
	for {
		kind, raw, err := k.conn.Read(ctx)
		if err != nil {
			return frame{}, err
		}
		var f frame
		if err := json.Unmarshal(raw, &f); err != nil || kind != websocket.MessageText {
			k.t.Fatalf("frame %q: %v", raw, err)
		}
		k.judge(f, raw)
		if f.Op != "beat" {
			return f, nil
		}
	}
}

// judge holds a frame against ws.md: the chain of its channel, no raw id, data of
// the shape that events.md names.
func (k *socket) judge(f frame, raw []byte) {
	k.t.Helper()
	if strings.Contains(string(raw), "did:idp:") || keyForm.Match(raw) {
		k.t.Errorf("a frame shows what it must not: %s", raw)
	}
	if f.Op != "event" || f.Seq == 0 {
		return
	}
	if last, any := k.last[f.Channel]; any && (f.Prev == nil || *f.Prev != last) {
		k.t.Errorf("%s: after %d comes %d with prev %v", f.Channel, last, f.Seq, f.Prev)
	}
	k.last[f.Channel] = f.Seq
	k.named(f)
	schema := map[string]string{"signal.created": "FeedSignal", "signal.event": "SignalEvent", "market.resolved": "Outcome", "market.disputed": "Outcome"}[f.Type]
	if schema == "" {
		return
	}
	var data map[string]any
	if err := json.Unmarshal(f.Data, &data); err != nil {
		k.t.Errorf("%s: %v", f.Type, err)
		return
	}
	var value any = data
	switch f.Type {
	case "signal.event":
		value = data["event"]
	case "market.resolved", "market.disputed":
		delete(data, "marketId")
		delete(data, "marketTitle")
	}
	doc, err := described()
	if err != nil {
		k.t.Fatal(err)
	}
	if err := doc.spec.Components.Schemas[schema].Value.VisitJSON(value, openapi3.EnableJSONSchema2020(), openapi3.MultiErrors()); err != nil {
		k.t.Errorf("%s: %v\n%s", f.Type, err, raw)
	}
}

// named fails if the event does not name what docs/protocol/events.md says of each type: its
// market, and of a call also its receipt and operator.
func (k *socket) named(f frame) {
	k.t.Helper()
	var d struct{ ID, SignalID, ReceiptURL, Handle, MarketID, MarketTitle string }
	call, market := strings.HasPrefix(f.Type, "signal."), strings.HasPrefix(f.Type, "market.")
	if err := json.Unmarshal(f.Data, &d); err != nil {
		k.t.Errorf("%s: %v", f.Type, err)
		return
	}
	if (call || market) && (d.MarketID == "" || d.MarketTitle == "") {
		k.t.Errorf("%s does not name its market: %s", f.Type, f.Data)
	}
	if call && (d.ID == "" || d.SignalID != "" && d.SignalID != d.ID || d.Handle == "" || !strings.HasSuffix(d.ReceiptURL, "/receipts/"+d.ID)) {
		k.t.Errorf("%s does not name its call: %s", f.Type, f.Data)
	}
}

// until reads frames up to one that fits.
func (k *socket) until(what string, fits func(frame) bool) frame {
	k.t.Helper()
	end := time.Now().Add(15 * time.Second)
	for {
		f, err := k.next(time.Until(end))
		if err != nil {
			k.t.Fatalf("waiting for %s: %v", what, err)
		}
		if fits(f) {
			return f
		}
	}
}

// snapshots reads until each of the channels has said how it stands; they come in
// any order.
func (k *socket) snapshots(channels ...string) map[string]string {
	k.t.Helper()
	data := map[string]string{}
	for _, c := range channels {
		for _, has := data[c]; !has; _, has = data[c] {
			f := k.until("the snapshot of "+c, func(f frame) bool { return f.Op == "snapshot" && slices.Contains(channels, f.Channel) })
			data[f.Channel] = string(f.Data)
		}
	}
	return data
}

// event reads up to the event of that type on that channel.
func (k *socket) event(channel, kind string) frame {
	k.t.Helper()
	return k.until(kind+" on "+channel, func(f frame) bool { return f.Op == "event" && f.Channel == channel && f.Type == kind })
}

// ends reads to the end of the connection and demands its close code.
func (k *socket) ends(code websocket.StatusCode) {
	k.t.Helper()
	for {
		_, err := k.next(15 * time.Second)
		if err == nil {
			continue
		}
		if got := websocket.CloseStatus(err); got != code {
			k.t.Errorf("closed with %d, want %d: %v", got, code, err)
		}
		return
	}
}

// base is the address of a service.
func (s *stack) base(host string) string {
	return map[string]string{"hub": s.Hub, "api": s.API, "clock": s.Clock}[host]
}

// target fills the parameters of a path.
func target(path, market string) string {
	return strings.NewReplacer(
		"{marketId}", market, "{id}", "0199f0a4-0000-7000-8000-00000000ffff", "{file}", "app.css", "{rest}", "of/old",
	).Replace(path)
}

// eventually is testkit.Eventually with a word for what did not come true.
func eventually(t testing.TB, ok func() bool, what string) {
	t.Helper()
	done := false
	defer func() {
		if !done {
			t.Logf("not seen: %s", what)
		}
	}()
	testkit.Eventually(t, 30*time.Second, ok)
	done = true
}

// scan asks for the outcomes of all venues until nobody else is asking.
func (s *stack) scan(t testing.TB) *answer {
	t.Helper()
	var a *answer
	testkit.Eventually(t, 30*time.Second, func() bool {
		a = post(t, s.Hub+"/api/admin/resolve-signals", s.admin()).is(http.StatusOK).has(obj{"ok": true, "mode": "scan"})
		var report struct{ Busy bool }
		a.into(&report)
		return !report.Busy
	})
	return a
}

// visited is an app's own server: its callback leads on to a page under another name,
// as apps do, which a browser holds to the policy of the form that began it.
func visited(t *testing.T) (callback string, answers <-chan url.Values) {
	t.Helper()
	got := make(chan url.Values, 4)
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	mux.HandleFunc("/cb", func(w http.ResponseWriter, r *http.Request) {
		got <- r.URL.Query()
		http.Redirect(w, r, strings.Replace(server.URL, "127.0.0.1", "localhost", 1)+"/done", http.StatusSeeOther)
	})
	mux.HandleFunc("/done", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprint(w, `<link rel="icon" href="data:,"><p id="done">Connected.</p>`)
	})
	return server.URL + "/cb", got
}

// app registers an app of this person and gives it as its client library sees it.
func (p *person) app(t testing.TB, callback string, scopes ...string) *oauth2.Config {
	t.Helper()
	registered, _, _ := strings.Cut(callback, "?")
	u, err := url.Parse(registered)
	if err != nil {
		t.Fatal(err)
	}
	u.Host = u.Hostname() // any port of the loopback will do
	id := post(t, p.s.Hub+"/api/dev/apps", p.login(), payload(obj{
		"name": "Tide <script>table()</script>", "type": "public", "redirectUris": []string{u.String()}, "scopes": scopes,
	})).is(http.StatusCreated).str("clientId")
	meta := get(t, p.s.Hub+"/.well-known/oauth-authorization-server/api/protocol/v1").is(http.StatusOK)
	return &oauth2.Config{
		ClientID: id, RedirectURL: callback, Scopes: scopes,
		Endpoint: oauth2.Endpoint{
			AuthURL: meta.str("authorization_endpoint"), TokenURL: meta.str("token_endpoint"), AuthStyle: oauth2.AuthStyleInParams,
		},
	}
}
