package operator_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/services/api/internal/operator"
)

// keys is a store that accepts every new key.
type keys struct{ operator.Store }

func (keys) MintKey(context.Context, string, operator.Key, []byte) (string, error) {
	return "free", nil
}

// TestPermissionsOfAKey checks which permissions a new key gets, and which requests are rejected. The routes of the hub and of
// the api have the same rules.
func TestPermissionsOfAKey(t *testing.T) {
	t.Parallel()
	s := operator.NewService(keys{}, "secret", time.Now)
	all := []string{"read", "signal", "broadcast"}
	for _, c := range []struct {
		asked, got []string // got is nil: the request is rejected
	}{
		{nil, all},
		{[]string{"signal"}, []string{"signal"}},
		{[]string{"broadcast", "read"}, []string{"read", "broadcast"}},
		{[]string{"broadcast", "signal", "read"}, all},
		{[]string{"fly"}, nil},
		{[]string{""}, nil},
		{[]string{"read", "read"}, nil},
		{[]string{"read", "signal", "read"}, nil},
	} {
		_, k, err := s.Mint(t.Context(), "0199f0a4-0000-7000-8000-000000000001", "label", operator.PrefixAgent, c.asked, false)
		if refused := errors.Is(err, operator.ErrPermissions); refused != (c.got == nil) || !slices.Equal(k.Permissions, c.got) {
			t.Errorf("Mint with permissions %q: got %q, %v", c.asked, k.Permissions, err)
		}
	}
}

func (keys) RevokeKey(_ context.Context, _, id string, _ time.Time) (operator.Key, []string, error) {
	return operator.Key{ID: id}, nil, nil
}

// TestIDsOfKeys checks that Revoke accepts only a UUID in the form of 36 characters.
func TestIDsOfKeys(t *testing.T) {
	t.Parallel()
	s := operator.NewService(keys{}, "secret", time.Now)
	const id = "0199f0a4-0000-7000-8000-000000000001"
	for text, known := range map[string]bool{
		id: true, "0199F0A4-0000-7000-8000-000000000001": true, "urn:uuid:" + id: false, "{" + id + "}": false, "0199f0a4000070008000000000000001": false, "": false,
	} {
		if _, _, err := s.Revoke(t.Context(), id, text); errors.Is(err, operator.ErrKeyNotFound) == known {
			t.Errorf("Revoke of id %q: %v", text, err)
		}
	}
}

func TestLabelOfAKey(t *testing.T) {
	t.Parallel()
	s := operator.NewService(keys{}, "secret", time.Now)
	for label, good := range map[string]bool{
		"overlay bot": true, strings.Repeat("é", 64): true, strings.Repeat("é", 65): false, "": false, "  ": false, "a\nb": false, "a\x1bb": false,
		"a\u2028b": false, "a\u202eb": false, "\u00a0\u200b": false, "\U0001f469\u200d\U0001f680": true,
	} {
		_, _, err := s.Mint(t.Context(), "0199f0a4-0000-7000-8000-000000000001", label, operator.PrefixKey, nil, false)
		if good != (err == nil) || !good && !errors.Is(err, operator.ErrLabel) {
			t.Errorf("Mint with label %q: %v", label, err)
		}
	}
}

func (keys) FindByIdentity(context.Context, string, string) (*operator.Operator, error) {
	return nil, nil
}

func (keys) FindErased(context.Context, string) (operator.Erased, error) {
	return operator.Erased{}, nil
}

func (keys) CreateOperator(_ context.Context, o operator.Operator) (*operator.Operator, error) {
	return &o, nil
}

// TestNameOfALogin checks that the display name is the name from the identity provider only if it is a valid display name.
// Otherwise it must be the handle.
func TestNameOfALogin(t *testing.T) {
	t.Parallel()
	s := operator.NewService(keys{}, "secret", time.Now)
	for name, want := range map[string]string{
		"Mara K": "Mara K", "\U0001f469\u200d\U0001f680": "\U0001f469\u200d\U0001f680", strings.Repeat("é", 65): strings.Repeat("é", 64),
		"": "mara", "a\nb": "mara", "a\u202eb": "mara", "a\u2028b": "mara", " \u00a0\u200b": "mara", "\xff": "mara",
	} {
		o, _, err := s.SignIn(t.Context(), operator.Identity{Issuer: "https://idp.example", Subject: "one", Primary: true, Username: "mara", Name: name})
		if err != nil || o.DisplayName != want {
			t.Errorf("%q: %q, want %q (%v)", name, o.DisplayName, want, err)
		}
	}
}
