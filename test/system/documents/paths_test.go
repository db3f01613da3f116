package documents

import (
	"bufio"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/signalcast/signalcast/test/system/feedclient"
	"github.com/signalcast/signalcast/test/system/stack"
)

const (
	modules = "github.com/signalcast/signalcast/"
	repeats = 60 // number of requests in a measurement; a file runs for each request if one of its blocks runs at least this often
)

// counterSignals is source code that is compiled into the measured programs. When a program receives SIGUSR1, it resets its
// execution counters. When it receives SIGUSR2, it writes them to files.
const counterSignals = `package service

import (
	"os"
	"os/signal"
	"runtime/coverage"
	"syscall"
)

func init() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGUSR1, syscall.SIGUSR2)
	go func() {
		for s := range signals {
			dir, name := os.Getenv("GOCOVERDIR"), "cleared"
			var err error
			if s == syscall.SIGUSR1 {
				err = coverage.ClearCounters()
			} else {
				name, err = "written", coverage.WriteCountersDir(dir)
			}
			if err != nil {
				panic(err)
			}
			if err := os.WriteFile(dir+"/"+name+"."+os.Args[0][len(os.Args[0])-3:], nil, 0o600); err != nil {
				panic(err)
			}
		}
	}()
}
`

// TestPathsOfArchitecture checks docs/architecture.md, which lists the files of hub and api that run for a call, a resolution
// and an event. It compares these files with those that really run.
func TestPathsOfArchitecture(t *testing.T) {
	p := pathCounter{dir: t.TempDir()}
	p.Stack = stack.Start(t, stack.ProgramsIn(buildCounting(t)), stack.Env("GOCOVERDIR", p.dir),
		stack.Env("RATE_LIMIT_ANON", "0"), stack.Env("MOVEMENT_EVERY", "10m"))
	documented := pathsOf(t, stack.ReadFile(t, filepath.Join(repo, "docs/architecture.md")))

	var markets, channels []string
	for range 6 {
		m := p.NewNativeMarket(t, 5000, nil)
		markets, channels = append(markets, m), append(channels, "market:"+m)
	}
	stack.Eventually(t, time.Minute, "the end of the first read of all markets", func() bool {
		for file, n := range p.count(t, func() {}) {
			if n >= repeats && strings.Contains(file, "/venue/") {
				return false
			}
		}
		return true
	})
	feedclient.Listen(t, p.API, channels...)
	call := p.measure(t, func() func() {
		operators := p.SeedOperators(t, repeats/len(markets))
		return func() {
			for _, o := range operators {
				for _, m := range markets {
					o.NewCall(t, m, "YES", 5000, nil)
				}
			}
		}
	})
	p.require(t, "call", call, map[string]int{"call": repeats, "middleware": 1, "event": 1}, documented)
	if n := len(documented["call"]); n > 15 {
		t.Errorf("docs/architecture.md lists %d files for a call; want at most 15", n)
	}
	resolution := p.measure(t, func() func() {
		native := make([]string, repeats)
		operators := p.SeedOperators(t, 2) // each operator stays within its rate limit
		stack.Each(repeats, 4, func(i int) {
			native[i] = p.NewNativeMarket(t, 5000, nil)
			operators[i%2].NewCall(t, native[i], "YES", 5000, nil)
		})
		return func() {
			for _, m := range native {
				p.Finalize(t, m, "YES")
			}
		}
	})
	maps.DeleteFunc(resolution, func(file string, _ int) bool {
		// The hub notifies callers of results one by one or together, and the api publishes that in these files.
		return strings.HasPrefix(file, "hub/") || file == "api/internal/feed/fact.go" || file == "api/internal/relay/pubsub.go"
	})
	p.require(t, "resolution", resolution, map[string]int{"resolution": repeats, "middleware": 0, "event": 0}, documented)
}

// pathCounter is a system whose hub and api count how often each of their code blocks runs.
type pathCounter struct {
	*stack.Stack
	dir string // directory to which the services write their counters
}

// settled is an SQL query that reports whether all events are published and the journal contains all rows of the record.
const settled = `SELECT NOT EXISTS (SELECT FROM api.outbox) AND NOT EXISTS (SELECT FROM api.feed_drains)
	AND (SELECT count(*) FROM api.journal_leaves) = (SELECT count(*) FROM api.signals) + (SELECT count(*) FROM api.signal_results)
		+ (SELECT count(*) FROM api.signal_events) + (SELECT count(*) FROM api.market_resolutions)`

// measure counts five times how often the code of each file runs during one act, and returns the lowest count of each file. The
// lowest count excludes periodic work, which runs during some of the acts only. Before each act, measure calls prepare, which
// returns the function that performs the act.
func (p pathCounter) measure(t *testing.T, prepare func() (run func())) map[string]int {
	t.Helper()
	lowest := p.count(t, prepare())
	for range 4 {
		files := p.count(t, prepare())
		for file, n := range lowest {
			lowest[file] = min(n, files[file])
		}
	}
	return lowest
}

// count calls run and waits until its events are published and in the journal. For each file it returns the number of
// executions of the file's most executed block in this time.
func (p pathCounter) count(t *testing.T, run func()) map[string]int {
	t.Helper()
	p.signal(t, syscall.SIGUSR1, "cleared")
	run()
	stack.Eventually(t, 30*time.Second, "a journal with every event", func() bool { return stack.Query[bool](t, p.Stack, settled) })
	p.signal(t, syscall.SIGUSR2, "written")
	return p.executed(t)
}

// signal sends a signal to hub and api and waits until both have handled it.
func (p pathCounter) signal(t *testing.T, s syscall.Signal, handled string) {
	t.Helper()
	for _, service := range []string{"api", "hub"} {
		mark := filepath.Join(p.dir, handled+"."+service)
		if err := syscall.Kill(p.PID(t, service), s); err != nil {
			t.Fatalf("signal %s: %v", service, err)
		}
		stack.Eventually(t, 10*time.Second, mark, func() bool { return os.Remove(mark) == nil })
	}
}

// executed reads and deletes the counter files. It returns the number of executions of the most executed block of each file.
func (p pathCounter) executed(t *testing.T) map[string]int {
	t.Helper()
	text := filepath.Join(t.TempDir(), "blocks")
	if out, err := exec.Command("go", "tool", "covdata", "textfmt", "-i="+p.dir, "-o="+text).CombinedOutput(); err != nil {
		t.Fatalf("go tool covdata: %v\n%s", err, out)
	}
	files := map[string]int{}
	for lines := bufio.NewScanner(strings.NewReader(stack.ReadFile(t, text))); lines.Scan(); {
		block, counts, _ := strings.Cut(lines.Text(), " ") // the format of a line is "file:from,to statements count"
		_, count, _ := strings.Cut(counts, " ")
		n, _ := strconv.Atoi(count) // the first line contains the mode and no count
		file, _, _ := strings.Cut(strings.TrimPrefix(block, modules+"services/"), ":")
		files[file] = max(files[file], n)
	}
	counters, err := filepath.Glob(filepath.Join(p.dir, "covcounters.*"))
	if err != nil || len(counters) == 0 {
		t.Fatalf("no counters in %s: %v", p.dir, err)
	}
	for _, file := range counters {
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// require fails the test if a documented file ran less often than least states. It also fails the test if an undocumented file
// ran for each request, unless that file runs as often without requests.
func (p pathCounter) require(t *testing.T, name string, ran, least map[string]int, documented map[string][]string) {
	t.Helper()
	var listed []string
	for list, n := range least {
		for _, file := range documented[list] {
			if ran[file] < n {
				t.Errorf("docs/architecture.md lists %s for a %s, but it ran %d times for %d requests", file, name, ran[file], repeats)
			}
			listed = append(listed, file)
		}
	}
	maps.DeleteFunc(ran, func(file string, n int) bool {
		return n < repeats || slices.Contains(listed, file) || strings.Contains(file, "/internal/app/") ||
			generated.MatchString(file)
	})
	if len(ran) == 0 {
		return
	}
	background := p.count(t, func() { time.Sleep(12 * time.Second) }) // some periodic work runs every 10 s
	for _, file := range slices.Sorted(maps.Keys(ran)) {
		if background[file] < repeats {
			t.Errorf("%s runs for a %s, but docs/architecture.md does not list it", file, name)
		}
	}
}

var generated = regexp.MustCompile(`\.(gen|sql|pb)\.go$|/db/`)

// pathsOf returns the files of each path in docs/architecture.md, relative to services/. A path is a code block with the words
// "path NAME". Each line of the block contains a package, without "internal/", and its files.
func pathsOf(t *testing.T, page string) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	for _, block := range regexp.MustCompile("(?s)```path (\\w+)\n(.*?)```").FindAllStringSubmatch(page, -1) {
		seen := map[string]bool{}
		for line := range strings.Lines(block[2]) {
			words := strings.Fields(line)
			if len(words) < 2 {
				t.Fatalf("path %s: the line %q is not a package followed by its files", block[1], line)
			}
			if seen[words[0]] {
				t.Errorf("path %s lists the package %s twice", block[1], words[0])
			}
			seen[words[0]] = true
			service, pkg, _ := strings.Cut(words[0], "/")
			for _, file := range words[1:] {
				file = service + "/internal/" + pkg + "/" + file
				if _, err := os.Stat(filepath.Join(repo, "services", file)); err != nil {
					t.Errorf("path %s: %v", block[1], err)
				}
				out[block[1]] = append(out[block[1]], file)
			}
		}
	}
	for _, name := range []string{"call", "resolution", "event", "middleware"} {
		if len(out[name]) == 0 {
			t.Fatalf("docs/architecture.md has no list of files of %s", name)
		}
	}
	return out
}

// buildCounting builds hub and api with block counters. It returns the directory of all programs.
func buildCounting(t *testing.T) string {
	t.Helper()
	root, err := stack.Root()
	if err != nil {
		t.Fatal(err)
	}
	dir := stack.TempDir(t)
	source, overlay, bin := filepath.Join(dir, "signals.txt"), filepath.Join(dir, "overlay.json"), filepath.Join(dir, "bin")
	added := filepath.Join(root, "pkg/service/counter_signals.go")
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{added: source}})
	if err != nil {
		t.Fatal(err)
	}
	for file, content := range map[string][]byte{source: []byte(counterSignals), overlay: replace} {
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.CopyFS(bin, os.DirFS(stack.Bin(t))); err != nil {
		t.Fatal(err)
	}
	for _, service := range []string{"api", "hub"} {
		build := exec.Command("go", "build", "-ldflags=-s -w", "-cover", "-covermode=atomic",
			"-coverpkg="+modules+"services/"+service+"/...",
			"-overlay", overlay, "-o", filepath.Join(bin, service), "./services/"+service)
		build.Dir = root
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("go build -cover ./services/%s: %v\n%s", service, err, out)
		}
	}
	return bin
}
