package caller

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/signalcast/signalcast/pkg/apperr"
)

// TestPublicReads checks that a public read accepts every valid bearer credential without an identity, counts it like other
// routes, and rejects invalid ones with a reason.
func TestPublicReads(t *testing.T) {
	t.Parallel()
	w, s, _ := newWorld(t)
	t.Cleanup(s.Close)
	s.Tokens = (&grants{}).Authenticate
	key, token := keyText(1), "dat_"+strings.Repeat("A", 43)
	w.keys[hashOf(t, key)] = true
	ask := func(bearer string) (Caller, error) {
		c, _, err := s.Resolve(t.Context(), Request{Accept: AcceptNone, Public: true, Authorization: []string{"Bearer " + bearer}})
		return c, err
	}
	for range 2 {
		for _, bearer := range []string{key, token, "good.jwt.sig"} {
			c, err := ask(bearer)
			if err != nil || c.Kind != Reader || c.Operator != nil || c.Actor().ID != "" || c.Actor().KeyHash != nil || c.Delegate.UserID != "" {
				t.Errorf("%s: caller %+v, %v; want a reader without an identity", bearer, c, err)
			}
		}
	}
	if want := []string{"hub-key", "hub-token", "login", "hub-key", "hub-token", "login"}; !slices.Equal(w.counted, want) || w.asked != 1 {
		t.Errorf("counted %v, %d verifications of the key; want %v and 1", w.counted, w.asked, want)
	}
	for bearer, reason := range map[string]string{
		keyText(2): apperr.ReasonUnknown, "dat_" + strings.Repeat("A", 42) + "B": apperr.ReasonUnknown, "bad.jwt.sig": apperr.ReasonUnknown,
		"drt_" + strings.Repeat("A", 43): apperr.ReasonWrongKind, "x": apperr.ReasonUnknown,
	} {
		if c, err := ask(bearer); apperr.ReasonOf(err) != reason || apperr.Of(err).Message == "" || c.Kind != Anonymous {
			t.Errorf("%s: %+v, %v; want the reason %s", bearer, c, err, reason)
		}
	}
	delete(w.keys, hashOf(t, key))
	if _, err := ask(key); err != nil {
		t.Errorf("a key that was revoked just now: %v", err)
	}
	w.now = w.now.Add(readerLife)
	if _, err := ask(key); !errors.Is(err, ErrUnauthenticated) {
		t.Errorf("%v after the last verification of a revoked key: %v; want unauthenticated", readerLife, err)
	}
}

// TestReasons checks the reason and the text of each rejected credential.
func TestReasons(t *testing.T) {
	t.Parallel()
	_, s, sessions := newWorld(t)
	t.Cleanup(s.Close)
	old, oldSig := start(t, sessions, "u1", 2)
	for name, c := range map[string]struct {
		r            Request
		reason, text string
	}{
		"nothing":       {Request{Accept: AcceptKey | AcceptSession}, apperr.ReasonMissing, "an operator key (Authorization: Bearer dk_...) or a session of the hub"},
		"no secret":     {Request{Accept: AcceptAdmin}, apperr.ReasonMissing, "x-admin-secret"},
		"wrong kind":    {Request{Accept: AcceptKey, Authorization: []string{"Bearer good.jwt.sig"}}, apperr.ReasonWrongKind, "send an operator key"},
		"public write":  {Request{Accept: AcceptNone, Authorization: []string{"Bearer " + keyText(1)}}, apperr.ReasonWrongKind, "omit the header"},
		"unknown key":   {Request{Accept: AcceptKey, Authorization: []string{"Bearer " + keyText(1)}}, apperr.ReasonUnknown, "operator key is unknown"},
		"malformed":     {Request{Accept: AcceptKey, Authorization: []string{"Token x"}}, apperr.ReasonUnknown, "exactly one header"},
		"ended session": {Request{Accept: AcceptSession, UID: old, Sig: oldSig}, apperr.ReasonRevoked, "session has ended"},
		"forged":        {Request{Accept: AcceptSession, UID: old, Sig: "AAAA"}, apperr.ReasonUnknown, "session cookies are invalid"},
	} {
		_, _, err := s.Resolve(t.Context(), c.r)
		if f := apperr.Of(err); f == nil || apperr.ReasonOf(err) != c.reason || !strings.Contains(f.Message, c.text) {
			t.Errorf("%s: %v, reason %q; want %q and a text with %q", name, err, apperr.ReasonOf(err), c.reason, c.text)
		}
	}
}
