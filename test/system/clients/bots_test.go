package clients

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/localdb"
	"github.com/signalcast/signalcast/test/system/stack"
)

// copyExample copies a folder of examples and the library that it is built with to a new folder, without the rest of the
// repository. It returns the copy of the example.
func copyExample(t *testing.T, example, library string) string {
	t.Helper()
	dir := t.TempDir()
	for _, folder := range []string{"examples/" + example, "sdk/" + library} {
		cmd := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", ".")
		cmd.Dir = filepath.Join(repo, folder)
		names, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		for name := range strings.SplitSeq(strings.TrimSuffix(string(names), "\x00"), "\x00") {
			put(t, filepath.Join(dir, folder, name), stack.ReadFile(t, filepath.Join(repo, folder, name)))
		}
	}
	if library == "ts" { // compiled by tools/gen.sh
		if err := os.CopyFS(filepath.Join(dir, "sdk/ts/dist"), os.DirFS(filepath.Join(repo, "sdk/ts/dist"))); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "examples", example)
}

// limitingProxy is a proxy for the hub. It answers the first write with 429. It does not return the answer to the first call that
// the hub has stored, and closes `stored` instead.
type limitingProxy struct {
	to     string
	stored chan struct{}

	mu      sync.Mutex
	writes  int
	refused time.Time // time of the answer 429
	waited  time.Duration
	lost    bool
	keys    []string // idempotency keys of the calls
}

// ServeHTTP implements http.Handler.
func (p *limitingProxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	write, dry := r.Method == http.MethodPost, strings.Contains(string(body), `"dryRun":true`)
	p.mu.Lock()
	if write {
		p.writes++
		switch p.writes {
		case 1:
			p.refused = time.Now()
			p.mu.Unlock()
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusTooManyRequests)
			_, _ = io.WriteString(w, `{"error":"rate_limited","message":"60 requests in 60 s","limit":60,"retryAfterMs":2000}`)
			return
		case 2:
			p.waited = time.Since(p.refused)
		}
		if !dry {
			p.keys = append(p.keys, r.Header.Get("Idempotency-Key"))
		}
	}
	p.mu.Unlock()
	out, err := http.NewRequestWithContext(r.Context(), r.Method, p.to+r.URL.RequestURI(), strings.NewReader(string(body)))
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	out.Header = r.Header.Clone()
	res, err := http.DefaultTransport.RoundTrip(out)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer func() { _ = res.Body.Close() }()
	if write && !dry && res.StatusCode == http.StatusOK {
		p.mu.Lock()
		first := !p.lost
		p.lost = true
		p.mu.Unlock()
		if first {
			close(p.stored)
			<-r.Context().Done() // the bot is killed
			return
		}
	}
	for name, values := range res.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(res.StatusCode)
	_, _ = io.Copy(w, res.Body)
}

// count returns the number of writes so far.
func (p *limitingProxy) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.writes
}

// runningBot is a bot or another example that runs.
type runningBot struct {
	*localdb.Child
	out *stack.Output
}

// startBot starts a program with additional environment variables, in the folder dir if it is not empty.
func startBot(t *testing.T, command, env []string, dir string) runningBot {
	t.Helper()
	b := runningBot{out: &stack.Output{}}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	cmd.Stdout, cmd.Stderr = b.out, b.out
	child, err := localdb.StartChild(cmd, syscall.SIGKILL)
	if err != nil {
		t.Fatal(err)
	}
	b.Child = child
	t.Cleanup(func() { child.Stop(context.Background(), syscall.SIGKILL, 15*time.Second) })
	return b
}

// await waits for a line of the log that matches the pattern, and returns its first group.
func (b runningBot) await(t *testing.T, pattern string) string {
	t.Helper()
	var found []string
	stack.Eventually(t, time.Minute, "the line "+pattern+" of the bot", func() bool {
		found = regexp.MustCompile(pattern).FindStringSubmatch(b.out.String())
		select {
		case <-b.Done():
			if found == nil {
				t.Fatalf("the bot ended: %v\n%s", b.Err(), b.out)
			}
		default:
		}
		return found != nil
	})
	return found[len(found)-1]
}

// TestBots runs the example bots with a key that may only file calls. Each bot must wait after a rate limit, file a call on the market
// that its rule selects, and not file a second one after it was killed before it received the answer, after a stop, and
// without its state file. It must also file a call when a price changes.
func TestBots(t *testing.T) {
	t.Parallel()
	s := system(t)
	for _, kind := range []string{"bot-go", "bot-ts"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			var command []string
			if dir := ""; kind == "bot-go" {
				dir = copyExample(t, kind, "go")
				run(t, dir, []string{"GOWORK=off"}, "go", "build", "-o", "bot", ".")
				command = []string{filepath.Join(dir, "bot")}
			} else {
				dir = copyExample(t, kind, "ts")
				run(t, dir, nil, "npm", "ci", "--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error")
				run(t, dir, nil, "npm", "run", "--silent", "build")
				command = []string{"node", "--no-warnings", "--experimental-websocket", filepath.Join(dir, "dist/bot.js")}
			}
			p, word := s.NewOperator(t), "Zeta"+rand.Text()[:10]
			key, _ := p.Mint(t, stack.JSON{"label": kind, "permissions": []string{"signal"}, "strict": true})
			market := func(price int) string {
				return s.NewNativeMarket(t, price, stack.JSON{"question": "Will the level of " + word + " rise above " + rand.Text() + "?"})
			}
			favorite, rising, even := market(8500), market(7900), market(5000)
			proxy := &limitingProxy{to: s.Hub, stored: make(chan struct{})}
			server := httptest.NewServer(proxy)
			t.Cleanup(server.Close)
			state := filepath.Join(t.TempDir(), "state.json")
			env := []string{
				"SIGNALCAST_HUB=" + server.URL, "SIGNALCAST_API=" + s.API, "SIGNALCAST_KEY=" + key,
				"BOT_STATE=" + state, "BOT_QUERY=" + word, "BOT_PROVIDER=manual", "BOT_REFRESH_SECONDS=20",
			}
			calls := func() string {
				return stack.Query[string](t, s, `SELECT coalesce(string_agg(market_id || CASE WHEN yes THEN ' YES' ELSE ' NO' END, ',' ORDER BY created_at), '')
					FROM api.signals WHERE user_id = $1`, p.ID)
			}

			b := startBot(t, command, env, "")
			b.await(t, `waiting"? for=2s`)
			select {
			case <-proxy.stored:
			case <-time.After(time.Minute):
				t.Fatalf("the hub received no call\n%s", b.out)
			}
			b.Stop(t.Context(), syscall.SIGKILL, 15*time.Second)
			if proxy.waited < 2*time.Second {
				t.Errorf("the bot sent a write %s after a refusal that required 2 s", proxy.waited)
			}
			if got := calls(); got != favorite+" YES" {
				t.Fatalf("the ledger has the calls %q; want YES on %s", got, favorite)
			}
			var file struct {
				Calls map[string]struct{ Status, Key, ID string }
			}
			if err := json.Unmarshal([]byte(stack.ReadFile(t, state)), &file); err != nil || file.Calls[favorite].Status != "filing" {
				t.Fatalf("the state file after the kill: %+v, %v", file, err)
			}

			b = startBot(t, command, env, "")
			id := b.await(t, `call filed"? market=`+favorite+` side=YES price=8500 id=(\S+)`)
			if got := s.Signal(t, id); got.Text("marketId") != favorite || got.Text("direction") != "YES" {
				t.Errorf("the call is %s", got.Body)
			}
			if len(proxy.keys) < 2 || proxy.keys[0] == "" || proxy.keys[0] != proxy.keys[1] {
				t.Errorf("the idempotency keys of the calls are %q; want the same one", proxy.keys)
			}
			b.await(t, `following"? markets=3`)
			s.NewOperator(t).NewCall(t, rising, "YES", 7900, stack.JSON{"maxSlippageBps": 10000}) // raises the price above 80 cents
			b.await(t, `call filed"? market=`+rising+` side=YES`)
			b.Stop(t.Context(), syscall.SIGTERM, 15*time.Second)
			if !strings.Contains(b.out.String(), "stopped") || b.Err() != nil {
				t.Errorf("the bot ended with %v\n%s", b.Err(), b.out)
			}

			want, writes := favorite+" YES,"+rising+" YES", proxy.count()
			b = startBot(t, command, env, "")
			b.await(t, `following"? markets=3`)
			b.Stop(t.Context(), syscall.SIGTERM, 15*time.Second)
			if proxy.count() != writes || calls() != want {
				t.Errorf("the bot sent %d writes after a stop; the ledger has %q, want %q", proxy.count()-writes, calls(), want)
			}
			if err := os.Remove(state); err != nil {
				t.Fatal(err)
			}
			b = startBot(t, command, env, "")
			b.await(t, `call found"? market=`+rising)
			b.await(t, `following"? markets=3`)
			if got := calls(); got != want || strings.Contains(b.out.String(), even) {
				t.Errorf("without its state the bot filed %q; want %q\n%s", got, want, b.out)
			}
		})
	}
}
