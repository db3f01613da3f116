package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/signalcast/signalcast/deploy/venuesim/internal/control"
	"github.com/signalcast/signalcast/deploy/venuesim/internal/server"
)

func start(t *testing.T, data ...string) string {
	t.Helper()
	h, err := server.Handler(server.Config{Seed: 4, Data: data, Now: time.Now}, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return srv.URL
}

func post(t *testing.T, url, body string) (int, map[string]any) {
	t.Helper()
	resp, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var v map[string]any
	if err := json.NewDecoder(resp.Body).Decode(&v); err != nil {
		t.Fatalf("%s: %v", url, err)
	}
	return resp.StatusCode, v
}

func get(t *testing.T, url string) (*http.Response, string) {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(body)
}

func TestCreateChangeRead(t *testing.T) {
	t.Parallel()
	base := start(t)
	status, made := post(t, base+"/sim/polymarket/markets", `{"question":"Will the invented pier open?","yesPrice":0.375,"endDate":"2027-02-01T10:00:00Z",
		"outcomes":["No","Yes"],"volume":1234.5,"tags":["Science"],"category":"odd","description":"d","eventTitle":"Piers"}`)
	if status != http.StatusCreated {
		t.Fatalf("%d %v", status, made)
	}
	url := base + "/gamma/markets/" + made["id"].(string)
	var m map[string]any
	read := func() {
		_, body := get(t, url+"?include_tag=true")
		m = nil
		if err := json.Unmarshal([]byte(body), &m); err != nil {
			t.Fatal(err)
		}
	}
	read()
	event := m["events"].([]any)[0].(map[string]any)
	if m["outcomePrices"] != `["0.625", "0.375"]` || m["endDate"] != "2027-02-01T10:00:00Z" || m["volume"] != "1234.5" ||
		m["category"] != "odd" || event["title"] != "Piers" || m["tags"].([]any)[0].(map[string]any)["slug"] != "science" {
		t.Errorf("%v", m)
	}
	for _, step := range []struct{ body, key, want string }{
		{`{"yesPrice":0.5}`, "outcomePrices", `["0.5", "0.5"]`},
		{`{"state":"proposed","outcome":"YES"}`, "umaResolutionStatus", "proposed"},
		{`{"state":"disputed"}`, "umaResolutionStatus", "disputed"},
		{`{"state":"resolved","outcome":"YES"}`, "outcomePrices", `["0", "1"]`},
	} {
		if status, v := post(t, base+"/sim/polymarket/markets/"+made["id"].(string), step.body); status != http.StatusOK {
			t.Fatalf("%s: %d %v", step.body, status, v)
		}
		if read(); m[step.key] != step.want {
			t.Errorf("%s: %s is %v", step.body, step.key, m[step.key])
		}
	}
}

func TestBadControlInputIsRefused(t *testing.T) {
	t.Parallel()
	base := start(t)
	_, made := post(t, base+"/sim/polymarket/markets", `{"question":"q?","yesPrice":0.5}`)
	one := "/sim/polymarket/markets/" + made["id"].(string)
	for _, c := range []struct {
		path, body string
		status     int
	}{
		{"/sim/polymarket/markets", `{`, 400},
		{"/sim/polymarket/markets", `{"question":"q?"}`, 400},
		{"/sim/polymarket/markets", `{"question":" ","yesPrice":0.5}`, 400},
		{"/sim/polymarket/markets", `{"question":"q?","yesPrice":1.2}`, 400},
		{"/sim/polymarket/markets", `{"question":"q?","yesPrice":"0.5"}`, 400},
		{"/sim/polymarket/markets", `{"question":"q?","yesPrice":0.5,"endDate":"tomorrow"}`, 400},
		{"/sim/polymarket/markets", `{"question":"q?","yesPrice":0.5,"outcomes":["Yes"]}`, 400},
		{"/sim/polymarket/markets", `{"question":"q?","yesPrice":0.5,"volume":-1}`, 400},
		{"/sim/polymarket/markets", `{"question":"q?","yesprice2":0.5}`, 400},
		{"/sim/polymarket/markets", `{"question":"q?","yesPrice":0.5} {}`, 400},
		{"/sim/polymarket/markets", `"` + strings.Repeat("x", 70_000) + `"`, 413},
		{one, `{}`, 400},
		{one, `{"state":"gone"}`, 400},
		{one, `{"outcome":"MAYBE"}`, 400},
		{one, `{"state":"resolved"}`, 400},
		{"/sim/polymarket/markets/17", `{"yesPrice":0.5}`, 404},
		{"/sim/polymarket/markets/x17", `{"yesPrice":0.5}`, 404},
		{"/sim/polymarket/fault", `{"mode":"explode","seconds":1}`, 400},
		{"/sim/polymarket/fault", `{"mode":"hang"}`, 400},
		{"/sim/polymarket/fault", `{"mode":"hang","seconds":-1}`, 400},
		{"/sim/polymarket/fault", `{"mode":"hang","seconds":1,"delay":1}`, 400},
		{"/sim/polymarket/fault", `{"mode":"slow","seconds":1,"delay":61}`, 400},
		{"/sim/elsewhere/markets", `{"question":"q?","yesPrice":0.5}`, 404},
		{"/sim/polymarket/nothing", `{}`, 404},
	} {
		status, v := post(t, base+c.path, c.body)
		if status != c.status || v["error"] == nil || v["message"] == nil {
			t.Errorf("%s %.40s: %d %v, want %d", c.path, c.body, status, v, c.status)
		}
	}
}

// failing starts a simulator and gives a switch for its faults.
func failing(t *testing.T) (base, page string, set func(control.Mode, float64)) {
	t.Helper()
	base = start(t)
	return base, base + "/gamma/markets/keyset?limit=2", func(mode control.Mode, seconds float64) {
		t.Helper()
		if status, v := post(t, base+"/sim/polymarket/fault", fmt.Sprintf(`{"mode":%q,"seconds":%v}`, mode, seconds)); status != 200 {
			t.Fatalf("%d %v", status, v)
		}
	}
}

func TestFaultsThatAnswer(t *testing.T) {
	t.Parallel()
	base, page, set := failing(t)

	set(control.Refuse, 60)
	if resp, err := http.Get(page); err == nil {
		resp.Body.Close()
		t.Error("refuse: an answer came")
	}
	if resp, _ := get(t, base+"/healthz"); resp.StatusCode != 200 {
		t.Errorf("healthz under fault: %d", resp.StatusCode)
	}

	set(control.Limited, 60)
	if resp, body := get(t, page); resp.StatusCode != 429 || strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") {
		t.Errorf("429: %d %s", resp.StatusCode, body)
	}

	set(control.Garbage, 60)
	forms := map[string]bool{}
	for range 3 {
		resp, body := get(t, page)
		switch {
		case strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html"):
			forms["html"] = true
		case json.Valid([]byte(body)):
			forms["types"] = true
		default:
			forms["truncated"] = true
		}
	}
	if len(forms) != 3 {
		t.Errorf("garbage came in %d forms: %v", len(forms), forms)
	}
}

func TestHanging(t *testing.T) {
	t.Parallel()
	_, page, set := failing(t)
	set(control.Hang, 60)
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	req, _ := http.NewRequestWithContext(ctx, http.MethodGet, page, nil)
	if resp, err := http.DefaultClient.Do(req); !errors.Is(err, context.DeadlineExceeded) {
		resp.Body.Close()
		t.Errorf("hang: %v", err)
	}
	set(control.Hang, 0.05)
	if resp, _ := get(t, page); resp.StatusCode != 200 {
		t.Errorf("after the seconds are over: %d", resp.StatusCode)
	}

	set(control.Hang, 60)
	done := make(chan int, 1)
	go func() {
		resp, err := http.Get(page)
		if err != nil {
			done <- 0
			return
		}
		resp.Body.Close()
		done <- resp.StatusCode
	}()
	set(control.None, 0)
	select {
	case status := <-done:
		if status != 200 {
			t.Errorf("hang ended by none: %d", status)
		}
	case <-time.After(5 * time.Second):
		t.Error("mode none did not free the request that hung")
	}
}

// TestRecordedMaterial runs over the recorded answers when they are at hand:
// every record must come back exactly as it was recorded.
func TestRecordedMaterial(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("VENUE_RECORDED")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "..", "..", "shared", "venues", "recorded")
	}
	raw, err := os.ReadFile(filepath.Join(dir, "polymarket", "gamma-markets-2026.json"))
	if err != nil {
		t.Logf("no recorded material at %s: nothing to compare", dir)
		return
	}
	base := start(t, dir)
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		t.Fatal(err)
	}
	for _, want := range list {
		var head struct{ ID string }
		if err := json.Unmarshal(want, &head); err != nil {
			t.Fatal(err)
		}
		var compact bytes.Buffer
		if err := json.Compact(&compact, want); err != nil {
			t.Fatal(err)
		}
		resp, body := get(t, base+"/gamma/markets/"+head.ID)
		if resp.StatusCode != 200 || !sameJSON(t, body, compact.String()) {
			t.Fatalf("market %s: %d, not as recorded", head.ID, resp.StatusCode)
		}
	}
	_, body := get(t, base+"/gamma/markets/keyset?closed=true&limit=100")
	if !strings.Contains(body, `"next_cursor"`) {
		t.Error("the recorded finished markets do not fill a page")
	}
}

// sameJSON compares without the escapes that encoding adds.
func sameJSON(t *testing.T, a, b string) bool {
	t.Helper()
	var x, y bytes.Buffer
	json.HTMLEscape(&x, []byte(a))
	json.HTMLEscape(&y, []byte(b))
	return x.String() == y.String()
}

type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) { l.mu.Lock(); defer l.mu.Unlock(); return l.buf.Write(p) }

func (l *lines) String() string { l.mu.Lock(); defer l.mu.Unlock(); return l.buf.String() }

func TestRunPrintsItsAddressAndStops(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	out, ended := &lines{}, make(chan error, 1)
	go func() { ended <- server.Run(ctx, server.Config{Addr: "127.0.0.1:0", Seed: 1, Now: time.Now}, out) }()
	deadline := time.Now().Add(10 * time.Second)
	for !strings.Contains(out.String(), "http://") {
		if time.Now().After(deadline) {
			t.Fatal("no address was printed")
		}
		select {
		case err := <-ended:
			t.Fatal(err)
		case <-time.After(5 * time.Millisecond):
		}
	}
	_, addr, _ := strings.Cut(strings.TrimSpace(out.String()), "http://")
	if resp, body := get(t, "http://"+addr+"/healthz"); resp.StatusCode != 200 || !strings.Contains(body, "true") {
		t.Errorf("healthz: %d %s", resp.StatusCode, body)
	}
	if status, _ := post(t, "http://"+addr+"/sim/polymarket/fault", `{"mode":"hang","seconds":600}`); status != 200 {
		t.Fatal("fault was not set")
	}
	hung := make(chan struct{})
	go func() {
		defer close(hung)
		if resp, err := http.Get("http://" + addr + "/gamma/markets/keyset"); err == nil {
			resp.Body.Close()
		}
	}()
	stop()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the simulator did not stop")
	}
	<-hung
}

func TestConfigFaultsAreNamed(t *testing.T) {
	t.Parallel()
	env := func(m map[string]string) func(string) string { return func(k string) string { return m[k] } }
	for _, wrong := range []map[string]string{
		{"VENUE_SIM_SEED": "x"}, {"VENUE_SIM_MARKETS": "x"}, {"VENUE_SIM_MARKETS": "0"}, {"VENUE_SIM_MARKETS": "100001"},
	} {
		if _, err := server.FromEnv(env(wrong), time.Now); err == nil {
			t.Errorf("%v was accepted", wrong)
		}
	}
	c, err := server.FromEnv(env(map[string]string{"VENUE_SIM_SEED": "9", "VENUE_SIM_MARKETS": "70", "VENUE_SIM_DATA": "a::b", "HTTP_ADDR": "127.0.0.1:1"}), time.Now)
	if err != nil || c.Seed != 9 || c.Size != 70 || len(c.Data) != 2 || c.Addr != "127.0.0.1:1" {
		t.Errorf("%+v %v", c, err)
	}
}
