package e2e

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

	"github.com/chromedp/chromedp"

	"github.com/signalcast/signalcast/pkg/localdb"
)

// sample is the app of examples/signin at work.
type sample struct {
	url string
	out *lines
}

// runSample builds the app from a copy of its folder alone, as somebody does who took it
// with them, and runs it.
func runSample(t *testing.T, settings ...string) *sample {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "signin")
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(repo, "examples/signin"))); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-o", "app", ".")
	build.Dir, build.Env = dir, append(plainEnv(), "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	s := &sample{out: &lines{}}
	cmd := exec.Command(filepath.Join(dir, "app"))
	cmd.Env = append(append(plainEnv(), "LISTEN=127.0.0.1:0"), settings...)
	cmd.Stdout, cmd.Stderr = s.out, s.out
	child, err := localdb.StartChild(cmd, syscall.SIGTERM)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		child.Stop(context.Background(), syscall.SIGTERM, stopWithin)
		if err := child.Err(); err != nil {
			t.Errorf("the app did not end in order: %v\n%s", err, s.out)
		}
	})
	eventually(t, func() bool {
		_, after, ok := strings.Cut(s.out.String(), "open ")
		url, _, whole := strings.Cut(after, "\n")
		s.url = url
		return ok && whole
	}, "the app's address")
	return s
}

// sampleApp registers the app and gives its client id.
func (p *person) sampleApp(t *testing.T) string {
	t.Helper()
	return p.app(t, "http://127.0.0.1/callback", "profile:read", "signal:create", "offline_access").ClientID
}

// TestSampleInABrowser: a person signs in to the sample app, files a call, reads the
// receipt, is told why a second one is refused, and signs out.
func TestSampleInABrowser(t *testing.T) {
	t.Parallel()
	s := up(t)
	owner, user := s.person(t), s.person(t)
	app := runSample(t, "HUB_URL="+s.Hub, "CLIENT_ID="+owner.sampleApp(t))
	market, closed := s.native(t, 5000), s.native(t, 5000)
	s.finalize(t, closed, "YES")
	b := open(t, phoneWidth, phoneHeight)
	b.visit(app.url, http.StatusOK)

	// No is an answer, too.
	b.do("sign in", chromedp.Click(chromedp.CSS(`#signin`)))
	b.enter(user, `form.decide`)
	b.press(`form.decide button[value="deny"]`, `.problem`)
	b.forget("status of 403")
	shows(t, b, "main", "You said no, so nothing was connected.", "Sign in with Signalcast")

	b.press(`#signin`, `form.decide`)
	b.press(`form.decide button[value="approve"]`, `form#call`)
	shows(t, b, "main", "Signed in as @"+user.user)
	b.fits("the app")

	file := func(market, price, side, appears string) {
		b.fill(`#call`, map[string]string{"market": market, "price": price})
		b.press(fmt.Sprintf(`button[value=%q]`, side), appears)
	}
	file(market, "60.5", "NO", `#receipt`)
	shows(t, b, "#receipt", "NO at 60.5 cents, pending", "The receipt at the hub")
	b.fits("the receipt")

	file(market, "30", "YES", `#standing`)
	b.forget("status of 409")
	shows(t, b, "main", "You have a call on this market already. The first call is locked and stands.")
	b.press(`#standing`, `#receipt`)
	shows(t, b, "#receipt", "NO at 60.5 cents")

	file(closed, "30", "YES", `.problem`)
	b.forget("status of 409")
	shows(t, b, "main", "This market takes no calls any more.")

	// What the person ends at the hub ends here, in plain words.
	b.visit(s.Hub+"/apps", http.StatusOK)
	b.press(`form[action="/apps/revoke"] button`, `.empty-line`)
	b.visit(app.url, http.StatusOK)
	file(s.native(t, 5000), "30", "YES", `.problem`)
	b.forget("status of 401")
	shows(t, b, "main", "Your permission has ended. Please sign in again.", "Sign in with Signalcast")

	b.press(`#signin`, `form.decide`)
	b.press(`form.decide button[value="approve"]`, `form#call`)
	b.press(`#signout`, `#signin`)
	shows(t, b, "main", "Sign in with Signalcast")
	b.clean("the sample app")
}
