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

// TestRefreshing: one fetch for all who wait, another after a refusal, and none for who asks
// what is for everybody.
func TestRefreshing(t *testing.T) {
	t.Parallel()
	var fetched atomic.Int64
	source := Refreshing(func(context.Context) (Token, error) {
		return Token{Value: []string{"", "old", "new"}[fetched.Add(1)], Lasts: time.Hour}, nil
	})
	var bare atomic.Int64
	c, asked := served(t, Options{Token: source}, func(_ int, w http.ResponseWriter, r *http.Request) {
		switch token := r.Header.Get("Authorization"); {
		case r.URL.Path == "/api/m/7":
			if token != "" {
				bare.Add(1)
			}
			say(w, 200, `{}`)
		case token == "Bearer new":
			say(w, 200, `{}`)
		default:
			say(w, 401, `{"error":"unauthenticated"}`)
		}
	})
	if _, err := c.Markets.Get(t.Context(), "7"); err != nil || fetched.Load() != 0 || bare.Load() != 0 {
		t.Fatal(err, fetched.Load(), bare.Load())
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
	if fetched.Load() != 2 || asked.Load() > 33 {
		t.Errorf("%d tokens, %d requests", fetched.Load(), asked.Load())
	}
}

func TestRefusedTwice(t *testing.T) {
	t.Parallel()
	source := Refreshing(func(context.Context) (Token, error) { return Token{Value: "bad"}, nil })
	c, asked := served(t, Options{Token: source}, func(_ int, w http.ResponseWriter, r *http.Request) {
		say(w, 401, `{"error":"unauthenticated"}`)
	})
	if _, err := c.Keys.Mint(t.Context(), client.KeyMint{}); !errors.Is(err, ErrUnauthenticated) || asked.Load() != 2 {
		t.Error(err, asked.Load())
	}
	none := Refreshing(func(context.Context) (Token, error) { return Token{}, nil })
	if token, err := none.Token(t.Context()); err == nil {
		t.Errorf("%q", token)
	}
}

// TestTokenOfNoHeader: what a header cannot hold is refused at once, and shown to nobody.
func TestTokenOfNoHeader(t *testing.T) {
	t.Parallel()
	for _, token := range []string{"sec\nret", "sec ret", "schlüssel"} {
		source := Refreshing(func(context.Context) (Token, error) { return Token{Value: token}, nil })
		c, asked := served(t, Options{Token: source}, func(_ int, w http.ResponseWriter, _ *http.Request) { say(w, 200, `{}`) })
		if _, err := c.Keys.Mint(t.Context(), client.KeyMint{}); err == nil || strings.Contains(err.Error(), token) || asked.Load() != 0 {
			t.Errorf("%v, asked %d times", err, asked.Load())
		}
	}
}

// TestTokenEnds: all who come while a token is fetched wait for that one, and its end is
// known shortly before it.
func TestTokenEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fetched := 0
		source := Refreshing(func(context.Context) (Token, error) {
			time.Sleep(time.Second)
			fetched++
			return Token{Value: "t", Lasts: time.Hour}, nil
		})
		ask := func() {
			if token, err := source.Token(t.Context()); token != "t" || err != nil {
				t.Error(token, err)
			}
		}
		var all sync.WaitGroup
		for range 8 {
			all.Go(ask)
		}
		all.Wait()
		time.Sleep(time.Hour - early - time.Second)
		ask()
		if fetched != 1 {
			t.Errorf("%d tokens for those who came together", fetched)
		}
		time.Sleep(2 * time.Second)
		ask()
		if fetched != 2 {
			t.Errorf("%d tokens after the end of the first", fetched)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		source.(*refreshing).Refused("t")
		source.(*refreshing).turn <- struct{}{}
		if _, err := source.Token(ctx); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}
