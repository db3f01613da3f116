package picture

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"github.com/signalcast/signalcast/pkg/cache"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// Errors of Service. ErrNone: the operator has no picture. ErrWait: too many fetches are in progress, or the last one for the
// operator was a short time ago.
var (
	ErrNone = errors.New("there is no picture")
	ErrWait = errors.New("too many picture fetches; retry in a minute")
)

const (
	fetchTime  = 5 * time.Second // of a download
	maxFetches = 8               // concurrent fetches of one hub
	// Minimum times between two fetches for one operator: of visits, of visits after a failed fetch, and of forms.
	visitPause  = time.Minute
	failedPause = time.Hour
	formPause   = 5 * time.Second
)

// Stored is the stored picture of an operator.
type Stored struct {
	Source  string // avatarUrl from which the picture was made
	JPEG    []byte // nil: the address did not answer with a picture
	TriedAt time.Time
}

// Downloads opens the files at addresses that operators enter.
type Downloads interface {
	// Open returns the file at an address, which the caller must close, and its length in bytes; -1: unknown. It fails unless the address
	// answers with status 200.
	Open(ctx context.Context, address, accept string) (body io.ReadCloser, length int64, err error)
}

// Store stores pictures. Error of all methods: db_unavailable.
type Store interface {
	// FindPicture returns the picture of an operator. It returns the zero value if none is stored.
	FindPicture(ctx context.Context, of operator.ID) (Stored, error)
	// StartPicture stores the time of a fetch. If the last one was after the time before, it returns false and changes nothing.
	StartPicture(ctx context.Context, of operator.ID, now, before time.Time) (bool, error)
	// EndPicture stores the result of the fetch that StartPicture started at p.TriedAt. It changes nothing if the picture was
	// replaced or deleted, or another fetch was started.
	EndPicture(ctx context.Context, of operator.ID, p Stored) error
	// StorePicture replaces the picture of an operator.
	StorePicture(ctx context.Context, of operator.ID, p Stored) error
}

// fetchKey identifies a fetch that concurrent requests share.
type fetchKey struct {
	of     operator.ID
	source string
}

// Service fetches and stores pictures.
type Service struct {
	store     Store
	hub       *url.URL
	downloads Downloads
	fetches   *cache.Cache[fetchKey, []byte] // limits fetches and shares concurrent ones; pictures are in the store
	now       func() time.Time
	log       *slog.Logger
}

// NewService returns a Service. hubURL is the public URL of the hub without a slash at the end. The caller must call Close.
func NewService(store Store, downloads Downloads, hubURL string, now func() time.Time, log *slog.Logger) (*Service, error) {
	hub, err := url.Parse(hubURL)
	if err != nil {
		return nil, fmt.Errorf("parse the URL of the hub: %w", err)
	}
	return &Service{
		store: store, hub: hub, now: now, log: log,
		downloads: downloads,
		fetches: cache.New(cache.Options[fetchKey, []byte]{
			TTL: time.Second, Timeout: 2 * fetchTime, Loads: maxFetches, MaxKeys: 64, Now: now,
		}),
	}, nil
}

// Close ends the fetches.
func (s *Service) Close() { s.fetches.Close() }

// path returns the path of the picture of an operator.
func path(handle protocol.Handle) string { return "/u/" + string(handle) + "/picture" }

// Version returns a short hash. It is the query parameter v in the address of a picture, so that caches request a new picture.
func Version(of string) string {
	sum := sha256.Sum256([]byte(of))
	return hex.EncodeToString(sum[:4])
}

// Path returns the address with which pages request the picture of an operator. Its query v changes with avatarURL, so browsers load a
// new picture at once.
func Path(handle protocol.Handle, avatarURL string) string {
	return path(handle) + "?v=" + Version(avatarURL)
}

// Address returns the URL at which this hub serves the picture of an operator, without the query v, the version.
func (s *Service) Address(handle protocol.Handle) string { return s.hub.String() + path(handle) }

// UploadAddress returns the avatarUrl of an operator with an uploaded picture. Its query changes with the picture.
func (s *Service) UploadAddress(handle protocol.Handle, jpeg []byte) string {
	return s.Address(handle) + "?v=" + Version(string(jpeg))
}

// Find returns the JPEG of the picture of an operator. If the stored one is not made from the avatarUrl, Find fetches it, at most
// once in visitPause. Errors: ErrNone, ErrWait, db_unavailable.
func (s *Service) Find(ctx context.Context, of operator.Operator) ([]byte, error) {
	if of.AvatarURL == "" {
		return nil, ErrNone
	}
	stored, err := s.store.FindPicture(ctx, of.ID)
	switch {
	case err != nil:
		return nil, err
	case stored.Source == of.AvatarURL && stored.JPEG != nil:
		return stored.JPEG, nil
	case stored.Source == of.AvatarURL && s.now().Sub(stored.TriedAt) < failedPause, s.isOwn(of.AvatarURL):
		return nil, ErrNone
	}
	picture, err := s.fetches.Get(ctx, fetchKey{of.ID, of.AvatarURL}, func(ctx context.Context, _ []byte) ([]byte, error) {
		picture, started, err := s.fetch(ctx, of.ID, of.AvatarURL, visitPause)
		if err != nil && !errors.Is(err, ErrNone) {
			return nil, err
		}
		stored := Stored{Source: of.AvatarURL, JPEG: picture, TriedAt: started}
		return picture, errors.Join(err, s.store.EndPicture(ctx, of.ID, stored))
	})
	return picture, busy(err)
}

// Fetch returns the JPEG of the picture at an address without storing it. Errors: ErrNone, which is also ErrLarge for a picture
// that is too large, ErrWait, db_unavailable.
func (s *Service) Fetch(ctx context.Context, of operator.ID, source string) ([]byte, error) {
	if s.isOwn(source) {
		return nil, ErrNone
	}
	picture, err := s.fetches.Get(ctx, fetchKey{of, source}, func(ctx context.Context, _ []byte) ([]byte, error) {
		picture, _, err := s.fetch(ctx, of, source, formPause)
		return picture, err
	})
	return picture, busy(err)
}

// Stored returns the JPEG of the stored picture of an operator. It returns nil if there is none. Error: db_unavailable.
func (s *Service) Stored(ctx context.Context, of operator.ID) ([]byte, error) {
	p, err := s.store.FindPicture(ctx, of)
	return p.JPEG, err
}

// Replace stores the JPEG of a picture that is made from source. Error: db_unavailable.
func (s *Service) Replace(ctx context.Context, of operator.ID, source string, jpeg []byte) error {
	return s.store.StorePicture(ctx, of, Stored{Source: source, JPEG: jpeg, TriedAt: s.now()})
}

// isOwn reports whether an address is one of this hub. The hub must not fetch it: the picture at that address may wait for the
// fetch.
func (s *Service) isOwn(address string) bool {
	u, err := url.Parse(address)
	return err == nil && strings.EqualFold(u.Hostname(), s.hub.Hostname())
}

// busy replaces the errors of a fetch that cannot start or end now with ErrWait.
func busy(err error) error {
	if errors.Is(err, cache.ErrBusy) || errors.Is(err, cache.ErrClosed) || errors.Is(err, context.DeadlineExceeded) {
		return ErrWait
	}
	return err
}

// fetch requests the picture at an address. It returns the picture and the time that it stored as the start of the fetch. Errors:
// ErrNone if the address does not answer with a picture, ErrWait if the last fetch for the operator is less than pause ago,
// db_unavailable, and the error of ctx if it ends.
func (s *Service) fetch(ctx context.Context, of operator.ID, source string, pause time.Duration) ([]byte, time.Time, error) {
	now := s.now().Truncate(time.Microsecond) // the precision of the store
	switch ok, err := s.store.StartPicture(ctx, of, now, now.Add(-pause)); {
	case err != nil:
		return nil, now, err
	case !ok:
		return nil, now, ErrWait
	}
	picture, err := s.request(ctx, source)
	if err == nil || ctx.Err() != nil {
		return picture, now, err
	}
	if !errors.Is(err, ErrPicture) {
		err = errors.New("request failed") // the text of the error has the address, which is personal data
	}
	s.log.InfoContext(ctx, "picture fetch failed", "operator", of, "error", err)
	return nil, now, fmt.Errorf("%w: %w", ErrNone, err)
}

// request downloads a picture and returns it as Decode does.
func (s *Service) request(ctx context.Context, source string) ([]byte, error) {
	body, length, err := s.downloads.Open(ctx, source, "image/webp,image/png,image/jpeg,image/gif")
	if err != nil {
		return nil, err
	}
	defer func() { _ = body.Close() }()
	if length > maxBytes {
		return nil, ErrLarge
	}
	return Decode(ctx, body)
}
