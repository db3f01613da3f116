package reader_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/labstack/echo/v4"
	"go.uber.org/goleak"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/ratelimit"
	"github.com/signalcast/signalcast/pkg/reader"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rig is a Guard in front of one handler. Its ledger accepts the keys in valid, and fails with down unless down is nil.
type rig struct {
	*reader.Guard
	now      time.Time
	valid    map[[32]byte]bool
	down     error
	verified int
}

const perMinute, perCredential = 3, 5

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{now: time.Date(2026, 9, 18, 12, 0, 0, 0, time.UTC), valid: map[[32]byte]bool{}}
	now := func() time.Time { return r.now }
	limit := ratelimit.NewLocal("credential", perCredential, time.Minute, now)
	r.Guard = reader.New(reader.Config{
		Verify: func(_ context.Context, c reader.Credential) (string, error) {
			r.verified++
			switch {
			case r.down != nil:
				return "", r.down
			case !r.valid[c.Hash]:
				return "", apperr.ErrCredentialRevoked
			}
			return string(c.Hash[:]), nil
		},
		Addresses: ratelimit.NewShared(nil, ratelimit.Config{Name: "addr", Limit: perMinute, Window: time.Minute, Now: now}), Now: now,
		Count: func(_ context.Context, _ reader.Kind, id string) ratelimit.Decision { return limit.Allow(id) },
	})
	t.Cleanup(r.Close)
	return r
}

// send sends a public read with the Authorization headers lines and returns its status: 200, 401 or 429.
func (r *rig) send(t *testing.T, lines ...string) int {
	t.Helper()
	q := httptest.NewRequest(http.MethodGet, "/read", nil)
	for _, line := range lines {
		q.Header.Add("Authorization", line)
	}
	c := echo.New().NewContext(q, httptest.NewRecorder())
	err := r.Limit(r.Read(func(echo.Context) error { return nil }))(c)
	switch {
	case err == nil:
		return http.StatusOK
	case apperr.Of(err).Kind == apperr.Unauthenticated:
		if apperr.ReasonOf(err) == "" || apperr.Of(err).Message == "" {
			t.Errorf("%v: 401 without reason or message: %v", lines, err)
		}
		return http.StatusUnauthorized
	case apperr.Of(err).Kind == apperr.Limited:
		return http.StatusTooManyRequests
	}
	t.Errorf("%v: %v", lines, err)
	return 0
}

func key(n string) string { return "dk_" + strings.Repeat(n, 43) }

func (r *rig) accept(t *testing.T, token string) {
	t.Helper()
	c, err := reader.Parse([]string{"Bearer " + token})
	if err != nil {
		t.Fatal(err)
	}
	r.valid[c.Hash] = true
}

// TestCredentialSelectsTheLimit checks that a valid credential counts against its own limit only, also while the limits of the
// address are used up.
func TestCredentialSelectsTheLimit(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.accept(t, key("A"))
	for i := range perMinute + 1 {
		want := http.StatusOK
		if i == perMinute {
			want = http.StatusTooManyRequests
		}
		if got := r.send(t); got != want {
			t.Errorf("anonymous read %d: %d, want %d", i+1, got, want)
		}
	}
	for i := range perCredential + 1 {
		want := http.StatusOK
		if i == perCredential {
			want = http.StatusTooManyRequests
		}
		if got := r.send(t, "Bearer "+key("A")); got != want {
			t.Errorf("read %d with a key: %d, want %d", i+1, got, want)
		}
	}
	if r.verified != 1 {
		t.Errorf("the key was verified %d times, want 1", r.verified)
	}
}

// TestParse checks the kind of each credential, and the reason with which others are rejected.
func TestParse(t *testing.T) {
	t.Parallel()
	for token, want := range map[string]struct {
		kind   reader.Kind
		reason string
	}{
		key("A"):                         {kind: reader.Key},
		"dat_" + strings.Repeat("A", 43): {kind: reader.Token},
		"e30.e30.c2ln":                   {kind: reader.Login},
		"drt_" + strings.Repeat("A", 43): {reason: apperr.ReasonWrongKind},
		"dk_A":                           {reason: apperr.ReasonUnknown},
		"dat_e30.e30.c2ln":               {reason: apperr.ReasonUnknown},
		"other":                          {reason: apperr.ReasonUnknown},
	} {
		got, err := reader.Parse([]string{"Bearer " + token})
		if got.Kind != want.kind || apperr.ReasonOf(err) != want.reason {
			t.Errorf("Parse(%q) = kind %d and reason %q, want %d and %q", token, got.Kind, apperr.ReasonOf(err), want.kind, want.reason)
		}
	}
}

// TestInvalidCredentials checks that invalid credentials are rejected, and that they use up only their own limit of the address.
func TestInvalidCredentials(t *testing.T) {
	t.Parallel()
	for name, lines := range map[string][]string{
		"unknown key": {"Bearer " + key("B")}, "other scheme": {"Basic YTpi"}, "empty": {""}, "two": {"Bearer " + key("A"), "Bearer " + key("A")},
		"refresh token": {"Bearer drt_" + strings.Repeat("A", 43)}, "short": {"Bearer dk_A"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.accept(t, key("A"))
			for i := range perMinute + 1 {
				want := http.StatusUnauthorized
				if i == perMinute {
					want = http.StatusTooManyRequests
				}
				if got := r.send(t, lines...); got != want {
					t.Errorf("read %d: %d, want %d", i+1, got, want)
				}
			}
			if got := r.send(t); got != http.StatusOK {
				t.Errorf("anonymous read after the invalid ones: %d, want 200", got)
			}
		})
	}
}

// TestRevocation checks that a revoked credential is accepted for Life at most.
func TestRevocation(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.accept(t, key("A"))
	if got := r.send(t, "Bearer "+key("A")); got != http.StatusOK {
		t.Fatalf("valid key: %d", got)
	}
	clear(r.valid)
	r.now = r.now.Add(reader.Life)
	if got := r.send(t, "Bearer "+key("A")); got != http.StatusUnauthorized {
		t.Errorf("%v after the verification: %d, want 401", reader.Life, got)
	}
	if reader.Life > 5*time.Second {
		t.Errorf("Life is %v; the clock and the api may use it once each, 10 s in total", reader.Life)
	}
}

// TestUnverifiable checks that a read is answered while its credential cannot be verified, and is charged to its address.
func TestUnverifiable(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.down = apperr.New(apperr.Unavailable, "db_unavailable", "the database is unavailable")
	for i := range perMinute + 1 {
		want := http.StatusOK
		if i == perMinute {
			want = http.StatusTooManyRequests
		}
		if got := r.send(t, "Bearer "+key("A")); got != want {
			t.Errorf("read %d: %d, want %d", i+1, got, want)
		}
	}
}
