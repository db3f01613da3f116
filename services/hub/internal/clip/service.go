package clip

import (
	"context"
	"errors"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
	"github.com/signalcast/signalcast/services/hub/internal/livestream"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
	"github.com/signalcast/signalcast/services/hub/internal/stream"
)

// Service stores requests for clips and processes them in the background.
type Service struct {
	d    Deps
	wake chan struct{}
}

// Deps holds the dependencies of a Service.
type Deps struct {
	Air       *livestream.Service
	Directory operator.Directory
	Signals   signalv1.SignalReadServiceClient // of the ledger
	Store     Store
	Maker     Maker // nil: this hub has no video
	Video     bool  // the installation has an HLS origin
	NewID     func() string
	Now       func() time.Time
	// Failed receives the errors of cutting and deleting clips. id is empty if an error concerns no single clip. Failed may be
	// nil.
	Failed func(id string, err error)
}

// NewService returns a Service. Clips are cut only while Run is running.
func NewService(d Deps) *Service { return &Service{d: d, wake: make(chan struct{}, 1)} }

// Make stores a request for a clip of the last 30 seconds and returns the unfinished clip. The clip is cut later in the
// background. Errors: not_found for an unknown operator, ErrNotLive, ErrNoMarket, market_not_found, ErrCooldown and ErrDaily with
// limit and retryAfterMs, and the errors of the dependencies.
func (s *Service) Make(ctx context.Context, a Request) (stream.Clip, error) {
	op, err := s.d.Directory.ByHandle(ctx, a.Handle)
	if err != nil {
		return stream.Clip{}, err
	}
	show, live, err := s.d.Air.OnScreen(ctx, op.Handle)
	switch {
	case err != nil:
		return stream.Clip{}, err
	case !live:
		return stream.Clip{}, ErrNotLive
	case !s.d.Video, s.d.Maker != nil && s.d.Maker.Ready() && !s.d.Maker.Live(op.Handle.String()):
		return stream.Clip{}, ErrNotLive.WithText("the operator is live, but this service receives no video of the operator")
	}
	if a.MarketID == "" {
		a.MarketID = show.MarketID
	}
	if a.MarketID == "" {
		return stream.Clip{}, ErrNoMarket
	}
	crowd, err := s.d.Signals.GetCrowd(ctx, &signalv1.GetCrowdRequest{MarketId: string(a.MarketID), OperatorId: string(op.ID)})
	if err != nil {
		return stream.Clip{}, err
	}
	d := Draft{
		ID: s.d.NewID(), Handle: op.Handle, MarketID: a.MarketID, ShowID: show.ID, Title: a.Title,
		By: a.By.Handle, At: s.d.Now().UTC().Truncate(time.Millisecond),
	}
	if own := crowd.GetOwn(); own != nil {
		d.Stance = &own.Direction
	}
	v, err := s.d.Store.AddClip(ctx, d)
	if err != nil {
		return stream.Clip{}, err
	}
	if v.Wait > 0 {
		return stream.Clip{}, refusal(v)
	}
	select {
	case s.wake <- struct{}{}:
	default:
	}
	return d.Shown(), nil
}

func refusal(v Verdict) error {
	f, limit := ErrCooldown, 1
	if v.Daily {
		f, limit = ErrDaily, PerDay
	}
	return apperr.Of(f).With("limit", limit).With("retryAfterMs", int64((v.Wait+time.Millisecond-1)/time.Millisecond))
}

// Intervals and limits for processing clip requests.
const (
	lookEvery = time.Second      // interval of looking for clips of other hubs and for retries
	lease     = 30 * time.Second // time limit of an attempt; after it, another attempt can start
	trimEvery = time.Minute
	maxTries  = 3
	tooOld    = 10 * time.Minute // age of a request after which a failed attempt is final
)

// Run processes clips until ctx ends. Without a Maker it only waits for ctx.
func (s *Service) Run(ctx context.Context) error {
	if s.d.Maker == nil {
		<-ctx.Done()
		return ctx.Err()
	}
	look, trim := time.NewTicker(lookEvery), time.NewTicker(trimEvery)
	defer look.Stop()
	defer trim.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-s.wake:
		case <-look.C:
		case <-trim.C:
			if s.d.Maker.Ready() {
				s.trim(ctx)
			}
			continue
		}
		if !s.d.Maker.Ready() {
			continue
		}
		cut, err := s.Work(ctx)
		if err != nil && ctx.Err() == nil {
			s.failed("", err)
		}
		if cut > 0 {
			s.trim(ctx)
		}
	}
}

func (s *Service) trim(ctx context.Context) {
	if err := s.d.Maker.Trim(ctx, s.d.Store.DropClip); err != nil && ctx.Err() == nil {
		s.failed("", err)
	}
}

// Work processes all waiting clips and returns the number of processed clips. It stops at the first error of the store.
func (s *Service) Work(ctx context.Context) (int, error) {
	for n := 0; ; n++ {
		now := s.d.Now()
		job, there, err := s.d.Store.LeaseClip(ctx, now, now.Add(lease))
		if err != nil || !there {
			return n, err
		}
		if err := s.cut(ctx, job); err != nil {
			return n, err
		}
	}
}

// cut processes one clip. After a temporary error, the clip waits until its lease ends. An error is final if it is ErrNoVideo,
// after maxTries attempts, or if the request is older than tooOld; the clip is then marked as failed.
func (s *Service) cut(ctx context.Context, j Job) error {
	within, cancel := context.WithTimeout(ctx, lease)
	defer cancel()
	film, err := s.d.Maker.Cut(within, j.ID, j.Handle.String(), j.At, Length)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	switch {
	case err == nil:
		return s.d.Store.ReadyClip(ctx, j.ID, film, s.d.Now())
	case isFinal(err), j.Tries >= maxTries, s.d.Now().Sub(j.At) > tooOld:
		s.failed(j.ID, err)
		return s.d.Store.FailClip(ctx, j.ID, reason(err))
	}
	s.failed(j.ID, err)
	return nil
}

func (s *Service) failed(id string, err error) {
	if s.d.Failed != nil {
		s.d.Failed(id, err)
	}
}

func isFinal(err error) bool { return errors.Is(err, ErrNoVideo) }

// reason returns the stored reason of a failed clip, for administrators: the first 200 characters of err.
func reason(err error) string {
	r := []rune(err.Error())
	return string(r[:min(len(r), 200)])
}
