package clients

import (
	"bufio"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

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
