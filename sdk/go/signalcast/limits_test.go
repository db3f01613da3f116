package signalcast

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/signalcast/signalcast/sdk/go/client"
)

// limited answers a request above a limit.
func limited(w http.ResponseWriter) {
	w.Header().Set("RateLimit-Policy", `"hub";q=60;w=60`)
	w.Header().Set("RateLimit", `"hub";r=0;t=58`)
	say(w, 429, `{"error":"rate_limited","limit":60,"retryAfterMs":57400}`)
}

// TestLimits checks that the client reports the state of limits, and that the error of a limit names its bound and its wait.
func TestLimits(t *testing.T) {
	t.Parallel()
	var seen []int
	o := Options{OnLimit: func(l Limit) { seen = append(seen, l.Remaining) }}
	c, _ := served(t, o, func(n int, w http.ResponseWriter, _ *http.Request) {
		if n > 1 {
			limited(w)
			return
		}
		w.Header().Set("RateLimit-Policy", `"hub";q=60;w=60`)
		w.Header().Set("RateLimit", `"hub";r=42;t=9`)
		say(w, 200, `{}`)
	})
	if got := c.Limits(); len(got) != 0 {
		t.Errorf("before a response: %+v", got)
	}
	if _, err := c.People.Me(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := Limit{Service: "Hub", Name: "hub", Limit: 60, Window: time.Minute, Remaining: 42, Reset: 9 * time.Second}
	got := c.Limits()
	if len(got) != 1 || got[0].At.IsZero() {
		t.Fatalf("%+v", got)
	}
	if got[0].At = (time.Time{}); got[0] != want {
		t.Errorf("%+v, want %+v", got[0], want)
	}
	_, err := c.People.Me(t.Context())
	if !errors.Is(err, ErrRateLimited) || err.Error() != "signalcast: GET /api/protocol/v1/me: 429 rate_limited: 60 requests in 60 s; retry in 58 s" {
		t.Errorf("%v", err)
	}
	if !slices.Equal(seen, []int{42, 0}) {
		t.Errorf("OnLimit received %v", seen)
	}
}

// TestWaitForLimits checks that WaitForLimits repeats also a request that other errors do not repeat, and that it does not wait for
// hours.
func TestWaitForLimits(t *testing.T) {
	t.Parallel()
	o := Options{Retry: Retry{Tries: 1, WaitForLimits: true}}
	c, requests := served(t, o, func(n int, w http.ResponseWriter, _ *http.Request) {
		if n <= 3 {
			say(w, 429, `{"error":"rate_limited","retryAfterMs":20}`)
			return
		}
		say(w, 200, `{"key":"dk_new"}`)
	})
	if made, err := c.Keys.Mint(t.Context(), client.KeyMint{Label: "x"}); err != nil || made.Key != "dk_new" || requests.Load() != 4 {
		t.Errorf("%+v, %v after %d requests; want a key after 4", made, err, requests.Load())
	}
	c, requests = served(t, o, func(_ int, w http.ResponseWriter, _ *http.Request) {
		say(w, 429, `{"error":"rate_limited","message":"ten reports in 24 hours","retryAfterMs":3600000}`)
	})
	if _, err := c.People.Me(t.Context()); !strings.HasSuffix(err.Error(), "ten reports in 24 hours; retry in 3600 s") || requests.Load() != 1 {
		t.Errorf("%v after %d requests; want an error after 1", err, requests.Load())
	}
}

// TestTokenOnReads checks that the credential is sent on public reads only with TokenOnReads, and never on public writes.
func TestTokenOnReads(t *testing.T) {
	t.Parallel()
	for _, on := range []bool{false, true} {
		var sent []string
		c, _ := served(t, Options{Token: Key("dk_x"), TokenOnReads: on}, func(_ int, w http.ResponseWriter, r *http.Request) {
			sent = append(sent, r.Header.Get("Authorization"))
			say(w, 200, `{}`)
		})
		_, err := c.Markets.Get(t.Context(), "7")
		_, err2 := c.People.Me(t.Context())
		_, err3 := c.Hub.ViewStreamWithResponse(t.Context(), "mara_k", client.ViewStreamJSONRequestBody{})
		if err := errors.Join(err, err2, err3); err != nil {
			t.Fatal(err)
		}
		read := ""
		if on {
			read = "Bearer dk_x"
		}
		if want := []string{read, "Bearer dk_x", ""}; !slices.Equal(sent, want) {
			t.Errorf("TokenOnReads %t: sent %q, want %q", on, sent, want)
		}
	}
}

// TestIgnoredParameters checks that the names in the header X-Ignored are reported.
func TestIgnoredParameters(t *testing.T) {
	t.Parallel()
	var seen []string
	o := Options{OnIgnored: func(operation string, names []string) { seen = append(append(seen, operation), names...) }}
	c, _ := served(t, o, func(_ int, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Ignored", "limit, lane")
		say(w, 200, `{}`)
	})
	if _, err := c.Boards.Broadcast(t.Context(), nil); err != nil || !slices.Equal(seen, []string{"GET /api/operator/leaderboard", "limit", "lane"}) {
		t.Errorf("%v, %v", seen, err)
	}
}

// TestEmptyIDs checks that an empty id is an error without a request.
func TestEmptyIDs(t *testing.T) {
	t.Parallel()
	c, requests := served(t, Options{Token: Key("dk_x")}, func(_ int, w http.ResponseWriter, _ *http.Request) { say(w, 200, `{}`) })
	ctx, some := t.Context(), uuid.New()
	for name, call := range map[string]func() error{
		"Signals.Get":     func() error { _, err := c.Signals.Get(ctx, uuid.Nil); return err },
		"Signals.Events":  func() error { _, err := c.Signals.Events(ctx, uuid.Nil); return err },
		"Markets.Get":     func() error { _, err := c.Markets.Get(ctx, ""); return err },
		"Markets.Crowd":   func() error { _, err := c.Markets.Crowd(ctx, ""); return err },
		"Markets.Outcome": func() error { _, err := c.Markets.Outcome(ctx, ""); return err },
		"Operators.Get":   func() error { _, err := c.Operators.Get(ctx, ""); return err },
		"Keys.Revoke":     func() error { _, err := c.Keys.Revoke(ctx, uuid.Nil); return err },
		"Live.Signal":     func() error { _, err := c.Live.Signal(ctx, ""); return err },
		"Live.Unbind":     func() error { _, err := c.Live.Unbind(ctx, ""); return err },
		"People.Follows":  func() error { _, err := c.People.Follows(ctx, ""); return err },
		"Webhooks.Resend": func() error { _, err := c.Webhooks.Resend(ctx, some, uuid.Nil); return err },
		"Webhooks.Delete": func() error { _, err := c.Webhooks.Delete(ctx, uuid.Nil); return err },
		"Apps.Get":        func() error { _, err := c.Apps.Get(ctx, uuid.Nil); return err },
		"Messages.Get":    func() error { _, err := c.Messages.Get(ctx, ""); return err },
	} {
		if err := call(); err == nil || !strings.Contains(err.Error(), "empty") {
			t.Errorf("%s: %v; want an error that names the empty id", name, err)
		}
	}
	if n := requests.Load(); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
	if _, err := c.Markets.Get(ctx, "a//b/"); err != nil {
		t.Errorf("an id with slashes: %v", err)
	}
}
