package grant

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/signalcast/signalcast/services/hub/internal/caller"
)

// How long things live.
const (
	requestLife  = 10 * time.Minute // a consent page
	codeLife     = time.Minute
	accessLife   = 15 * time.Minute
	publicLife   = 14 * 24 * time.Hour  // a grant to a public app
	confLife     = 180 * 24 * time.Hour // a grant to a confidential app
	publicIdle   = 14 * 24 * time.Hour  // a refresh token that nobody uses
	confIdle     = 30 * 24 * time.Hour
	defaultRetry = 10 * time.Second
)

const minKey = 32 // bytes

// UsedAtMost is how often the use of a grant is noted.
const UsedAtMost = time.Minute

// Settings of a Service.
type Settings struct {
	Issuer    string   // also the resource that a token without one is for
	Resources []string // the other ones

	// SuccessorKeys derive refresh tokens: the first one makes them, all of them
	// recognise them. Each has 32 bytes at least; every process has the same ones.
	SuccessorKeys [][]byte
	// RetryWindow is how long a used refresh token gives its successor again;
	// nil: ten seconds, 0: never.
	RetryWindow *time.Duration
}

// Deps is what a Service is made of.
type Deps struct {
	Store    Store
	Failures caller.Failures
	Settings Settings
	Now      func() time.Time
}

// Service is the authorization server.
type Service struct {
	Deps
	retry time.Duration
}

// New builds a Service. It refuses settings with which tokens could be guessed or
// would be for nobody.
func New(d Deps) (*Service, error) {
	if d.Settings.Issuer == "" {
		return nil, errors.New("the issuer of tokens is not set")
	}
	if len(d.Settings.SuccessorKeys) == 0 {
		return nil, errors.New("there is no key to derive refresh tokens with")
	}
	for _, key := range d.Settings.SuccessorKeys {
		if len(key) < minKey {
			return nil, fmt.Errorf("a key to derive refresh tokens with has %d bytes, not %d", len(key), minKey)
		}
	}
	s := &Service{Deps: d, retry: defaultRetry}
	if d.Settings.RetryWindow != nil {
		s.retry = *d.Settings.RetryWindow
	}
	return s, nil
}

// Issuer is who issues the tokens.
func (s *Service) Issuer() string { return s.Settings.Issuer }

// Resources are the resources that a token can be for.
func (s *Service) Resources() []string {
	return append([]string{s.Settings.Issuer}, s.Settings.Resources...)
}

func (s *Service) isResource(text string) bool { return slices.Contains(s.Resources(), text) }

// Sweep deletes what nothing can come of any more and gives the number of rows.
func (s *Service) Sweep(ctx context.Context) (int64, error) { return s.Store.Sweep(ctx, s.Now()) }
