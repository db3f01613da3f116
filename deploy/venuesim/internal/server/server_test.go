package server_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/signalcast/signalcast/deploy/venuesim/internal/server"
	"github.com/signalcast/signalcast/pkg/config"
	"github.com/signalcast/signalcast/pkg/testkit"
)

// start runs a simulator and returns its URL.
func start(t *testing.T, data ...string) string {
	t.Helper()
	h, err := server.Handler(server.Config{Seed: 4, Size: 3000, Data: data, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return srv.URL
}

// do sends a request, requires the status, and returns the JSON answer.
func do(t *testing.T, url, body string, status int) (v any) {
	t.Helper()
	method := http.MethodGet
	if body != "" {
		method = http.MethodPost
	}
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil || json.Unmarshal(raw, &v) != nil || resp.StatusCode != status {
		t.Fatalf("%s %s: status %d, want %d: %.300s", url, body, resp.StatusCode, status, raw)
	}
	return v
}

// market is a market that a test created.
type market struct{ base, venue, id string }

func create(t *testing.T, base, venue, more string) market {
	t.Helper()
	body := `{"question":"Will the invented lighthouse be lit?","yesPrice":0.615,"description":"Invented rules."` + more + `}`
	return market{base, venue, member(do(t, base+"/sim/"+venue+"/markets", body, http.StatusCreated), "id").(string)}
}

func (m market) change(t *testing.T, body string) {
	t.Helper()
	do(t, m.base+"/sim/"+m.venue+"/markets/"+m.id, body, http.StatusOK)
}

// token returns the token id of YES of a market of Polymarket.
func (m market) token(t *testing.T) string {
	t.Helper()
	var tokens []string
	text := member(do(t, m.base+"/gamma/markets/"+m.id, "", http.StatusOK), "clobTokenIds").(string)
	if err := json.Unmarshal([]byte(text), &tokens); err != nil {
		t.Fatal(err)
	}
	return tokens[0]
}

// read replaces the words in braces in path, requests the path, and returns the JSON answer. The test fails unless the answer
// has this status.
func (m market) read(t *testing.T, path string, status int) any {
	t.Helper()
	key := m.id
	for _, prefix := range []string{"kalshi-", "lmt-", "manifold-"} {
		key = strings.TrimPrefix(key, prefix)
	}
	words := []string{"{key}", key, "{number}", key[strings.LastIndex(key, "-")+1:]}
	if m.venue == "polymarket" {
		record := do(t, m.base+"/gamma/markets/"+m.id, "", http.StatusOK)
		words = append(words, "{token}", m.token(t), "{condition}", member(record, "conditionId").(string))
	}
	return do(t, m.base+strings.NewReplacer(words...).Replace(path), "", status)
}

func TestControlRefusesInvalidInput(t *testing.T) {
	t.Parallel()
	base := start(t)
	future := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	id := map[string]string{}
	for _, venue := range []string{"polymarket", "kalshi", "limitless", "manifold"} {
		id[venue] = create(t, base, venue, "").id
	}
	for _, tc := range []struct {
		path, body string
		status     int
	}{
		{"polymarket/markets", `{`, 400},
		{"polymarket/markets", `{"question":"q?"}`, 400},
		{"polymarket/markets", `{"question":"q?","yesPrice":1.2}`, 400},
		{"polymarket/markets", `{"question":"q?","yesPrice":0.5,"endDate":"tomorrow"}`, 400},
		{"polymarket/markets", `{"question":"q?","yesPrice":0.5,"outcomes":["Yes"]}`, 400},
		{"polymarket/markets", `{"question":"q?","yesPrice":0.5,"volume":-1}`, 400},
		{"polymarket/markets", `{"question":"q?","yesPrice":0.5,"unknown":1}`, 400},
		{"polymarket/markets", `{"question":"q?","yesPrice":0.5,"startDate":"` + future + `"}`, 400},
		{"polymarket/markets", `{"question":"` + strings.Repeat("x", 70_000) + `"}`, 413},
		{"polymarket/markets", `{"question":"q?","yesPrice":0.5,"creator":"u2"}`, 400},
		{"kalshi/markets", `{"question":"q?","yesPrice":0.5,"outcomes":["Up","Down"]}`, 400},
		{"limitless/markets", `{"question":"q?","yesPrice":0.5,"kind":"odd"}`, 400},
		{"elsewhere/markets", `{"question":"q?","yesPrice":0.5}`, 404},
		{"polymarket/nothing", `{}`, 404},
		{"polymarket/markets/17", `{"yesPrice":0.5}`, 404},
		{"kalshi/markets/" + id["polymarket"], `{"yesPrice":0.5}`, 404},
		{"polymarket/markets/" + id["polymarket"], `{}`, 400},
		{"polymarket/markets/" + id["polymarket"], `{"state":"other"}`, 400},
		{"polymarket/markets/" + id["polymarket"], `{"outcome":"MAYBE"}`, 400},
		{"polymarket/markets/" + id["polymarket"], `{"state":"resolved"}`, 400},
		{"polymarket/markets/" + id["polymarket"], `{"yesBid":0.4}`, 400},
		{"polymarket/markets/" + id["polymarket"], `{"yesBid":0.4,"yesAsk":0.5,"spread":0.1}`, 400},
		{"polymarket/markets/" + id["polymarket"], `{"state":"closed","closeTime":"` + future + `"}`, 400},
		{"kalshi/markets/" + id["kalshi"], `{"state":"open","venueState":"finalized"}`, 400},
		{"kalshi/markets/" + id["kalshi"], `{"state":"resolved","outcome":"YES","resolution":"void"}`, 400},
		{"kalshi/markets/" + id["kalshi"], `{"state":"resolved","outcome":"YES","payout":0.5}`, 400},
		{"manifold/markets/" + id["manifold"], `{"state":"disputed"}`, 400},
		{"manifold/markets/" + id["manifold"], `{"spread":0.1}`, 400},
		{"polymarket/fault", `{"mode":"explode","seconds":1}`, 400},
		{"polymarket/fault", `{"mode":"hang"}`, 400},
		{"polymarket/fault", `{"mode":"hang","seconds":1,"delay":1}`, 400},
		{"kalshi/fault", `{"mode":"hang","seconds":1,"on":"sockets"}`, 400},
		{"clock", `{"at":"noon"}`, 400},
	} {
		t.Run(tc.path+" "+tc.body[:min(len(tc.body), 60)], func(t *testing.T) {
			t.Parallel()
			if got := do(t, base+"/sim/"+tc.path, tc.body, tc.status); member(got, "error") == nil || member(got, "message") == nil {
				t.Errorf("answer %v; want error and message", got)
			}
		})
	}
}

func TestFaultsOfReads(t *testing.T) {
	t.Parallel()
	base := start(t)
	fault := func(body string) { t.Helper(); do(t, base+"/sim/limitless/fault", body, http.StatusOK) }
	get := func() (*http.Response, string, error) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		req, _ := http.NewRequestWithContext(ctx, http.MethodGet, base+"/limitless/markets/active", nil)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return nil, "", err
		}
		defer resp.Body.Close()
		raw, err := io.ReadAll(resp.Body)
		return resp, string(raw), err
	}
	for _, mode := range []string{"refuse", "hang", "slow"} {
		fault(`{"mode":"` + mode + `","seconds":60}`)
		if resp, body, err := get(); err == nil {
			t.Errorf("%s: status %d %.80s; want no answer within half a second", mode, resp.StatusCode, body)
		}
	}
	fault(`{"mode":"slow","seconds":60,"delay":0.01}`)
	if resp, _, err := get(); err != nil || resp.StatusCode != http.StatusOK {
		t.Errorf("slow by 10 ms: %v", err)
	}
	fault(`{"mode":"429","seconds":60}`)
	resp, body, err := get()
	if err != nil || resp.StatusCode != http.StatusTooManyRequests || !strings.Contains(body, "Throttler") {
		t.Errorf("429: %v %.80s", err, body)
	}
	fault(`{"mode":"garbage","seconds":60}`)
	var forms []string
	for range 3 {
		resp, body, err := get()
		if err != nil {
			t.Fatal(err)
		}
		forms = append(forms, fmt.Sprint(strings.Contains(resp.Header.Get("Content-Type"), "json"), json.Valid([]byte(body))))
	}
	if got := strings.Join(forms, ", "); got != "true false, false false, true true" {
		t.Errorf("garbage is JSON by header and valid: %s; want a half answer, HTML and wrong types", got)
	}
	do(t, base+"/gamma/markets?limit=1", "", http.StatusOK) // a fault affects one venue only
	fault(`{"mode":"none"}`)
	if resp, _, err := get(); err != nil || resp.StatusCode != http.StatusOK {
		t.Errorf("after the fault: %v", err)
	}
}

// connect opens a websocket to the market channel. It fails the test unless the connection is accepted or refused as accepted
// states. say sends a message, and next returns the next message.
func connect(t *testing.T, base string, accepted bool) (say func(string), next func() string) {
	t.Helper()
	conn, _, err := websocket.Dial(t.Context(), strings.Replace(base, "http", "ws", 1)+"/ws/market", nil)
	if (err == nil) != accepted {
		t.Fatalf("dial: %v, want accepted %v", err, accepted)
	}
	if err != nil {
		return nil, nil
	}
	t.Cleanup(func() { _ = conn.CloseNow() })
	conn.SetReadLimit(1 << 20)
	messages := make(chan string, 100)
	go func() {
		defer close(messages)
		for {
			_, raw, err := conn.Read(t.Context())
			if err != nil {
				return
			}
			messages <- string(raw)
		}
	}()
	say = func(text string) { _ = conn.Write(t.Context(), websocket.MessageText, []byte(text)) }
	next = func() string {
		select {
		case text, open := <-messages:
			if !open {
				return "closed"
			}
			return text
		case <-time.After(600 * time.Millisecond):
			return "nothing"
		}
	}
	return say, next
}

func requireMessage(t *testing.T, next func() string, part string) string {
	t.Helper()
	text := next()
	if !strings.Contains(text, part) {
		t.Fatalf("message %.300s; want %s", text, part)
	}
	return text
}

func TestMarketChannel(t *testing.T) {
	t.Parallel()
	base := start(t)
	m := create(t, base, "polymarket", "")
	fault := func(body string) { t.Helper(); do(t, base+"/sim/polymarket/fault", body, http.StatusOK) }
	say, next := connect(t, base, true)
	say(`{"type":"market","assets_ids":["` + m.token(t) + `","77"],"initial_dump":true}`)
	var books any
	if err := json.Unmarshal([]byte(requireMessage(t, next, `"event_type":"book"`)), &books); err != nil || len(books.([]any)) != 1 {
		t.Errorf("books: %v %v; want one", books, err)
	}
	say("PING")
	requireMessage(t, next, "PONG")
	if got := do(t, base+"/sim/polymarket/sockets", "", 200); fmt.Sprint(got) != "map[ever:1 markets:["+m.id+"] open:1]" {
		t.Errorf("sockets: %v", got)
	}
	m.change(t, `{"yesPrice":0.305}`)
	requireMessage(t, next, `"best_ask":"0.31","best_bid":"0.30"`)
	requireMessage(t, next, `"event_type":"last_trade_price"`)

	fault(`{"mode":"hang","seconds":60,"on":"sockets"}`)
	m.change(t, `{"yesPrice":0.205}`)
	requireMessage(t, next, "nothing")
	fault(`{"mode":"none","on":"sockets"}`)
	requireMessage(t, next, `"best_ask":"0.21"`)
	fault(`{"mode":"429","seconds":60,"on":"sockets"}`)
	connect(t, base, false)
	m.read(t, "/gamma/markets/{key}", http.StatusOK) // a fault of the websocket does not affect reads
	fault(`{"mode":"refuse","seconds":60}`)
	requireMessage(t, next, "last_trade_price")
	requireMessage(t, next, "closed")
	testkit.Eventually(t, 10*time.Second, func() bool {
		return member(do(t, base+"/sim/polymarket/sockets", "", http.StatusOK), "open") == 0.0
	})
}

func TestClockOfAllVenues(t *testing.T) {
	t.Parallel()
	base := start(t)
	m := create(t, base, "manifold", `,"endDate":"2027-02-01T10:00:00Z"`)
	do(t, base+"/sim/clock", `{"at":"2027-02-01T09:00:00Z"}`, http.StatusOK)
	m.change(t, `{"state":"closed"}`)
	if got := member(m.read(t, "/manifold/v0/market/{key}", http.StatusOK), "closeTime"); got != 1801472400000.0 {
		t.Errorf("close time %v; want the time of the clock", got)
	}
}

func TestRecordedAnswersBecomeMarkets(t *testing.T) {
	t.Parallel()
	folder := "../../../../../shared/venues/recorded"
	if _, err := os.Stat(folder); err != nil {
		t.Skip("no recorded answers")
	}
	base := start(t, folder)
	read := func(path string) map[string]any {
		t.Helper()
		return do(t, base+path, "", http.StatusOK).(map[string]any)
	}
	m := read("/gamma/markets/553861")
	if m["question"] != "Will the Indiana Pacers win the 2026 NBA Finals?" || m["outcomePrices"] != `["0.0015", "0.9985"]` ||
		m["closed"] != false {
		t.Errorf("recorded market: %v", m)
	}
	event := read("/kalshi/trade-api/v2/events/KXELONMARS-99")["event"].(map[string]any)
	if event["category"] != "World" || event["series_ticker"] != "KXELONMARS" {
		t.Errorf("recorded event: %v", event)
	}
	if list := read("/limitless/markets/active")["data"].([]any); len(list) == 0 {
		t.Error("a venue without recorded answers has no markets")
	}
}

func TestRunPrintsItsAddressAndStops(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	printed, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- server.Run(ctx, server.Config{Addr: "127.0.0.1:0", Seed: 1, Size: 70, Now: time.Now}, out)
	}()
	line, err := bufio.NewReader(printed).ReadString('\n')
	_, addr, ok := strings.Cut(strings.TrimSpace(line), "venuesim listening on http://")
	if err != nil || !ok {
		t.Fatalf("printed %q, %v", line, err)
	}
	do(t, "http://"+addr+"/healthz", "", http.StatusOK)
	do(t, "http://"+addr+"/readyz", "", http.StatusOK)
	do(t, "http://"+addr+"/sim/polymarket/fault", `{"mode":"hang","seconds":600}`, http.StatusOK)
	go func() {
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
		t.Fatal("the simulator did not stop within 10 s")
	}
}

func TestSettings(t *testing.T) {
	t.Parallel()
	for _, wrong := range []map[string]string{{"VENUE_SIM_SEED": "x"}, {"VENUE_SIM_MARKETS": "0"}, {"VENUE_SIM_MARKETS": "100001"}} {
		if _, err := config.LoadFrom[server.Config](wrong); err == nil {
			t.Errorf("settings %v were accepted", wrong)
		}
	}
	c, err := config.LoadFrom[server.Config](map[string]string{
		"VENUE_SIM_SEED": "9", "VENUE_SIM_MARKETS": "70", "VENUE_SIM_DATA": "a::b", "HTTP_ADDR": "127.0.0.1:1",
	})
	if err != nil || c.Seed != 9 || c.Size != 70 || len(c.Data) != 2 || c.Addr != "127.0.0.1:1" {
		t.Errorf("settings %+v, %v", c, err)
	}
}
