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

// TestSentAgain: what is sent again after which answer, and what never is.
func TestSentAgain(t *testing.T) {
	t.Parallel()
	id := uuid.New()
	for name, ask := range map[string]struct {
		do   func(*Client) error
		safe bool
	}{
		"reading": {func(c *Client) error { _, err := c.Signals.Get(t.Context(), id); return err }, true},
		"a call under a key": {func(c *Client) error {
			_, err := c.Signals.File(t.Context(), client.SignalDraft{})
			return err
		}, true},
		"a call without one": {func(c *Client) error {
			_, err := read[client.Filed](c.Hub.FileSignal(t.Context(), nil, client.SignalDraft{}))
			return err
		}, false},
		"an event":  {func(c *Client) error { _, err := c.Signals.AddEvent(t.Context(), id, Event{}); return err }, true},
		"a message": {func(c *Client) error { _, err := c.Messages.Submit(t.Context(), Signed{}); return err }, true},
		"a new key": {func(c *Client) error { _, err := c.Keys.Mint(t.Context(), client.KeyMint{}); return err }, false},
		"a signer": {func(c *Client) error {
			_, err := read[client.Signer](c.Hub.RegisterSigner(t.Context(), client.SignerDraft{}))
			return err
		}, false},
		"to follow": {func(c *Client) error { _, err := c.People.Follow(t.Context(), "mara_k"); return err }, true},
		"to unbind": {func(c *Client) error { _, err := c.Live.Unbind(t.Context(), "1"); return err }, false},
	} {
		for status, passes := range map[int]bool{0: true, 429: true, 502: true, 503: true, 504: true, 400: false, 401: false, 404: false, 409: false, 500: false} {
			t.Run(name+" "+strconv.Itoa(status), func(t *testing.T) {
				t.Parallel()
				c, asked := served(t, Options{Token: Key("dk_x")}, func(_ int, w http.ResponseWriter, r *http.Request) {
					if status == 0 {
						cut(w)
					}
					say(w, status, `{"error":"some_code"}`)
				})
				err := ask.do(c)
				want := int64(1)
				if ask.safe && passes {
					want = 3
				}
				got := asked.Load()
				if name == "reading" && status == 0 {
					got = min(got, want) // a transport may send by itself what is read
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

// TestBodyIsWhole: each try carries the whole body, the same key and the credential.
func TestBodyIsWhole(t *testing.T) {
	t.Parallel()
	said := make(chan string, 8)
	c, _ := served(t, Options{Token: Key("dk_x")}, func(n int, w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		said <- r.Header.Get("Authorization") + r.Header.Get("Idempotency-Key") + string(raw)
		if n < 3 {
			w.Header().Set("Content-Length", "100") // and less comes
			say(w, 200, `{"ok":`)
			return
		}
		say(w, 200, `{"ok":true,"id":"0199f0a4-2222-7000-8000-000000000002"}`)
	})
	if filed, err := c.Signals.FileAs(t.Context(), "mine", client.SignalDraft{MarketID: "7"}); err != nil || filed.Found {
		t.Fatal(filed, err)
	}
	first := <-said
	if second, third := <-said, <-said; first != second || second != third || !strings.HasPrefix(first, `Bearer dk_xmine{`) {
		t.Error(first, second, third)
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	c, asked := served(t, Options{Retry: Retry{Tries: 2, First: time.Millisecond, Longest: 3 * time.Second}}, func(n int, w http.ResponseWriter, r *http.Request) {
		if n == 1 {
			w.Header().Set("Retry-After", "1")
			say(w, 429, `{"error":"rate_limited","retryAfterMs":40,"limit":60}`)
			return
		}
		say(w, 200, `{"leaderboard":[],"updatedAt":"2026-09-18T12:00:00.000Z"}`)
	})
	began := time.Now()
	if _, err := c.Boards.Score(t.Context(), nil); err != nil || asked.Load() != 2 {
		t.Fatal(err, asked.Load())
	}
	if waited := time.Since(began); waited < 40*time.Millisecond {
		t.Errorf("came again after %v", waited)
	}

	long, asked := served(t, Options{}, func(_ int, w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", "59")
		say(w, 429, `{"error":"rate_limited","limit":60}`)
	})
	_, err := long.Boards.Score(t.Context(), nil)
	e := (*Error)(nil)
	if !errors.Is(err, ErrRateLimited) || !errors.As(err, &e) || e.RetryAfter != 59*time.Second || e.Extra["limit"] != float64(60) || asked.Load() != 1 {
		t.Errorf("%v after %d requests", err, asked.Load())
	}
}

// TestContextEnds: a pause ends with its context, and the last answer is told.
func TestContextEnds(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	c, asked := served(t, Options{Retry: Retry{First: time.Hour, Longest: time.Hour}}, func(_ int, w http.ResponseWriter, r *http.Request) {
		defer cancel()
		say(w, 503, `{"error":"db_unavailable"}`)
	})
	if _, err := c.Boards.Score(ctx, nil); !errors.Is(err, ErrDbUnavailable) && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if asked.Load() != 1 {
		t.Errorf("%d requests", asked.Load())
	}
}

// TestPauses: they grow, stay below the longest, and differ.
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
			t.Errorf("asked for 950 ms, waits %v", got)
		}
	}
}
