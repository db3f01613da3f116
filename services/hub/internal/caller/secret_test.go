package caller

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

func TestSecrets(t *testing.T) {
	t.Parallel()
	w, s, _ := newWorld(t)
	ask := func(accept Accepted, admin, cron []string) (Caller, error) {
		c, _, err := s.Resolve(t.Context(), Request{Accept: accept, AdminSecret: admin, CronSecret: cron, IP: "192.0.2.1"})
		return c, err
	}
	both := AcceptAdmin | AcceptCron
	if c, err := ask(AcceptAdmin, []string{adminA}, nil); err != nil || c.Kind != Admin {
		t.Errorf("admin: %v", err)
	}
	if c, err := ask(both, nil, []string{cronA}); err != nil || c.Kind != Cron {
		t.Errorf("cron: %v", err)
	}
	for name, c := range map[string]struct {
		accept      Accepted
		admin, cron []string
		want        error
	}{
		"missing":         {AcceptAdmin, nil, nil, ErrUnauthenticated},
		"missing both":    {both, nil, nil, ErrUnauthenticated},
		"wrong":           {AcceptAdmin, []string{"nope"}, nil, ErrForbidden},
		"empty":           {AcceptAdmin, []string{""}, nil, ErrForbidden},
		"twice":           {AcceptAdmin, []string{adminA, adminA}, nil, ErrForbidden},
		"cron for admin":  {AcceptAdmin, nil, []string{cronA}, ErrUnauthenticated},
		"cron as admin":   {both, []string{cronA}, nil, ErrForbidden},
		"admin as cron":   {both, nil, []string{adminA}, ErrForbidden},
		"wrong and right": {both, []string{"nope"}, []string{cronA}, ErrForbidden},
		"admin only":      {both, []string{adminA}, nil, nil},
	} {
		if _, err := ask(c.accept, c.admin, c.cron); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
		w.now = w.now.Add(window)
	}
	r := Request{Accept: both, AdminSecret: []string{adminA}, Authorization: []string{"Bearer " + keyText(1)}}
	if _, _, err := s.Resolve(t.Context(), r); !errors.Is(err, ErrUnauthenticated) {
		t.Errorf("key on an admin route: %v", err)
	}
}

func TestUnsetSecretClosesTheRoute(t *testing.T) {
	t.Parallel()
	w, _, sessions := newWorld(t)
	s := New(Deps{Sessions: sessions, Logins: w, Directory: operator.Directory{Ledger: w}, Now: w.Now})
	for _, given := range [][]string{nil, {""}, {"x"}} {
		if _, _, err := s.Resolve(t.Context(), Request{Accept: AcceptAdmin, AdminSecret: given}); !errors.Is(err, ErrForbidden) {
			t.Errorf("%v: %v", given, err)
		}
	}
}

func TestTenWrongSecrets(t *testing.T) {
	t.Parallel()
	w, s, _ := newWorld(t)
	ask := func(ip, secret string) error {
		_, _, err := s.Resolve(t.Context(), Request{Accept: AcceptAdmin, AdminSecret: []string{secret}, IP: ip})
		return err
	}
	for range MaxFailures {
		if err := ask("192.0.2.1", "nope"); !errors.Is(err, ErrForbidden) {
			t.Fatal(err)
		}
		w.now = w.now.Add(time.Second)
	}
	err := ask("192.0.2.1", adminA)
	if !errors.Is(err, ErrLimited) || apperr.Of(err).Extra["retryAfterMs"] != int64(50_000) {
		t.Errorf("the right secret after ten wrong ones: %v %v", err, apperr.Of(err).Extra)
	}
	if err := ask("192.0.2.2", adminA); err != nil {
		t.Errorf("another address: %v", err)
	}
	w.now = w.now.Add(50 * time.Second)
	if err := ask("192.0.2.1", adminA); err != nil {
		t.Errorf("a minute after the first: %v", err)
	}
}

// TestWrongSecretsAtOnce sends concurrent requests with a wrong secret. Ten must be refused because the secret is wrong, and the
// others because of the rate limit.
func TestWrongSecretsAtOnce(t *testing.T) {
	t.Parallel()
	_, s, _ := newWorld(t)
	var wrong, waits atomic.Int32
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			_, _, err := s.Resolve(t.Context(), Request{Accept: AcceptAdmin, AdminSecret: []string{"nope"}, IP: "192.0.2.1"})
			switch {
			case errors.Is(err, ErrForbidden):
				wrong.Add(1)
			case errors.Is(err, ErrLimited):
				waits.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	all.Wait()
	if wrong.Load() != MaxFailures || waits.Load() != 50-MaxFailures {
		t.Errorf("%d refused as wrong, %d limited; want 10 wrong", wrong.Load(), waits.Load())
	}
}
