package livestream

import (
	"context"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/signalcast/signalcast/pkg/protocol"
	feedv1 "github.com/signalcast/signalcast/proto/feed/v1"
)

// SampleEvery is the interval at which viewers are counted and the numbers are stored.
const SampleEvery = 5 * time.Second

// keepSamples is the storage time of samples and of counts of overlay signals. It is one week longer than the longest window of
// statistics.
const keepSamples = 35 * 24 * time.Hour

// Sample is the number of viewers of a session at one time.
type Sample struct {
	ShowID  string
	Handle  protocol.Handle
	Viewers int64
}

// The hubs report the viewer minutes of an open session to the ledger every reportEvery, and the remaining ones when the session
// ends. A minute is reported completeAfter later, because hubs can add samples to it until then.
const (
	reportEvery   = 10 * time.Minute
	completeAfter = 2 * time.Minute
	// reportSpan is the age up to which samples are reported. The ledger counts the watched time of 28 days.
	reportSpan = 27 * 24 * time.Hour
)

// ReportTimes selects the samples whose watched time is reported: those of ended sessions, and those not after Complete of open
// sessions that have an unreported sample not after Due. Samples before Oldest are not reported.
type ReportTimes struct{ Oldest, Due, Complete time.Time }

// publishTime is the time limit of one report of viewer numbers to the ledger.
const publishTime = 900 * time.Millisecond

// Sampler counts the viewers of all live operators. Only one process at a time should run it.
type Sampler struct {
	service *Service
	ledger  feedv1.FeedServiceClient
	watched map[protocol.Handle]bool // operators with viewers in the last report
	swept   time.Time
}

// NewSampler returns a Sampler that counts the viewers of the service s and reports them to the ledger.
func NewSampler(s *Service, ledger feedv1.FeedServiceClient) *Sampler {
	return &Sampler{service: s, ledger: ledger, watched: map[protocol.Handle]bool{}}
}

// Round counts viewers once, stores the samples and reports the numbers to the ledger. It counts no viewers while Redis is
// unavailable. Errors: db_unavailable, those of the ledger.
func (p *Sampler) Round(ctx context.Context) error {
	s, now := p.service, p.service.Now()
	times := ReportTimes{Oldest: now.Add(-reportSpan), Due: now.Add(-reportEvery), Complete: now.Add(-completeAfter)}
	if err := s.Store.ReportViewers(ctx, times); err != nil {
		return err
	}
	list, err := s.Store.Live(ctx, now)
	if err != nil {
		return err
	}
	handles := make([]protocol.Handle, len(list))
	for i := range list {
		handles[i] = list[i].Handle
	}
	var counts []int64
	if len(handles) > 0 {
		if counts, err = s.countViewers(ctx, handles, now); err != nil {
			return nil //nolint:nilerr // without Redis viewers are not counted
		}
	}
	samples := make([]Sample, len(list))
	for i := range list {
		samples[i] = Sample{ShowID: list[i].ShowID, Handle: list[i].Handle, Viewers: counts[i]}
	}
	if err := s.Store.Sample(ctx, samples, now); err != nil {
		return err
	}
	if p.swept.IsZero() || now.Sub(p.swept) > time.Hour {
		if err := s.Store.Thin(ctx, now.Add(-keepSamples)); err != nil {
			return err
		}
		p.swept = now
	}
	return p.report(ctx, samples, now)
}

// report sends the number of viewers of each operator who has viewers to the ledger. After the last viewer of an operator has
// left, it sends 0 once. The ledger adds up the viewers of all streams of a market.
func (p *Sampler) report(ctx context.Context, samples []Sample, now time.Time) error {
	r, at := &feedv1.PublishRequest{}, timestamppb.New(now)
	add := func(handle protocol.Handle, viewers int64) {
		r.Watching = append(r.Watching, &feedv1.Watching{Handle: string(handle), Viewers: viewers, At: at})
	}
	has := map[protocol.Handle]bool{}
	for _, one := range samples {
		if one.Viewers > 0 {
			has[one.Handle] = true
			add(one.Handle, one.Viewers)
		}
	}
	for handle := range p.watched {
		if !has[handle] {
			add(handle, 0)
		}
	}
	if len(r.GetWatching()) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, publishTime)
	defer cancel()
	if _, err := p.ledger.Publish(ctx, r); err != nil {
		return err
	}
	p.watched = has
	return nil
}
