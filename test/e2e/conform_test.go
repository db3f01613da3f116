package e2e

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/testkit"
)

// conformity is what `signalcast conform --json` answers.
type conformity struct {
	Passed, Failed, Skipped, Requests int
	Checks                            []struct {
		ID, Title, Source, Outcome, Because string
		Findings                            []struct{ Asked, Came, Due string }
	}
}

// failed lists the checks that did.
func (c *conformity) failed() (out []string) {
	for _, check := range c.Checks {
		if check.Outcome == "fail" {
			out = append(out, check.ID)
		}
	}
	slices.Sort(out)
	return out
}

// of gives what came of a check.
func (c *conformity) of(id string) string {
	for _, check := range c.Checks {
		if check.ID == id {
			return check.Outcome
		}
	}
	return "none"
}

// tellOf writes what was found.
func (c *conformity) tellOf(t *testing.T) {
	t.Helper()
	for _, check := range c.Checks {
		for _, f := range check.Findings {
			t.Logf("%s: %s\n  came: %s\n  due:  %s", check.ID, f.Asked, f.Came, f.Due)
		}
	}
}

// secretFile keeps a secret as the command line wants it.
func secretFile(t *testing.T, secret string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(path, []byte(secret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// conform runs every check through the three addresses, with a key of a person of its own.
func (p *commandLine) conform(t *testing.T, s *stack, hub, api, clock string, want int) *conformity {
	t.Helper()
	key, _ := s.person(t).mint(t, "conform")
	mine := *p
	mine.t, mine.secrets = t, []string{key, s.AdminSecret}
	out, _, code := mine.try("", "conform", hub, "--api", api, "--clock", clock, "--each", "30s", "--json",
		"--key", secretFile(t, key), "--admin-secret", secretFile(t, s.AdminSecret))
	c := &conformity{}
	if err := json.Unmarshal([]byte(out), c); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if code != want {
		t.Errorf("exit code %d, want %d", code, want)
	}
	return c
}

// scoredBoard makes a board with different scores, for checks that look at its order.
func (s *stack) scoredBoard(t *testing.T) {
	t.Helper()
	market := s.native(t, 5000)
	s.person(t).call(t, market, "YES", 5000)
	s.person(t).call(t, market, "NO", 5000)
	s.finalize(t, market, "YES")
	testkit.Eventually(t, 90*time.Second, func() bool { // a board may be a minute old
		rows := get(t, s.API+"/api/v1/signals/leaderboard?operators=all&limit=200").is(http.StatusOK).list("leaderboard")
		return len(rows) > 1 && !same(rows[0].(map[string]any)["score"], rows[len(rows)-1].(map[string]any)["score"])
	})
}

// TestConform: the stack passes every check; without a key the command writes nothing.
func TestConform(t *testing.T) {
	t.Parallel()
	s := up(t)
	p := buildCommandLine(t, s)
	s.scoredBoard(t)
	c := p.conform(t, s, s.Hub, s.API, s.Clock, 0)
	c.tellOf(t)
	for _, check := range c.Checks {
		if check.Outcome == "skip" && check.ID != "mcp" || check.Source == "" || check.Title == "" {
			t.Errorf("%s: %s because %s, source %q", check.ID, check.Outcome, check.Because, check.Source)
		}
	}
	if c.Failed != 0 || c.Passed < 60 || c.Requests < 200 || c.Requests > 600 {
		t.Errorf("%d passed, %d failed, with %d requests: %q", c.Passed, c.Failed, c.Requests, c.failed())
	}

	wrote := &writes{}
	hub := bend(t, s.Hub, deviation{answer: wrote.watch})
	text, _ := p.run(0, "", "conform", hub, "--api", s.API, "--clock", s.Clock, "--each", "30s")
	if !strings.Contains(text, " 0 failed") || !strings.Contains(text, "needs a key: --key") {
		t.Error(text)
	}
	if got := wrote.taken(); len(got) > 0 {
		t.Errorf("without a key it wrote: %q", got)
	}
}

// TestConformSeesDeviations: a server that differs in one thing fails the check that
// looks at it, and no check but those that the same thing reaches.
func TestConformSeesDeviations(t *testing.T) {
	t.Parallel()
	s := up(t)
	p := buildCommandLine(t, s)
	s.scoredBoard(t)
	for _, d := range deviations {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			c := p.conform(t, s, bend(t, s.Hub, d), bend(t, s.API, d), bend(t, s.Clock, d), 1)
			want := append([]string{d.caught}, d.also...)
			slices.Sort(want)
			if got := c.failed(); !slices.Equal(got, want) {
				t.Errorf("failed are %q, want %q", got, want)
				c.tellOf(t)
			}
			if c.of(d.caught) != "fail" {
				t.Errorf("%s is not caught by %s", d.name, d.caught)
			}
		})
	}
}
