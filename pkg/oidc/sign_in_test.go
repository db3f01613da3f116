package oidc_test

import (
	"testing"
	"time"
)

func TestOnlyVerifiedAddresses(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const address = "mara@x.example"
	for name, c := range map[string]struct {
		claims set
		want   string
	}{
		"verified":     {set{"email": address, "email_verified": true}, address},
		"not verified": {set{"email": address, "email_verified": false}, ""},
		"not stated":   {set{"email": address}, ""},
		"a text":       {set{"email": address, "email_verified": "true"}, ""},
		"no address":   {set{"email_verified": true}, ""},
		"a list":       {set{"email": []string{address}, "email_verified": true}, ""},
	} {
		s, err := b.verifier.Verify(t.Context(), b.sign(t, "key-1", validClaims(c.claims)))
		if err != nil || s.Email != c.want {
			t.Errorf("%s: %q, want %q: %v", name, s.Email, c.want, err)
		}
	}
}

func TestSignInTimeIsAuthTimeElseIssueTime(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for name, c := range map[string]struct {
		claims set
		want   time.Time // zero: the token is rejected
	}{
		"auth_time":       {set{"iat": noon.Unix() - 10, "auth_time": noon.Unix() - 3000}, noon.Add(-3000 * time.Second)},
		"no auth_time":    {set{"iat": noon.Unix() - 10}, noon.Add(-10 * time.Second)},
		"in the future":   {set{"auth_time": noon.Unix() + 61}, time.Time{}},
		"a text":          {set{"auth_time": "now"}, time.Time{}},
		"a negative time": {set{"auth_time": -1}, time.Time{}},
	} {
		s, err := b.verifier.Verify(t.Context(), b.sign(t, "key-1", validClaims(c.claims)))
		if (err != nil) != c.want.IsZero() || err == nil && !s.SignedInAt.Equal(c.want) {
			t.Errorf("%s: %v, want %v: %v", name, s.SignedInAt, c.want, err)
		}
	}
}
