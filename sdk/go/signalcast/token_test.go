package signalcast

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/signalcast/signalcast/sdk/go/client"
)

// TestRefreshing checks that concurrent requests share one fetch of a token, that a rejected token is fetched again, and that
// public routes fetch and send no token.
func TestRefreshing(t *testing.T) {
	t.Parallel()
	var fetched atomic.Int64
	source := Refreshing(func(context.Context) (Token, error) {
		return Token{Value: []string{"", "old", "new"}[fetched.Add(1)], Lasts: time.Hour}, nil
	})
	var unexpected atomic.Int64 // requests of the public route with a token
	c, sent := served(t, Options{Token: source}, func(_ int, w http.ResponseWriter, r *http.Request) {
		switch token := r.Header.Get("Authorization"); {
		case r.URL.Path == "/api/m/7":
			if token != "" {
				unexpected.Add(1)
			}
			say(w, 200, `{}`)
		case token == "Bearer new":
			say(w, 200, `{}`)
		default:
			say(w, 401, `{"error":"unauthenticated"}`)
		}
	})
	if _, err := c.Markets.Get(t.Context(), "7"); err != nil || fetched.Load() != 0 || unexpected.Load() != 0 {
		t.Fatal(err, fetched.Load(), unexpected.Load())
	}
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			if _, err := c.People.Me(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if fetched.Load() != 2 || sent.Load() > 33 {
		t.Errorf("%d tokens, %d requests", fetched.Load(), sent.Load())
	}
}

func TestTokenRejectedTwice(t *testing.T) {
	t.Parallel()
	source := Refreshing(func(context.Context) (Token, error) { return Token{Value: "bad"}, nil })
	c, sent := served(t, Options{Token: source}, func(_ int, w http.ResponseWriter, r *http.Request) {
		say(w, 401, `{"error":"unauthenticated"}`)
	})
	if _, err := c.Keys.Mint(t.Context(), client.KeyMint{}); !errors.Is(err, ErrUnauthenticated) || sent.Load() != 2 {
		t.Error(err, sent.Load())
	}
	none := Refreshing(func(context.Context) (Token, error) { return Token{}, nil })
	if token, err := none.Token(t.Context()); err == nil {
		t.Errorf("%q", token)
	}
}

// TestInvalidToken checks that a token with characters that a header cannot contain causes an error without a request, and that
// the error does not contain the token.
func TestInvalidToken(t *testing.T) {
	t.Parallel()
	for _, token := range []string{"sec\nret", "sec ret", "schlüssel"} {
		source := Refreshing(func(context.Context) (Token, error) { return Token{Value: token}, nil })
		c, sent := served(t, Options{Token: source}, func(_ int, w http.ResponseWriter, _ *http.Request) { say(w, 200, `{}`) })
		if _, err := c.Keys.Mint(t.Context(), client.KeyMint{}); err == nil || strings.Contains(err.Error(), token) || sent.Load() != 0 {
			t.Errorf("error %v after %d requests; want 0", err, sent.Load())
		}
	}
}

// TestTokenExpires checks that concurrent callers share one fetch of a token and that a token is fetched again shortly before it
// expires.
func TestTokenExpires(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fetched := 0
		source := Refreshing(func(context.Context) (Token, error) {
			time.Sleep(time.Second)
			fetched++
			return Token{Value: "t", Lasts: time.Hour}, nil
		})
		get := func() {
			if token, err := source.Token(t.Context()); token != "t" || err != nil {
				t.Error(token, err)
			}
		}
		var all sync.WaitGroup
		for range 8 {
			all.Go(get)
		}
		all.Wait()
		time.Sleep(time.Hour - early - time.Second)
		get()
		if fetched != 1 {
			t.Errorf("%d fetches before the expiry; want 1", fetched)
		}
		time.Sleep(2 * time.Second)
		get()
		if fetched != 2 {
			t.Errorf("%d fetches after the expiry; want 2", fetched)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		source.(*refreshing).Refused("t")
		source.(*refreshing).fetching <- struct{}{}
		if _, err := source.Token(ctx); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}
