package clients

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/test/system/stack"
)

// commandLine runs the command signalcast with a separate configuration directory.
type commandLine struct {
	t       *testing.T
	path    string
	env     []string
	secrets []string
}

// program contains the path of the command, which is built once for all tests.
var program struct {
	build sync.Once
	path  string
}

func buildCommandLine(t *testing.T, s *stack.Stack) *commandLine {
	t.Helper()
	program.build.Do(func() {
		program.path = filepath.Join(stack.TempDir(t), "signalcast")
		run(t, repo, nil, "go", "build", "-o", program.path, "./cmd/signalcast")
	})
	return &commandLine{t: t, path: program.path, env: append(os.Environ(), "XDG_CONFIG_HOME="+t.TempDir(),
		"SIGNALCAST_HUB="+s.Hub, "SIGNALCAST_API="+s.API, "SIGNALCAST_KEY=")}
}

// run runs the command and returns its outputs. in is the standard input. The test fails unless the exit code is want.
func (p *commandLine) run(want int, in string, args ...string) (out, complaints string) {
	p.t.Helper()
	out, complaints, code := p.try(in, args...)
	if code != want {
		p.t.Fatalf("signalcast %q: exit code %d, want %d\n%s%s", args, code, want, out, complaints)
	}
	return out, complaints
}

// try runs the command and returns its output and exit code. It reports an error if the output contains a secret.
func (p *commandLine) try(in string, args ...string) (out, complaints string, code int) {
	p.t.Helper()
	cmd := exec.Command(p.path, args...)
	var to, bad bytes.Buffer
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = p.env, strings.NewReader(in), &to, &bad
	if err := cmd.Run(); err != nil {
		exit := (*exec.ExitError)(nil)
		if !errors.As(err, &exit) {
			p.t.Fatal(err)
		}
		code = exit.ExitCode()
	}
	for _, secret := range p.secrets {
		if strings.Contains(to.String()+bad.String(), secret) {
			p.t.Errorf("the output of signalcast %q contains a secret", args)
		}
	}
	return to.String(), bad.String(), code
}

// read runs the command and decodes its output into v. The output is JSON, because the command does not write to a terminal.
func (p *commandLine) read(v any, want int, args ...string) (complaints string) {
	p.t.Helper()
	out, bad := p.run(want, "", args...)
	if err := json.Unmarshal([]byte(out), v); err != nil {
		p.t.Fatalf("signalcast %q: %v\n%s", args, err, out)
	}
	return bad
}

// TestCommandLine runs the commands of a person who signs in, files a call, repeats it and adds an event. The person must find
// the call on the market, the leaderboard and its receipt.
func TestCommandLine(t *testing.T) {
	t.Parallel()
	s := system(t)
	who := s.NewOperator(t)
	p := buildCommandLine(t, s)
	p.secrets = []string{who.Login, "dk_"}
	market := s.NewNativeMarket(t, 5000, nil)

	_, bad := p.run(2, "", "call", market, "no", "--price", "68.5")
	if !strings.Contains(bad, "signalcast login") {
		t.Error(bad)
	}
	p.run(0, who.Login, "login")
	var filed, again, shown struct {
		ID, Error, MarketID, Direction, Status string
		PriceAtPrediction                      int
		Score                                  *int
		Events                                 []struct{ Type string }
	}
	p.read(&filed, 0, "call", market, "no", "--price", "68.5", "--take", "The upper gauges are falling.")
	bad = p.read(&again, 1, "call", market, "yes", "--price", "10")
	if again.Error != "already_predicted" || again.ID != filed.ID || !strings.Contains(bad, s.Hub+"/receipts/"+filed.ID) {
		t.Errorf("the repeated call: %+v %s; want the first call", again, bad)
	}
	p.run(0, "", "events", "add", filed.ID, "note", "--text", "Rain has stopped.")
	s.Finalize(t, market, "NO")
	_, bad = p.run(1, "", "call", closed(t, s), "yes", "--price", "10")
	if !strings.Contains(bad, "market_closed") || !strings.Contains(bad, "market search") {
		t.Error(bad)
	}
	testkit.Eventually(t, 20*time.Second, func() bool { // answers may be cached for ten seconds
		p.read(&shown, 0, "receipt", filed.ID)
		return shown.Status == "won" && len(shown.Events) == 2
	})
	if shown.MarketID != market || shown.Direction != "NO" || shown.PriceAtPrediction != 6850 || *shown.Score != 31 {
		t.Errorf("the shown call is %+v", shown)
	}
	table, _ := p.run(0, "", "signal", "show", filed.ID, "--table")
	if !strings.Contains(table, "NO at 68.5 cents") || !strings.Contains(table, who.Handle) {
		t.Error(table)
	}
	if out, _ := p.run(0, "", "events", "list", filed.ID, "--table"); !strings.Contains(out, "Rain has stopped.") {
		t.Error(out)
	}
	p.lists(market)
	record, _ := p.run(0, "", "record", "get", who.Handle)
	if out, _ := p.run(0, record, "record", "verify", "-"); !strings.Contains(out, "all numbers are correct (calls: 1, events: 2)") {
		t.Error(out)
	}
	p.run(1, strings.Repeat("x", 8)+".y.z", "login") // the stored key stays unchanged
	p.run(1, "", "call", market, "no", "--price", "68.5")
	p.run(3, "", "market", "show", market, "--hub", "http://127.0.0.1:1")
}

// lists runs the commands that read lists and the market.
func (p *commandLine) lists(market string) {
	p.t.Helper()
	var found struct{ Markets []struct{ ID, Name string } }
	testkit.Eventually(p.t, 60*time.Second, func() bool { // the list of markets is read after the start
		p.read(&found, 0, "market", "search", "election", "--limit", "2")
		return len(found.Markets) == 2
	})
	if !strings.Contains(strings.ToLower(found.Markets[0].Name), "election") {
		p.t.Errorf("the found markets are %+v", found)
	}
	var m struct{ Status string }
	var crowd struct{ NoCount int }
	p.read(&m, 0, "market", "show", market)
	p.read(&crowd, 0, "market", "crowd", market)
	if m.Status == "" || crowd.NoCount != 1 {
		p.t.Errorf("the market is %+v, its crowd is %+v", m, crowd)
	}
	for _, by := range []string{"score", "broadcast"} {
		var board struct{ Leaderboard []struct{ Rank int } }
		testkit.Eventually(p.t, 90*time.Second, func() bool { // an empty leaderboard may be cached for a minute
			p.read(&board, 0, "board", "--by", by, "--limit", "1")
			return len(board.Leaderboard) == 1 && board.Leaderboard[0].Rank == 1
		})
	}
}
