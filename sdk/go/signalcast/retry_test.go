package signalcast

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/signalcast/signalcast/sdk/go/client"
)

// TestRetries checks, for each kind of request and of answer, whether the request is retried.
func TestRetries(t *testing.T) {
	t.Parallel()
	id := uuid.New()
	for name, tc := range map[string]struct {
		do   func(*Client) error
		safe bool // the request may be retried
	}{
		"a read": {func(c *Client) error { _, err := c.Signals.Get(t.Context(), id); return err }, true},
		"a call with an idempotency key": {func(c *Client) error {
			_, err := c.Signals.File(t.Context(), client.SignalDraft{})
			return err
		}, true},
		"a call without an idempotency key": {func(c *Client) error {
			_, err := read[client.Filed](c.Hub.FileSignal(t.Context(), nil, client.SignalDraft{}))
			return err
		}, false},
		"an idempotency key on a route without support": {func(c *Client) error {
			_, err := read[client.MintedKey](c.Hub.MintKey(t.Context(), client.KeyMint{}, func(_ context.Context, r *http.Request) error {
				r.Header.Set("Idempotency-Key", "mine")
				return nil
			}))
			return err
		}, false},
		"an event":  {func(c *Client) error { _, err := c.Signals.AddEvent(t.Context(), id, Event{}); return err }, true},
		"a message": {func(c *Client) error { _, err := c.Messages.Submit(t.Context(), Signed{}); return err }, true},
		"a new key": {func(c *Client) error { _, err := c.Keys.Mint(t.Context(), client.KeyMint{}); return err }, false},
		"a signer": {func(c *Client) error {
			_, err := read[client.Signer](c.Hub.RegisterSigner(t.Context(), client.SignerDraft{}))
			return err
		}, false},
		"a follow":  {func(c *Client) error { _, err := c.People.Follow(t.Context(), "mara_k"); return err }, true},
		"an unbind": {func(c *Client) error { _, err := c.Live.Unbind(t.Context(), "1"); return err }, false},
	} {
		for status, transient := range map[int]bool{0: true, 429: true, 502: true, 503: true, 504: true, 400: false, 401: false, 404: false, 409: false, 500: false} {
			t.Run(name+" "+strconv.Itoa(status), func(t *testing.T) {
				t.Parallel()
				c, sent := served(t, Options{Token: Key("dk_x")}, func(_ int, w http.ResponseWriter, r *http.Request) {
					if status == 0 {
						cut(w)
					}
					say(w, status, `{"error":"some_code"}`)
				})
				err := tc.do(c)
				want := int64(1)
				if tc.safe && transient {
					want = 3
				}
				got := sent.Load()
				if name == "a read" && status == 0 {
					got = min(got, want) // the transport may retry a read by itself
				}
				if err == nil || got != want {
					t.Errorf("sent %d times, want %d: %v", got, want, err)
				}
				none := (*Unanswered)(nil)
				if errors.As(err, &none) != (status == 0) {
					t.Errorf("%T %v", err, err)
				}
			})
		}
	}
}

// TestRetriesAreEqual checks that each attempt has the complete body, the same idempotency key and the credential.
func TestRetriesAreEqual(t *testing.T) {
	t.Parallel()
	requests := make(chan string, 8)
	c, _ := served(t, Options{Token: Key("dk_x")}, func(n int, w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		requests <- r.Header.Get("Authorization") + r.Header.Get("Idempotency-Key") + string(raw)
		if n < 3 {
			w.Header().Set("Content-Length", "100") // more than the handler sends
			say(w, 200, `{"ok":`)
			return
		}
		say(w, 200, `{"ok":true,"id":"0199f0a4-2222-7000-8000-000000000002"}`)
	})
	if filed, err := c.Signals.FileAs(t.Context(), "mine", client.SignalDraft{MarketID: "7"}); err != nil || filed.Found {
		t.Fatal(filed, err)
	}
	first := <-requests
	if second, third := <-requests, <-requests; first != second || second != third || !strings.HasPrefix(first, `Bearer dk_xmine{`) {
		t.Error(first, second, third)
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	c, sent := served(t, Options{Retry: Retry{Tries: 2, First: time.Millisecond, Longest: 3 * time.Second}}, func(n int, w http.ResponseWriter, r *http.Request) {
		if n == 1 {
			w.Header().Set("Retry-After", "1")
			say(w, 429, `{"error":"rate_limited","retryAfterMs":40,"limit":60}`)
			return
		}
		say(w, 200, `{"leaderboard":[],"updatedAt":"2026-09-18T12:00:00.000Z"}`)
	})
	began := time.Now()
	if _, err := c.Boards.Score(t.Context(), nil); err != nil || sent.Load() != 2 {
		t.Fatal(err, sent.Load())
	}
	if waited := time.Since(began); waited < 40*time.Millisecond {
		t.Errorf("retry after %v; want at least 40 ms", waited)
	}

	long, sent := served(t, Options{}, func(_ int, w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", "59")
		say(w, 429, `{"error":"rate_limited","limit":60}`)
	})
	_, err := long.Boards.Score(t.Context(), nil)
	e := (*Error)(nil)
	if !errors.Is(err, ErrRateLimited) || !errors.As(err, &e) || e.RetryAfter != 59*time.Second || e.Extra["limit"] != float64(60) || sent.Load() != 1 {
		t.Errorf("%v after %d requests", err, sent.Load())
	}
}

// TestContextEnds checks that the wait before a retry ends with the context and that the error of the last answer is returned.
func TestContextEnds(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	c, sent := served(t, Options{Retry: Retry{First: time.Hour, Longest: time.Hour}}, func(_ int, w http.ResponseWriter, r *http.Request) {
		defer cancel()
		say(w, 503, `{"error":"db_unavailable"}`)
	})
	if _, err := c.Boards.Score(ctx, nil); !errors.Is(err, ErrDbUnavailable) && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if sent.Load() != 1 {
		t.Errorf("%d requests", sent.Load())
	}
}

// TestPauses checks that the waits before retries grow, do not exceed Longest, and are random.
func TestPauses(t *testing.T) {
	t.Parallel()
	p := Retry{First: 100 * time.Millisecond, Longest: time.Second}.settled()
	seen := map[time.Duration]bool{}
	for n := range 20 {
		most := min(100*time.Millisecond<<n, time.Second)
		got, ok := p.pause(n+1, 0)
		if !ok || got < most/2 || got > most {
			t.Errorf("try %d: %v, want %v to %v", n+1, got, most/2, most)
		}
		seen[got] = true
	}
	if len(seen) < 5 {
		t.Errorf("only %d different pauses", len(seen))
	}
	for range 100 {
		if got, ok := p.pause(1, 950*time.Millisecond); !ok || got < 950*time.Millisecond || got > time.Second {
			t.Errorf("wait of %v for a Retry-After of 950 ms; want 950 ms to 1 s", got)
		}
	}
}
