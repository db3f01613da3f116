package e2e

import (
	"bufio"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// example runs one of the examples: each language has all of them.
type example struct {
	name string
	cmd  func(what string, args ...string) *exec.Cmd
}

func examples(t testing.TB) []example {
	t.Helper()
	dir := t.TempDir()
	build := exec.Command("go", "build", "-o", dir+"/", "./sdk/go/examples/...")
	build.Dir = repo
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return []example{
		{"Go", func(what string, args ...string) *exec.Cmd { return exec.Command(filepath.Join(dir, what), args...) }},
		{"TypeScript", func(what string, args ...string) *exec.Cmd {
			// Node 20 has a WebSocket and has to be told; a newer one is told what it does.
			cmd := exec.Command("node", append([]string{"--experimental-websocket", what + ".mjs"}, args...)...)
			cmd.Dir = filepath.Join(repo, "sdk/ts/examples")
			return cmd
		}},
	}
}

// TestExamples runs what the pages of both libraries show, against the stack.
func TestExamples(t *testing.T) {
	t.Parallel()
	s := up(t)
	for _, e := range examples(t) {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			p, market := s.person(t), s.native(t, 5000)
			key, _ := p.mint(t, "examples")
			run := func(form, what string, args ...string) {
				t.Helper()
				cmd := e.cmd(what, args...)
				cmd.Env = append(plainEnv(), "SIGNALCAST_HUB="+s.Hub, "SIGNALCAST_API="+s.API, "SIGNALCAST_KEY="+key)
				out, err := cmd.CombinedOutput()
				if err != nil || !regexp.MustCompile(`(?s)\A(`+form+`)\z`).Match(out) {
					t.Errorf("%s %q: %v\n%s", what, args, err, out)
				}
			}
			const uuid = `[0-9a-f]{8}-[0-9a-f-]{27}`
			watch := e.cmd("watch", market)
			watch.Env = append(plainEnv(), "SIGNALCAST_API="+s.API)
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
			run(`the first call is locked: `+uuid+`\n`, "file", market, "YES", "100")
			rest, err := io.ReadAll(seen)
			if err != nil || !strings.Contains(string(rest), "signal.created") || watch.Wait() != nil {
				t.Errorf("watch: %v\n%s", err, rest)
			}
			run(`too late.*\n`, "file", s.closed(t), "NO", "6850")
			run(`submitted: msg_[0-9a-f]{64} denpa:`+uuid+`/signal\.create/msg_[0-9a-f]{64}\n`, "message", s.native(t, 5000))
			run(`(\d+ [a-z0-9_]+ -?\d+\n)+(\S+ (YES|NO) \d+ [a-z]+\n)*`, "board")
		})
	}
}

// part says that a block is a piece of an example, to which TestExamplesAreShown holds it:
// the example is run, not the piece.
func (b block) part() bool { return slices.Equal(b.args, []string{"part"}) }

// TestExamplesAreShown: every block that calls itself a part is one of an example, which
// the test above runs, and every example is shown.
func TestExamplesAreShown(t *testing.T) {
	t.Parallel()
	plain := func(code string) string {
		lines := strings.Split(code, "\n")
		for i := range lines {
			lines[i] = strings.TrimSpace(lines[i])
		}
		return strings.Join(lines, "\n")
	}
	for kind, files := range map[string]string{"go": "sdk/go/examples/*/main.go", "js": "sdk/ts/examples/*.mjs"} {
		paths, err := filepath.Glob(filepath.Join(repo, files))
		if err != nil || len(paths) != 4 {
			t.Fatal(paths, err)
		}
		shown := map[string]bool{}
		for _, page := range documents(t) {
			for _, b := range blocksOf(t, page) {
				if b.kind != kind || !b.part() {
					continue
				}
				at := slices.IndexFunc(paths, func(path string) bool { return strings.Contains(plain(contentOf(t, path)), plain(b.text)) })
				if at < 0 {
					t.Errorf("%s shows what no example does:\n%s", b, b.text)
					continue
				}
				shown[paths[at]] = true
			}
		}
		for _, path := range paths {
			if !shown[path] {
				t.Errorf("%s is not shown", path)
			}
		}
	}
}

// TestLibraryInPage: a page of another origin reads, files, follows the feed and signs.
func TestLibraryInPage(t *testing.T) {
	t.Parallel()
	s := up(t)
	p, market := s.person(t), s.native(t, 5000)
	key, _ := p.mint(t, "page")
	for range 4 {
		s.person(t).call(t, market, "NO", 5000)
	}
	files := httptest.NewServer(http.FileServer(http.Dir(filepath.Join(repo, "sdk/ts"))))
	t.Cleanup(files.Close)
	b := open(t, 800, 600)
	ask := url.Values{"hub": {s.Hub}, "api": {s.API}, "key": {key}, "market": {market}, "other": {s.native(t, 5000)}}
	b.visit(files.URL+"/test/stack/page.html?"+ask.Encode(), http.StatusOK)
	eventually(t, func() bool {
		text, err := glance(b, chromedp.Text(chromedp.CSS("#said")))
		return err == nil && text != "wait"
	}, "the page says what it did")
	if got := b.text("#said"); got != "watched, refused, 5 rows, signed" {
		t.Errorf("the page says %q", got)
	}
	b.forget("409") // a browser logs each refusal
	b.clean("the page")
}
