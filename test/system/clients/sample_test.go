package clients

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/localdb"
	"github.com/signalcast/signalcast/test/system/browser"
	"github.com/signalcast/signalcast/test/system/stack"
)

// sample is a running copy of the example application in examples/signin.
type sample struct {
	url string
	out *stack.Output
}

// runSample builds the application from a copy of its directory, without the rest of the repository, and runs it.
func runSample(t *testing.T, settings ...string) *sample {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "signin")
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(repo, "examples/signin"))); err != nil {
		t.Fatal(err)
	}
	run(t, dir, []string{"GOWORK=off"}, "go", "build", "-o", "app", ".")
	s := &sample{out: &stack.Output{}}
	cmd := exec.Command(filepath.Join(dir, "app"))
	cmd.Env = append(append(os.Environ(), "LISTEN=127.0.0.1:0"), settings...)
	cmd.Stdout, cmd.Stderr = s.out, s.out
	child, err := localdb.StartChild(cmd, syscall.SIGTERM)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		child.Stop(context.Background(), syscall.SIGTERM, 15*time.Second)
		if err := child.Err(); err != nil {
			t.Errorf("the application ended with an error: %v\n%s", err, s.out)
		}
	})
	stack.Eventually(t, 30*time.Second, "the address of the application", func() bool {
		_, after, ok := strings.Cut(s.out.String(), "open ")
		url, _, whole := strings.Cut(after, "\n")
		s.url = url
		return ok && whole
	})
	return s
}

// sampleApp registers the application at the hub and returns its client id.
func sampleApp(t *testing.T, s *stack.Stack, p *stack.Operator) string {
	t.Helper()
	return post(t, s.Hub+"/api/dev/apps", stack.Bearer(p.Login), stack.Body(stack.JSON{
		"name": "Tide", "type": "public", "redirectUris": []string{"http://127.0.0.1/callback"},
		"scopes": []string{"profile:read", "signal:create", "offline_access"},
	})).Require(http.StatusCreated).Text("clientId")
}

// TestSampleInABrowser checks the example application in a browser: a person signs in, files a call, reads the receipt,
// gets an explanation for a refused second call, and signs out.
func TestSampleInABrowser(t *testing.T) {
	t.Parallel()
	s := system(t)
	owner, user := s.NewOperator(t), s.NewOperator(t)
	app := runSample(t, "HUB_URL="+s.Hub, "CLIENT_ID="+sampleApp(t, s, owner))
	market, closed := s.NewNativeMarket(t, 5000, nil), s.NewNativeMarket(t, 5000, nil)
	s.Finalize(t, closed, "YES")
	b := browser.Open(t, browser.Phone)
	b.Visit(app.url, http.StatusOK)

	// The person denies the authorization.
	b.Click(`#signin`)
	b.SignIn(user.Handle, `form.decide`)
	b.Press(`form.decide button[value="deny"]`, `.problem`)
	b.Forget("status of 403")
	b.Shows("main", "You denied access, so nothing was connected.", "Sign in with Signalcast")

	b.Press(`#signin`, `form.decide`)
	b.Press(`form.decide button[value="approve"]`, `form#call`)
	b.Shows("main", "Signed in as @"+user.Handle)
	b.RequireFits()

	file := func(market, price, side, appears string) {
		b.Fill(`#call`, map[string]string{"market": market, "price": price})
		b.Press(fmt.Sprintf(`button[value=%q]`, side), appears)
	}
	file(market, "60.5", "NO", `#receipt`)
	b.Shows("#receipt", "NO at 60.5 cents, pending", "Receipt at the hub")
	b.RequireFits()

	file(market, "30", "YES", `#existing`)
	b.Forget("status of 409")
	b.Shows("main", "You already have a call on this market. The first call is final.")
	b.Press(`#existing`, `#receipt`)
	b.Shows("#receipt", "NO at 60.5 cents")

	file(closed, "30", "YES", `.problem`)
	b.Forget("status of 409")
	b.Shows("main", "This market no longer accepts calls.")

	// The person revokes the grant at the hub.
	b.Visit(s.Hub+"/settings/apps", http.StatusOK)
	b.Press(`form[action="/apps/revoke"] button`, `.empty-line`)
	b.Visit(app.url, http.StatusOK)
	file(s.NewNativeMarket(t, 5000, nil), "30", "YES", `.problem`)
	b.Forget("status of 401")
	b.Shows("main", "Your permission has ended. Please sign in again.", "Sign in with Signalcast")

	b.Press(`#signin`, `form.decide`)
	b.Press(`form.decide button[value="approve"]`, `form#call`)
	b.Press(`#signout`, `#signin`)
	b.Shows("main", "Sign in with Signalcast")
	b.RequireNoProblems()
}
