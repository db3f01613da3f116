package clients

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
	"github.com/signalcast/signalcast/test/system/stack"
)

// conformity is the JSON output of `signalcast conform --json`.
type conformity struct {
	Passed, Failed, Skipped, NotTried, Requests, WaitedSeconds int
	Checks                                                     []struct {
		ID, Title, Source, Outcome, Because string
		Findings                            []struct{ Asked, Came, Due string }
	}
}

// failed returns the ids of the failed checks.
func (c *conformity) failed() (out []string) {
	for _, check := range c.Checks {
		if check.Outcome == "fail" {
			out = append(out, check.ID)
		}
	}
	slices.Sort(out)
	return out
}

// of returns the outcome of a check.
func (c *conformity) of(id string) string {
	for _, check := range c.Checks {
		if check.ID == id {
			return check.Outcome
		}
	}
	return "none"
}

// logFindings logs the findings of the failed checks.
func (c *conformity) logFindings(t *testing.T) {
	t.Helper()
	for _, check := range c.Checks {
		for _, f := range check.Findings {
			t.Logf("%s: %s\n  came: %s\n  due:  %s", check.ID, f.Asked, f.Came, f.Due)
		}
	}
}

// secretFile writes a secret to a file that only its owner can read, and returns its path.
func secretFile(t *testing.T, secret string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(path, []byte(secret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// conform runs all conformance checks with the key of a new operator and returns their results. wait is the longest time that
// the command may wait for rate limits, and want is the required exit code.
func (p *commandLine) conform(t *testing.T, s *stack.Stack, hub, api, clock, wait string, want int) *conformity {
	t.Helper()
	key, _ := s.NewOperator(t).Mint(t, stack.JSON{"label": "conform"})
	mine := *p
	mine.t, mine.secrets = t, []string{key, s.AdminSecret}
	out, printed, code := mine.try("", "conform", hub, "--api", api, "--clock", clock, "--each", "30s", "--wait", wait, "--json",
		"--key", secretFile(t, key), "--admin-secret", secretFile(t, s.AdminSecret))
	c := &conformity{}
	if err := json.Unmarshal([]byte(out), c); err != nil {
		t.Fatalf("decode the output of signalcast conform: %v\n%s", err, out)
	}
	if code != want {
		t.Errorf("signalcast conform ended with exit code %d; want %d", code, want)
	}
	if (c.WaitedSeconds > 0) != strings.Contains(printed, "waiting ") {
		t.Errorf("the command waited %d seconds and printed %q; want a message exactly if it waited", c.WaitedSeconds, printed)
	}
	return c
}

// scoredBoard creates calls with different scores, so that checks can test the order of the leaderboard.
func scoredBoard(t *testing.T, s *stack.Stack) {
	t.Helper()
	market := s.NewNativeMarket(t, 5000, nil)
	s.NewOperator(t).NewCall(t, market, "YES", 5000, nil)
	s.NewOperator(t).NewCall(t, market, "NO", 5000, nil)
	s.Finalize(t, market, "YES")
	testkit.Eventually(t, 90*time.Second, func() bool { // a leaderboard may be cached for a minute
		rows := get(t, s.API+"/api/v1/signals/leaderboard?operators=all&limit=200").Require(http.StatusOK).List("leaderboard")
		return len(rows) > 1 && !stack.EqualJSON(rows[0].(map[string]any)["score"], rows[len(rows)-1].(map[string]any)["score"])
	})
}

// TestConform checks that the system passes every check of `signalcast conform`, and that the command changes nothing
// without a key.
func TestConform(t *testing.T) {
	t.Parallel()
	s := system(t)
	p := buildCommandLine(t, s)
	scoredBoard(t, s)
	c := p.conform(t, s, s.Hub, s.API, s.Clock, "5m", 0)
	c.logFindings(t)
	for _, check := range c.Checks {
		if check.Outcome == "skip" && check.ID != "mcp" || check.Source == "" || check.Title == "" {
			t.Errorf("%s: %s because %s, source %q", check.ID, check.Outcome, check.Because, check.Source)
		}
	}
	if c.Failed != 0 || c.Passed < 60 || c.Requests < 200 || c.Requests > 600 {
		t.Errorf("%d checks passed and %d failed with %d requests; failed checks: %q", c.Passed, c.Failed, c.Requests, c.failed())
	}

	mine := *p
	key, _ := s.NewOperator(t).Mint(t, stack.JSON{"label": "conform"})
	mine.secrets = []string{key}
	market := s.NewNativeMarket(t, 4000, nil)
	text, _ := mine.run(0, "", "conform", s.Hub, "--each", "30s", "--key", secretFile(t, key), "--market", market)
	if !strings.Contains(text, "ok    call.filed") || !strings.Contains(text, "needs the admin secret") {
		t.Error(text)
	}
	if got := get(t, s.Hub+"/api/m/"+market).Require(http.StatusOK).Value("resolved"); got != false {
		t.Error("the command resolved the market; want no change")
	}

	wrote := &writes{}
	hub := startDeviatingProxy(t, s.Hub, deviation{answer: wrote.watch})
	text, _ = p.run(0, "", "conform", hub, "--api", s.API, "--clock", s.Clock, "--each", "30s")
	if !strings.Contains(text, " 0 failed") || !strings.Contains(text, "needs a key: --key") {
		t.Error(text)
	}
	if got := wrote.list(); len(got) > 0 {
		t.Errorf("without a key the command changed data with the requests %q; want none", got)
	}
}

// TestConformUnderLimits runs the checks with a limit of 20 requests per minute and no time for waiting. The command must
// report no failed check, and must name the checks that it did not try.
func TestConformUnderLimits(t *testing.T) {
	t.Parallel()
	s := system(t)
	p := buildCommandLine(t, s)
	scoredBoard(t, s) // in an empty system, checks that need a call would be skipped for another reason
	hub := s.Side(t, "hub", map[string]string{"RATE_LIMIT_ANON": "20"}).URL
	c := &conformity{}
	p.read(c, 3, "conform", hub, "--each", "30s", "--wait", "0s", "--json")
	c.logFindings(t)
	if c.Failed != 0 || c.NotTried < 20 || c.Requests > 40 || c.of("limit.form") != "pass" || c.of("errors.form") != "skip" {
		t.Errorf("%d checks failed and %d were not tried with %d requests; want 0 failed", c.Failed, c.NotTried, c.Requests)
	}
	for _, check := range c.Checks {
		if check.Outcome == "skip" && !strings.HasPrefix(check.Because, "needs ") && !strings.HasPrefix(check.Because, "not tried: ") {
			t.Errorf("check %s was skipped because of %q; want a missing requirement or not tried", check.ID, check.Because)
		}
	}
}

// TestConformDetectsDeviations checks for each deviation that the expected check fails, and that checks that it does not affect
// pass.
func TestConformDetectsDeviations(t *testing.T) {
	t.Parallel()
	s := system(t)
	p := buildCommandLine(t, s)
	scoredBoard(t, s)
	for _, d := range deviations {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			c := p.conform(t, s, startDeviatingProxy(t, s.Hub, d), startDeviatingProxy(t, s.API, d), startDeviatingProxy(t, s.Clock, d), "5s", 1)
			want := append([]string{d.caught}, d.also...)
			slices.Sort(want)
			if got := c.failed(); !slices.Equal(got, want) {
				t.Errorf("failed checks are %q; want %q", got, want)
				c.logFindings(t)
			}
			if c.of(d.caught) != "fail" {
				t.Errorf("the deviation %q is not detected by the check %s", d.name, d.caught)
			}
		})
	}
}
