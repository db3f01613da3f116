package clip

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
	"github.com/signalcast/signalcast/services/hub/internal/ingest"
	"github.com/signalcast/signalcast/services/hub/internal/livestream"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
	"github.com/signalcast/signalcast/services/hub/internal/stream"
)

// Service stores requests for clips and processes them in the background.
type Service struct {
	d    Deps
	wake map[Kind]chan struct{}
	trim sync.Mutex // one call of Maker.Trim at a time
}

// Deps holds the dependencies of a Service.
type Deps struct {
	Air       *livestream.Service
	Directory operator.Directory
	Signals   signalv1.SignalReadServiceClient // of the ledger
	Store     Store
	Ingest    *ingest.Service
	Playback  func(protocol.Handle) string // playback URL of an operator at the HLS origin
	Maker     Maker                        // nil: this hub stores no video
	Host      Host                         // nil: the installation uses no video host
	Video     bool                         // the installation has an HLS origin
	NewID     func() string
	Now       func() time.Time
	// Failed receives the errors of cutting and deleting clips. id is empty if an error concerns no single clip. Failed may be
	// nil.
	Failed func(id string, err error)
}

// NewService returns a Service. Clips are cut only while Run is running.
func NewService(d Deps) *Service {
	s := &Service{d: d, wake: map[Kind]chan struct{}{Origin: make(chan struct{}, 1), Playlist: make(chan struct{}, 1)}}
	if d.Host != nil {
		s.wake[Kind(d.Host.Name())] = make(chan struct{}, 1)
	}
	return s
}

// Boost sets whether the tapes list a ready clip before clips that are not boosted. Error: not_found.
func (s *Service) Boost(ctx context.Context, id string, boosted bool) error {
	found, err := s.d.Store.BoostClip(ctx, id, boosted)
	if err == nil && !found {
		err = ErrNotFound
	}
	return err
}

// Make stores a request for a clip of the last 30 seconds and returns the unfinished clip. The clip is cut later in the
// background. Errors: not_found for an unknown operator, ErrNotLive, ErrNoStorage, market_not_found, ErrCooldown and ErrDaily
// with limit and retryAfterMs, and the errors of the dependencies.
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
	}
	from, err := s.source(ctx, op.Handle, show.URL)
	if err != nil {
		return stream.Clip{}, err
	}
	if a.MarketID == "" {
		a.MarketID = show.MarketID
	}
	d := Draft{
		ID: s.d.NewID(), Handle: op.Handle, MarketID: a.MarketID, Source: from, ShowID: show.ID, Title: a.Title,
		By: a.By.Handle, At: s.d.Now().UTC().Truncate(time.Millisecond),
	}
	if d.Stance, err = s.stance(ctx, op, a.MarketID); err != nil {
		return stream.Clip{}, err
	}
	v, err := s.d.Store.AddClip(ctx, d)
	if err != nil {
		return stream.Clip{}, err
	}
	if v.Wait > 0 {
		return stream.Clip{}, refusal(v)
	}
	select {
	case s.wake[from.Kind] <- struct{}{}:
	default:
	}
	return d.Shown(), nil
}

// stance returns the direction of an operator's call on a market; nil without a call or without a market.
func (s *Service) stance(ctx context.Context, op operator.Operator, id protocol.MarketID) (*string, error) {
	if id == "" {
		return nil, nil
	}
	crowd, err := s.d.Signals.GetCrowd(ctx, &signalv1.GetCrowdRequest{MarketId: string(id), OperatorId: string(op.ID)})
	if err != nil || crowd.GetOwn() == nil {
		return nil, err
	}
	return &crowd.GetOwn().Direction, nil
}

// source returns the source of the video that viewers see at a playback URL. Errors: ErrNotLive if no video of the operator
// arrives at the HLS origin, ErrNoStorage, db_unavailable.
func (s *Service) source(ctx context.Context, handle protocol.Handle, url string) (Source, error) {
	if s.d.Video && url == s.d.Playback(handle) {
		if s.d.Maker != nil && s.d.Maker.Ready() && !s.d.Maker.Live(handle.String()) {
			return Source{}, ErrNotLive.WithText("the operator is live, but this service receives no video of the operator")
		}
		return Source{Kind: Origin}, nil
	}
	if s.d.Host != nil {
		st, found, err := s.d.Ingest.Stream(ctx, handle)
		if err != nil {
			return Source{}, err
		}
		if found && st.HLSURL == url {
			return Source{Kind: Kind(s.d.Host.Name()), URL: url, RemoteID: st.RemoteID}, nil
		}
	}
	if !s.d.Video {
		return Source{}, ErrNoStorage
	}
	return Source{Kind: Playlist, URL: url}, nil
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
	pollEvery = 5 * time.Second // interval of asking a video host for a clip
	fetchers  = 2               // clips of other servers that are fetched at a time, because such a server can be slow
	maxTries  = 3
	tooOld    = 10 * time.Minute // age of a request after which a failed attempt is final
)

// Run processes clips until ctx ends. Each kind of source has its own loops, so that a slow server delays only its own clips.
func (s *Service) Run(ctx context.Context) error {
	var all sync.WaitGroup
	if s.d.Maker != nil {
		all.Go(func() { s.loop(ctx, Origin) })
		for range fetchers {
			all.Go(func() { s.loop(ctx, Playlist) })
		}
	}
	if s.d.Host != nil {
		all.Go(func() { s.loop(ctx, Kind(s.d.Host.Name())) })
	}
	<-ctx.Done()
	all.Wait()
	return ctx.Err()
}

// loop processes the clips of one kind until ctx ends.
func (s *Service) loop(ctx context.Context, kind Kind) {
	look, trim := time.NewTicker(lookEvery), time.NewTicker(trimEvery)
	defer look.Stop()
	defer trim.Stop()
	stored := kind == Origin || kind == Playlist
	for {
		due := false
		select {
		case <-ctx.Done():
			return
		case <-s.wake[kind]:
		case <-look.C:
		case <-trim.C:
			due = kind == Origin
		}
		if stored && !s.d.Maker.Ready() {
			continue
		}
		cut, err := s.Work(ctx, kind)
		if err != nil && ctx.Err() == nil {
			s.failed("", err)
		}
		if stored && (cut > 0 || due) {
			s.trimClips(ctx)
		}
	}
}

func (s *Service) trimClips(ctx context.Context) {
	s.trim.Lock()
	defer s.trim.Unlock()
	if err := s.d.Maker.Trim(ctx, s.d.Store.DropClip); err != nil && ctx.Err() == nil {
		s.failed("", err)
	}
}

// Work processes all waiting clips of these kinds and returns the number of processed clips. It stops at the first error of the
// store.
func (s *Service) Work(ctx context.Context, kinds ...Kind) (int, error) {
	for n := 0; ; n++ {
		now := s.d.Now()
		job, there, err := s.d.Store.LeaseClip(ctx, kinds, now, now.Add(lease))
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
	film, err := s.make(within, &j)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	late := s.d.Now().Sub(j.At) > tooOld
	switch {
	case err == nil:
		return s.d.Store.ReadyClip(ctx, j.ID, film, s.d.Now())
	case errors.Is(err, ErrUnfinished) && !late:
		return s.d.Store.AwaitClip(ctx, j.ID, j.HostID, s.d.Now().Add(pollEvery))
	case errors.Is(err, ErrNoVideo), j.Tries >= maxTries, late:
		s.failed(j.ID, err)
		return s.d.Store.FailClip(ctx, j.ID, reason(err))
	}
	s.failed(j.ID, err)
	return nil
}

// make returns the video of a clip. At a video host the first attempt only requests the clip: it sets j.HostID and returns
// ErrUnfinished.
func (s *Service) make(ctx context.Context, j *Job) (film Video, err error) {
	switch {
	case j.Source.Kind == Origin:
		return s.d.Maker.Cut(ctx, j.ID, j.Handle.String(), j.At, Length)
	case j.Source.Kind == Playlist:
		return s.d.Maker.Fetch(ctx, j.ID, j.Source.URL, j.At, Length)
	case j.HostID == "":
		if j.HostID, err = s.d.Host.Clip(ctx, j.Source, j.At, Length); err != nil {
			return Video{}, err
		}
		return Video{}, ErrUnfinished
	}
	return s.d.Host.Clipped(ctx, j.HostID)
}

func (s *Service) failed(id string, err error) {
	if s.d.Failed != nil {
		s.d.Failed(id, err)
	}
}

// reason returns the stored reason of a failed clip, for administrators: the first 200 characters of err.
func reason(err error) string {
	r := []rune(err.Error())
	return string(r[:min(len(r), 200)])
}
