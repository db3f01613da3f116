package signalcast

import (
	"context"
	"errors"
	"sync"
	"time"
)

// TokenSource gives the credential of a request: an operator key, a token of an app, or an
// identity token. It is asked for each request that takes one, and for no other.
type TokenSource interface {
	Token(ctx context.Context) (string, error)
}

// renewer is a TokenSource that can do something about a token that was refused: the request
// is then sent once more.
type renewer interface {
	Refused(token string)
}

// Key is a credential that does not change.
type Key string

// Token implements TokenSource.
func (k Key) Token(context.Context) (string, error) {
	if k == "" {
		return "", errors.New("signalcast: the key is empty")
	}
	return string(k), nil
}

// Token is a credential and how long it lasts; 0: until it is refused.
type Token struct {
	Value string
	Lasts time.Duration
}

// Refreshing is a TokenSource that keeps a token until shortly before its end, or until a
// service refuses it, and then asks fetch for another one: once, however many requests wait.
func Refreshing(fetch func(context.Context) (Token, error)) TokenSource {
	return &refreshing{fetch: fetch, turn: make(chan struct{}, 1)}
}

// early is how long before its end a token is not used any more: clocks differ, and a
// request takes its time.
const early = 30 * time.Second

type refreshing struct {
	fetch func(context.Context) (Token, error)
	turn  chan struct{} // held by who fetches; a channel, because waiting ends with a context

	mu   sync.Mutex
	kept string
	end  <-chan time.Time // nil: none
}

// Token implements TokenSource.
func (s *refreshing) Token(ctx context.Context) (string, error) {
	if t, ok := s.fresh(); ok {
		return t, nil
	}
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return "", ctx.Err()
	}
	defer func() { <-s.turn }()
	if t, ok := s.fresh(); ok {
		return t, nil // another goroutine has fetched it meanwhile
	}
	t, err := s.fetch(ctx)
	if err != nil {
		return "", err
	}
	if t.Value == "" {
		return "", errors.New("signalcast: the token that was fetched is empty")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept, s.end = t.Value, nil
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
		s.kept = ""
	default:
	}
	return s.kept, s.kept != ""
}

// Refused forgets a token, unless another one has come already.
func (s *refreshing) Refused(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept == token {
		s.kept = ""
	}
}
