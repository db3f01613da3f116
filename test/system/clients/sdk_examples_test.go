package clients

import (
	"bufio"
	"crypto/rand"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/sdk/go/signalcast"
	"github.com/signalcast/signalcast/test/system/browser"
	"github.com/signalcast/signalcast/test/system/stack"
)

// example runs the example programs of one language.
type example struct {
	name string
	cmd  func(what string, args ...string) *exec.Cmd
}

func examples(t testing.TB) []example {
	t.Helper()
	dir := t.TempDir()
	run(t, repo, nil, "go", "build", "-o", dir+"/", "./sdk/go/examples/...")
	return []example{
		{"Go", func(what string, args ...string) *exec.Cmd { return exec.Command(filepath.Join(dir, what), args...) }},
		{"TypeScript", func(what string, args ...string) *exec.Cmd {
			// Node 20 requires the flag for its WebSocket. Newer versions accept the flag.
			cmd := exec.Command("node", append([]string{"--experimental-websocket", what + ".mjs"}, args...)...)
			cmd.Dir = filepath.Join(repo, "sdk/ts/examples")
			return cmd
		}},
	}
}

// TestExamples runs the example programs of the Go and the TypeScript library against the system.
func TestExamples(t *testing.T) {
	t.Parallel()
	s := system(t)
	for _, e := range examples(t) {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			p, market := s.NewOperator(t), s.NewNativeMarket(t, 5000, nil)
			key, _ := p.Mint(t, stack.JSON{"label": "examples"})
			run := func(form, what string, args ...string) {
				t.Helper()
				cmd := e.cmd(what, args...)
				cmd.Env = append(os.Environ(), "SIGNALCAST_HUB="+s.Hub, "SIGNALCAST_API="+s.API, "SIGNALCAST_KEY="+key)
				out, err := cmd.CombinedOutput()
				if err != nil || !regexp.MustCompile(`(?s)\A(`+form+`)\z`).Match(out) {
					t.Errorf("example %s %q: %v\n%s", what, args, err, out)
				}
			}
			const uuid = `[0-9a-f]{8}-[0-9a-f-]{27}`
			watch := e.cmd("watch", market)
			watch.Env = append(os.Environ(), "SIGNALCAST_API="+s.API)
			out, err := watch.StdoutPipe()
			if err == nil {
				err = watch.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = watch.Process.Kill() })
			seen := bufio.NewReader(out)
			if line, err := seen.ReadString('\n'); err != nil || line != "watching market:"+market+"\n" {
				t.Fatal(line, err)
			}
			run(`filed: `+uuid+` scored at 6850.*\n`, "file", market, "NO", "6850")
			run(`a call on this market is already filed: `+uuid+`\n`, "file", market, "YES", "100")
			rest, err := io.ReadAll(seen)
			if err != nil || !strings.Contains(string(rest), "signal.created") || watch.Wait() != nil {
				t.Errorf("example watch: %v\n%s", err, rest)
			}
			run(`too late.*\n`, "file", closed(t, s), "NO", "6850")
			run(`submitted: msg_[0-9a-f]{64} denpa:`+uuid+`/signal\.create/msg_[0-9a-f]{64}\n`, "message", s.NewNativeMarket(t, 5000, nil))
			run(`(\d+ [a-z0-9_]+ -?\d+\n)+(\S+ (YES|NO) \d+ [a-z]+\n)*`, "board")
		})
	}
}

// TestWebhookExamples runs the example receivers of webhooks. They must accept the deliveries of the service, and refuse a request with
// another signature.
func TestWebhookExamples(t *testing.T) {
	t.Parallel()
	s := system(t)
	for _, e := range examples(t) {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			p, market := s.NewOperator(t), s.NewNativeMarket(t, 5000, nil)
			address := stack.FreeAddr(t)
			hook := post(t, s.API+"/api/v1/webhooks", stack.Bearer(p.Key), stack.Body(stack.JSON{
				"url": "http://" + address + "/", "channels": []string{"market:" + market},
			})).Require(http.StatusCreated)
			_, port, _ := strings.Cut(address, ":")
			cmd := e.cmd("webhook", port)
			b := startBot(t, append([]string{cmd.Path}, cmd.Args[1:]...), []string{"SIGNALCAST_WEBHOOK_SECRET=" + hook.Text("secret")}, cmd.Dir)
			b.await(t, `listening on (http\S+)`)
			post(t, s.API+"/api/v1/webhooks/"+hook.Text("id")+"/test", stack.Bearer(p.Key)).Require(http.StatusOK)
			b.await(t, `test delivery`)
			p.NewCall(t, market, "NO", 5000, stack.JSON{"maxSlippageBps": 10000})
			b.await(t, `verified: market:`+market+` \d+ signal\.created`)
			forged := post(t, "http://"+address+"/", stack.Header("Signalcast-Signature", "t=1,v1="+strings.Repeat("0", 64)), stack.Body(stack.JSON{"events": []any{}}))
			if forged.Status != http.StatusBadRequest {
				t.Errorf("a forged delivery has the status %d; want 400", forged.Status)
			}
			b.await(t, `refused: `)
		})
	}
}

// TestMarketLists checks that both libraries list the markets of all venues page by page, with equal results for equal filters.
func TestMarketLists(t *testing.T) {
	t.Parallel()
	s := system(t)
	word := "Kappa" + rand.Text()[:10]
	var want []string
	for range 5 {
		want = append(want, s.NewNativeMarket(t, 5000, stack.JSON{"question": "Will " + word + " rise above " + rand.Text() + "?"}))
	}
	s.NewNativeMarket(t, 5000, stack.JSON{"question": "Will " + word + " fall?", "lane": "SPORT"})
	slices.Sort(want)
	listed := func(what string, ids []string, err error) {
		t.Helper()
		if slices.Sort(ids); err != nil || !slices.Equal(ids, want) {
			t.Errorf("%s lists %q, error %v; want %q", what, ids, err, want)
		}
	}
	c := library(t, s, s.NewOperator(t), s.Hub)
	all := func(f signalcast.MarketFilter) (ids []string, err error) {
		for m, err := range c.Markets.List(t.Context(), f) {
			if err != nil {
				return ids, err
			}
			ids = append(ids, m.ID)
		}
		return ids, nil
	}
	stack.Eventually(t, 30*time.Second, "the new markets in the list", func() bool {
		ids, err := all(signalcast.MarketFilter{Q: word})
		return err == nil && len(ids) == 6
	})
	filter := signalcast.MarketFilter{
		Q: word, Provider: "manual", Lane: "SCIENCE", Status: "open", ClosesAfter: time.Now(), PageSize: 2, Sort: "newest",
	}
	ids, err := all(filter)
	listed("the Go library", ids, err)
	ids, err = all(signalcast.MarketFilter{IDs: want, ClosesBefore: time.Now().AddDate(2, 0, 0)})
	listed("the Go library by ids", ids, err)
	ids, err = all(signalcast.MarketFilter{Q: word, Status: "resolved"})
	if err != nil || len(ids) != 0 {
		t.Errorf("resolved markets: %q, %v; want none", ids, err)
	}
	script := `import { Signalcast } from 'signalcast';
		const c = new Signalcast({ hub: process.env.HUB }), out = [];
		const all = async (f) => { const ids = []; for await (const m of c.markets.list(f)) ids.push(m.id); out.push(ids.join(' ')); };
		await all({ q: process.env.WORD, provider: 'manual', lane: 'SCIENCE', status: 'open', closesAfter: new Date(), limit: 2, sort: 'newest' });
		await all({ ids: process.env.IDS.split(','), closesBefore: new Date(Date.now() + 63072000000) });
		console.log(out.join('\n'));`
	lines := strings.Split(strings.TrimSpace(runNode(t, []string{
		"HUB=" + s.Hub, "WORD=" + word, "IDS=" + strings.Join(want, ","),
	}, "--input-type=module", "-e", script)), "\n")
	for _, line := range lines {
		listed("the TypeScript library", strings.Fields(line), nil)
	}
	if len(lines) != 2 {
		t.Errorf("the script printed %d lists; want 2", len(lines))
	}
}

// TestLibraryInPage checks that a page of another origin can read, file a call, follow the feed and sign with the
// TypeScript library.
func TestLibraryInPage(t *testing.T) {
	t.Parallel()
	s := system(t)
	p, market := s.NewOperator(t), s.NewNativeMarket(t, 5000, nil)
	key, _ := p.Mint(t, stack.JSON{"label": "page"})
	for range 4 {
		s.NewOperator(t).NewCall(t, market, "NO", 5000, nil)
	}
	files := httptest.NewServer(http.FileServer(http.Dir(filepath.Join(repo, "sdk/ts"))))
	t.Cleanup(files.Close)
	b := browser.Open(t, browser.Desktop)
	ask := url.Values{"hub": {s.Hub}, "api": {s.API}, "key": {key}, "market": {market}, "other": {s.NewNativeMarket(t, 5000, nil)}}
	b.Visit(files.URL+"/test/stack/page.html?"+ask.Encode(), http.StatusOK)
	b.Await("#said", "watched, refused, 5 rows, signed")
	b.Forget("409") // the browser logs each refusal
	b.RequireNoProblems()
}
