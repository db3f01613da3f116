package grant

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/signalcast/signalcast/services/hub/internal/caller"
)

// Lifetimes of consent pages, codes, tokens and grants, and the default of Settings.RetryWindow.
const (
	requestLife  = 10 * time.Minute // a consent page
	codeLife     = time.Minute
	accessLife   = 15 * time.Minute
	publicLife   = 14 * 24 * time.Hour  // a grant to a public app
	confLife     = 180 * 24 * time.Hour // a grant to a confidential app
	publicIdle   = 14 * 24 * time.Hour  // an unused refresh token of a public app
	confIdle     = 30 * 24 * time.Hour
	defaultRetry = 10 * time.Second
)

const minKey = 32 // minimum length of a successor key in bytes

// UsedAtMost is the minimum time between two writes of the last use of a grant.
const UsedAtMost = time.Minute

// Settings holds the settings of the authorization server.
type Settings struct {
	Issuer    string   // also the resource of a token that names no resource
	Resources []string // other resources that a token can name

	// SuccessorKeys derive refresh tokens. The first key derives new tokens; all keys recognize existing ones. Each key must have
	// at least 32 bytes. All processes must have the same keys.
	SuccessorKeys [][]byte
	// RetryWindow is the time after its use in which a used refresh token returns its successor again. nil means ten seconds, and
	// 0 disables retries.
	RetryWindow *time.Duration
}

// Deps holds the dependencies of a Service.
type Deps struct {
	Store    Store
	Failures caller.Failures
	Settings Settings
	Now      func() time.Time
	// Announce sends a new access token to the ledger, so that the api and the clock accept it as soon as the app has it. It may
	// fail, because the store sends the token too. Announce may be nil.
	Announce func(ctx context.Context, t Token)
}

// Service is the authorization server for apps.
type Service struct {
	Deps
	retry time.Duration
}

// New builds a Service. It returns an error if the issuer is empty, if there is no successor key, or if a key has less than 32
// bytes.
func New(d Deps) (*Service, error) {
	if d.Settings.Issuer == "" {
		return nil, errors.New("grant: the issuer is not set")
	}
	if len(d.Settings.SuccessorKeys) == 0 {
		return nil, errors.New("grant: no key for refresh tokens is set")
	}
	for _, key := range d.Settings.SuccessorKeys {
		if len(key) < minKey {
			return nil, fmt.Errorf("grant: a key for refresh tokens has %d bytes; at least %d are required", len(key), minKey)
		}
	}
	s := &Service{Deps: d, retry: defaultRetry}
	if d.Settings.RetryWindow != nil {
		s.retry = *d.Settings.RetryWindow
	}
	return s, nil
}

// Issuer returns the issuer identifier of tokens.
func (s *Service) Issuer() string { return s.Settings.Issuer }

// Resources returns the resources for which a token can be valid: the issuer, then Settings.Resources.
func (s *Service) Resources() []string {
	return append([]string{s.Settings.Issuer}, s.Settings.Resources...)
}

func (s *Service) isResource(text string) bool { return slices.Contains(s.Resources(), text) }

// Sweep deletes consent requests, codes and tokens that can no longer be used. It returns the number of deleted rows.
func (s *Service) Sweep(ctx context.Context) (int64, error) { return s.Store.Sweep(ctx, s.Now()) }
