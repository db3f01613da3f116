package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/testkit"
)

// commandLine is the built command line, with a home of its own.
type commandLine struct {
	t       *testing.T
	path    string
	env     []string
	secrets []string
}

func buildCommandLine(t *testing.T, s *stack) *commandLine {
	t.Helper()
	dir := t.TempDir()
	p := &commandLine{t: t, path: filepath.Join(dir, "signalcast"), env: append(plainEnv(),
		"XDG_CONFIG_HOME="+filepath.Join(dir, "home"), "SIGNALCAST_HUB="+s.Hub, "SIGNALCAST_API="+s.API, "SIGNALCAST_KEY=")}
	build := exec.Command("go", "build", "-o", p.path, "./cmd/signalcast")
	build.Dir = repo
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return p
}

// run gives what is written, after it has looked at the exit code and for secrets.
func (p *commandLine) run(want int, in string, args ...string) (out, complaints string) {
	p.t.Helper()
	out, complaints, code := p.try(in, args...)
	if code != want {
		p.t.Fatalf("signalcast %q: exit code %d, want %d\n%s%s", args, code, want, out, complaints)
	}
	return out, complaints
}

// try is run for any exit code.
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
			p.t.Errorf("signalcast %q shows a secret", args)
		}
	}
	return to.String(), bad.String(), code
}

// read runs and decodes what it writes, since no terminal reads it.
func (p *commandLine) read(v any, want int, args ...string) (complaints string) {
	p.t.Helper()
	out, bad := p.run(want, "", args...)
	if err := json.Unmarshal([]byte(out), v); err != nil {
		p.t.Fatalf("signalcast %q: %v\n%s", args, err, out)
	}
	return bad
}

// TestCommandLine: somebody signs in, files a call, files it again, adds to it, and finds
// it on the market, on the board and on its receipt, all with the built command.
func TestCommandLine(t *testing.T) {
	t.Parallel()
	s := up(t)
	who := s.person(t)
	p := buildCommandLine(t, s)
	p.secrets = []string{who.token, "dk_"}
	market := s.native(t, 5000)

	_, bad := p.run(2, "", "call", market, "no", "--price", "68.5")
	if !strings.Contains(bad, "signalcast login") {
		t.Error(bad)
	}
	p.run(0, who.token, "login")
	var filed, again, shown struct {
		ID, Error, MarketID, Direction, Status string
		PriceAtPrediction                      int
		Score                                  *int
		Events                                 []struct{ Type string }
	}
	p.read(&filed, 0, "call", market, "no", "--price", "68.5", "--take", "The upper gauges are falling.")
	bad = p.read(&again, 1, "call", market, "yes", "--price", "10")
	if again.Error != "already_predicted" || again.ID != filed.ID || !strings.Contains(bad, s.Hub+"/receipts/"+filed.ID) {
		t.Errorf("filed again: %+v %s", again, bad)
	}
	p.run(0, "", "events", "add", filed.ID, "note", "--text", "Rain has stopped.")
	s.finalize(t, market, "NO")
	_, bad = p.run(1, "", "call", s.closed(t), "yes", "--price", "10")
	if !strings.Contains(bad, "market_closed") || !strings.Contains(bad, "market search") {
		t.Error(bad)
	}
	testkit.Eventually(t, 20*time.Second, func() bool { // answers may be ten seconds old
		p.read(&shown, 0, "receipt", filed.ID)
		return shown.Status == "won" && len(shown.Events) == 2
	})
	if shown.MarketID != market || shown.Direction != "NO" || shown.PriceAtPrediction != 6850 || *shown.Score != 31 {
		t.Errorf("%+v", shown)
	}
	table, _ := p.run(0, "", "signal", "show", filed.ID, "--table")
	if !strings.Contains(table, "NO at 68.5 cents") || !strings.Contains(table, who.user) {
		t.Error(table)
	}
	if out, _ := p.run(0, "", "events", "list", filed.ID, "--table"); !strings.Contains(out, "Rain has stopped.") {
		t.Error(out)
	}
	p.lists(market)
	record, _ := p.run(0, "", "record", "get", who.user)
	if out, _ := p.run(0, record, "record", "verify", "-"); !strings.Contains(out, "every number holds (calls: 1, events: 2)") {
		t.Error(out)
	}
	p.run(1, strings.Repeat("x", 8)+".y.z", "login") // what is no token is refused, and the key stays
	p.run(1, "", "call", market, "no", "--price", "68.5")
	p.run(3, "", "market", "show", market, "--hub", "http://127.0.0.1:1")
}

// lists reads the lists and the market.
func (p *commandLine) lists(market string) {
	p.t.Helper()
	var found struct{ Markets []struct{ ID, Name string } }
	testkit.Eventually(p.t, 60*time.Second, func() bool { // a stack that has just begun reads its venues still
		p.read(&found, 0, "market", "search", "election", "--limit", "2")
		return len(found.Markets) == 2
	})
	if !strings.Contains(strings.ToLower(found.Markets[0].Name), "election") {
		p.t.Errorf("%+v", found)
	}
	var m struct{ Status string }
	var crowd struct{ NoCount int }
	p.read(&m, 0, "market", "show", market)
	p.read(&crowd, 0, "market", "crowd", market)
	if m.Status == "" || crowd.NoCount != 1 {
		p.t.Errorf("%+v %+v", m, crowd)
	}
	for _, by := range []string{"score", "broadcast"} {
		var board struct{ Leaderboard []struct{ Rank int } }
		testkit.Eventually(p.t, 90*time.Second, func() bool { // an empty one may be a minute old
			p.read(&board, 0, "board", "--by", by, "--limit", "1")
			return len(board.Leaderboard) == 1 && board.Leaderboard[0].Rank == 1
		})
	}
}

// closed is a market whose outcome is claimed.
func (s *stack) closed(t testing.TB) string {
	t.Helper()
	market := s.native(t, 5000)
	s.finalize(t, market, "YES")
	return market
}
