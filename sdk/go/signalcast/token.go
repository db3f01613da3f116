package signalcast

import (
	"context"
	"errors"
	"sync"
	"time"
)

// TokenSource returns the credential for a request: an operator key, a token of an app, or an identity token. The client calls
// Token for each attempt that requires a credential.
type TokenSource interface {
	Token(ctx context.Context) (string, error)
}

// renewer is a TokenSource that can replace a rejected token. After status 401, the client calls Refused and repeats the request
// once.
type renewer interface {
	Refused(token string)
}

// Key is a TokenSource that always returns the same credential.
type Key string

// Token implements TokenSource. It returns an error if the key is empty.
func (k Key) Token(context.Context) (string, error) {
	if k == "" {
		return "", errors.New("signalcast: the key is empty")
	}
	return string(k), nil
}

// Token is a credential and its lifetime. A lifetime of 0 means that the token is valid until a service rejects it.
type Token struct {
	Value string
	Lasts time.Duration
}

// Refreshing returns a TokenSource that caches the token that the function fetch returns. It fetches a new token shortly before
// the expiry of the cached one, or after a service has rejected it. Concurrent requests share one call of fetch.
func Refreshing(fetch func(context.Context) (Token, error)) TokenSource {
	return &refreshing{fetch: fetch, fetching: make(chan struct{}, 1)}
}

// early is the time before the expiry of a token at which the client stops using it. Clocks differ, and requests take time.
const early = 30 * time.Second

type refreshing struct {
	fetch    func(context.Context) (Token, error)
	fetching chan struct{} // lock of the fetch; a channel, so that waiting ends with a context

	mu     sync.Mutex
	cached string
	end    <-chan time.Time // nil: no expiry
}

// Token implements TokenSource.
func (s *refreshing) Token(ctx context.Context) (string, error) {
	if t, ok := s.fresh(); ok {
		return t, nil
	}
	select {
	case s.fetching <- struct{}{}:
	case <-ctx.Done():
		return "", ctx.Err()
	}
	defer func() { <-s.fetching }()
	if t, ok := s.fresh(); ok {
		return t, nil // another goroutine fetched it
	}
	t, err := s.fetch(ctx)
	if err != nil {
		return "", err
	}
	if t.Value == "" {
		return "", errors.New("signalcast: the fetched token is empty")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cached, s.end = t.Value, nil
	if t.Lasts > 0 {
		s.end = time.After(t.Lasts - early)
	}
	return t.Value, nil
}

func (s *refreshing) fresh() (string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.end:
		s.cached = ""
	default:
	}
	return s.cached, s.cached != ""
}

// Refused implements renewer. It removes a rejected token from the cache unless a newer one has replaced it.
func (s *refreshing) Refused(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cached == token {
		s.cached = ""
	}
}
