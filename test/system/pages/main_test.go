package pages

import (
	"net/http"
	"strings"
	"testing"

	"github.com/signalcast/signalcast/test/system/browser"
	"github.com/signalcast/signalcast/test/system/openapi"
	"github.com/signalcast/signalcast/test/system/stack"
)

func TestMain(m *testing.M) {
	openapi.Main(m, func(o *openapi.Operation) bool { return false }) // other packages cover the operations
}

// system returns the system that the tests of this package share.
func system(t *testing.T) *stack.Stack {
	t.Helper()
	return stack.Shared(t, stack.ScoredAtOnce(), stack.Env("RATE_LIMIT_ANON", "0"), stack.Env("PAYOUT_CHAIN_ID", chainID),
		stack.Env("PAYOUT_CHAIN_LABEL", chain), stack.Env("PAYOUT_USDC_ADDRESS", usdc),
		stack.Env("MAIL_SMTP_URL", "smtp://127.0.0.1:1"), stack.Env("MAIL_FROM", "news@hub.example")) // no server: letters wait
}

// atBothSizes runs a test twice, in a tab of the size of a phone and in one of the size of a desktop.
func atBothSizes(t *testing.T, test func(t *testing.T, size browser.Size)) {
	for _, size := range browser.PhoneAndDesktop {
		t.Run(size.String(), func(t *testing.T) {
			t.Parallel()
			test(t, size)
		})
	}
}

// read sends a GET request and requires the status 200.
func read(t testing.TB, url string, sets ...stack.Set) stack.Answer {
	t.Helper()
	return stack.Send(t, http.MethodGet, url, sets...).Require(http.StatusOK)
}

// admin sends a POST request to the hub with the admin secret, and requires the status 200.
func admin(t testing.TB, s *stack.Stack, path string, body stack.JSON) {
	t.Helper()
	stack.Send(t, http.MethodPost, s.Hub+path, s.Admin(), stack.Body(body)).Require(http.StatusOK)
}

// requirePolicy requires that pages have a content security policy that allows only scripts of the hub. The pages must contain no
// inline script and no style attribute.
func requirePolicy(t *testing.T, s *stack.Stack, paths ...string) {
	t.Helper()
	for _, path := range paths {
		a := read(t, s.Hub+path)
		policy := a.Header.Get("Content-Security-Policy")
		for _, part := range []string{"default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'"} {
			if !strings.Contains(policy, part) {
				t.Errorf("%s: the content security policy %q lacks %s", path, policy, part)
			}
		}
		_, scripts, _ := strings.Cut(policy, "script-src ")
		if strings.Contains(policy, "unsafe") || scripts != "" && scripts != "'self'" && !strings.HasPrefix(scripts, "'self';") {
			t.Errorf("%s: the content security policy %q allows scripts of other origins", path, policy)
		}
		if a.Header.Get("X-Frame-Options") != "DENY" || !strings.Contains(a.Header.Get("Vary"), "Accept") {
			t.Errorf("%s has wrong security headers: %v", path, a.Header)
		}
		page := strings.ToLower(string(a.Body))
		if strings.Count(page, "<script") != strings.Count(page, `<script type="module" src="/static/`) || styled.Match(a.Body) {
			t.Errorf("%s contains an inline script or a style attribute", path)
		}
	}
}
