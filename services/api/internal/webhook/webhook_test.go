package webhook_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/services/api/internal/webhook"
)

// TestSignatureInDocs checks that the example signature in docs/protocol/webhooks.md is the one that Sign computes.
func TestSignatureInDocs(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../../docs/protocol/webhooks.md")
	if err != nil {
		t.Fatal(err)
	}
	got := webhook.Sign(time.Unix(1789732800, 999), []byte(`{"events":[]}`), "whsec_"+strings.Repeat("A", 43))
	value, ok := strings.CutPrefix(got, "t=1789732800,v1=")
	if !ok || len(value) != 64 || !strings.Contains(string(page), "\n`"+value+"`.") {
		t.Error(got)
	}
}

func TestBackoff(t *testing.T) {
	t.Parallel()
	var total time.Duration
	for i, want := range []time.Duration{5 * time.Second, 15 * time.Second, time.Minute, 5 * time.Minute, 15 * time.Minute, 30 * time.Minute, time.Hour, time.Hour} {
		got := webhook.Backoff(i+1, 0.5)
		if got.Round(time.Second) != want {
			t.Errorf("after attempt %d: %v, want %v", i+1, got, want)
		}
		total += got
	}
	if low, high := webhook.Backoff(7, 0), webhook.Backoff(700, 1); low.Round(time.Second) != 54*time.Minute || high.Round(time.Second) != 66*time.Minute {
		t.Errorf("the longest pause is %v to %v, want 54m to 66m", low, high)
	}
	since := time.Date(2026, 10, 10, 12, 0, 0, 0, time.UTC)
	if webhook.Dead(since, since.Add(72*time.Hour-1)) || !webhook.Dead(since, since.Add(72*time.Hour)) {
		t.Error("Dead does not change after exactly three days")
	}
}

// TestRenewals checks that of several replaced secrets, the newest and the oldest sign, each for one day after its replacement.
func TestRenewals(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 10, 10, 12, 0, 0, 0, time.UTC)
	now := noon
	s := &onlyRenews{}
	v := webhook.NewVault("0123456789abcdef0123456789abcdef")
	service := webhook.NewService(s, nil, v, nil, func() time.Time { return now })
	s.hook = webhook.Hook{ID: "01990000-0000-7000-8000-000000000000"}
	secrets := []string{"whsec_deployed"}
	s.hook.Secret = v.Seal(s.hook.ID, secrets[0])
	for _, at := range []time.Duration{0, time.Hour, 2 * time.Hour, 3 * time.Hour} { // four renewals
		now = noon.Add(at)
		_, secret, err := service.Renew(t.Context(), webhook.Owner{}, s.hook.ID)
		if err != nil {
			t.Fatal(err)
		}
		secrets = append(secrets, secret)
	}
	const day = 24 * time.Hour
	for _, c := range []struct {
		at   time.Duration
		sign []int
	}{{3 * time.Hour, []int{4, 3, 0}}, {day - 1, []int{4, 3, 0}}, {day, []int{4, 3}}, {day + 3*time.Hour - 1, []int{4, 3}}, {day + 3*time.Hour, []int{4}}} {
		var with []string
		for _, n := range c.sign {
			with = append(with, secrets[n])
		}
		got, err := v.Signature(&s.hook, noon.Add(c.at), []byte("{}"))
		if want := webhook.Sign(noon.Add(c.at), []byte("{}"), with...); got != want || err != nil {
			t.Errorf("after %v: %s, %v; want %s", c.at, got, err, want)
		}
	}
	now = noon.Add(day + time.Hour) // the first secret has expired
	if _, _, err := service.Renew(t.Context(), webhook.Owner{}, s.hook.ID); err != nil {
		t.Fatal(err)
	}
	if got, _ := v.Signature(&s.hook, now, nil); strings.Count(got, "v1=") != 3 || !strings.Contains(got, sum(now, secrets[3])) || !strings.Contains(got, sum(now, secrets[4])) {
		t.Errorf("signature after another renewal: %s, want three secrets", got)
	}
	other := webhook.NewVault("x")
	if got, err := other.Signature(&s.hook, now, nil); err == nil {
		t.Errorf("signed under another key: %s", got)
	}
	again := webhook.NewService(s, nil, other, nil, func() time.Time { return now })
	_, fresh, err := again.Renew(t.Context(), webhook.Owner{}, s.hook.ID)
	if got, _ := other.Signature(&s.hook, now, nil); err != nil || got != webhook.Sign(now, nil, fresh) || s.hook.OldSecret != nil {
		t.Errorf("renewed under another key: %s, %v", got, err)
	}
}

// sum returns the signature of an empty body with one secret.
func sum(at time.Time, secret string) string {
	_, v1, _ := strings.Cut(webhook.Sign(at, nil, secret), ",")
	return v1
}

// onlyRenews is a store that implements only RenewWebhook, for one webhook.
type onlyRenews struct {
	webhook.Store
	hook webhook.Hook
}

func (s *onlyRenews) RenewWebhook(_ context.Context, _, _ string, renew func(*webhook.Hook)) (webhook.Hook, error) {
	renew(&s.hook)
	return s.hook, nil
}

func TestVault(t *testing.T) {
	t.Parallel()
	v := webhook.NewVault("0123456789abcdef0123456789abcdef")
	one, two := v.Seal("a", "whsec_x"), v.Seal("a", "whsec_x")
	if string(one) == string(two) || strings.Contains(string(one), "whsec") {
		t.Error("Seal returned the same bytes twice, or plain text")
	}
	if got, err := v.Open("a", one); err != nil || got != "whsec_x" {
		t.Errorf("Open returned %q, %v", got, err)
	}
	for name, open := range map[string]func() (string, error){
		"of another webhook": func() (string, error) { return v.Open("b", one) },
		"another key":        func() (string, error) { return webhook.NewVault("x").Open("a", one) },
		"cut":                func() (string, error) { return v.Open("a", one[:len(one)-1]) },
		"empty":              func() (string, error) { return v.Open("a", nil) },
	} {
		if got, err := open(); err == nil {
			t.Errorf("%s: Open returned %q, want an error", name, got)
		}
	}
}
