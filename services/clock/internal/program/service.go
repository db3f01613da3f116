package program

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
)

// DefaultChannel is the name of the stored channel of this installation. Each partner station has a separate stored channel.
const DefaultChannel = "default"

// maxSpecs is the maximum number of different specs whose programmes are cached.
const maxSpecs = 256

// ErrNoProgram is the error if a source is unavailable and no programme can be shown.
var ErrNoProgram = apperr.New(apperr.Unavailable, "signal_service_unavailable", "the programme is unavailable; retry later")

// Copies contains the newest copies of the data from which programmes are built. Each pointer is nil until the data is first
// loaded.
type Copies struct {
	Markets atomic.Pointer[Pool]    // markets of the ledger
	Rundown atomic.Pointer[Rundown] // entries of the default channel
}

// Rundown is an immutable copy of the stored slots of a channel. Each entry assigns a market to a slot of a lane.
type Rundown struct {
	Entries  []Entry
	LoadedAt time.Time
	Version  uint64 // changes whenever the entries change
}

// Request selects a channel. Without a spec and without known providers, it selects the channel of the preset; for the default
// preset, this is the stored channel. With a spec or with known providers, it selects a computed channel.
type Request struct {
	Preset    string
	Spec      string // JSON text of a FilterSpec; empty: none
	Providers []string
}

// Service builds programmes and caches them in memory. Its methods may be called concurrently.
type Service struct {
	copies *Copies
	lanes  []Lane
	now    func() time.Time

	stored  *view
	presets map[Preset]*view

	mu    sync.Mutex
	specs map[string]*view
}

// NewService returns a Service. lanes are the lanes of the default channel.
func NewService(copies *Copies, lanes []Lane, now func() time.Time) *Service {
	s := &Service{
		copies: copies, lanes: lanes, now: now,
		stored: &view{}, presets: make(map[Preset]*view), specs: make(map[string]*view),
	}
	for _, p := range Presets {
		if p != Default {
			s.presets[p] = &view{query: NewQuery(p, Spec{}, nil, lanes), computed: true}
		}
	}
	return s
}

// Program returns the complete programme of the requested channel at the current time. Error: ErrSpec.
func (s *Service) Program(r Request) (*Program, error) {
	v, err := s.view(r)
	if err != nil {
		return nil, err
	}
	return s.build(v, s.now()), nil
}

// OnAir is the result of Now or Next: one segment of a channel.
type OnAir struct {
	Segment  *Segment // nil: no segment matches
	At       time.Time
	Until    time.Time // next segment boundary, when the result may change
	Degraded string    // source that failed; empty: none
}

// Now returns the segment that airs in a lane of a preset. If lane is a content lane, Now uses the lane with the highest priority
// in it. If lane is empty or unknown, Now uses the lane with the highest priority of all.
func (s *Service) Now(preset, lane string) OnAir {
	return s.onAir(preset, lane, (*Program).Now)
}

// Next returns the next content segment of the lane that Now selects for the same arguments.
func (s *Service) Next(preset, lane string) OnAir {
	return s.onAir(preset, lane, (*Program).Next)
}

func (s *Service) onAir(preset, lane string, find func(*Program, []Lane, time.Time) *Segment) OnAir {
	now := s.now()
	p := s.build(s.preset(ParsePreset(preset)), now)
	return OnAir{
		Segment: find(p, ParseLanes(lane), now), At: p.GeneratedAt, Until: Boundary(now), Degraded: p.Degraded,
	}
}

// Refresh rebuilds the outdated programmes of the stored channel and of the presets, so that readers do not wait.
func (s *Service) Refresh() {
	now := s.now()
	s.build(s.stored, now)
	for _, v := range s.presets {
		s.build(v, now)
	}
}

// Ready reports whether the markets and the rundown have been loaded at least once.
func (s *Service) Ready() bool {
	return s.copies.Markets.Load() != nil && s.copies.Rundown.Load() != nil
}

func (s *Service) build(v *view, now time.Time) *Program {
	return v.program(s.copies.Markets.Load(), s.copies.Rundown.Load(), now)
}

func (s *Service) preset(p Preset) *view {
	if v, ok := s.presets[p]; ok {
		return v
	}
	return s.stored
}

func (s *Service) view(r Request) (*view, error) {
	spec, err := ParseSpec(r.Spec)
	if err != nil {
		return nil, err
	}
	preset := ParsePreset(r.Preset)
	providers := knownProviders(r.Providers)
	if r.Spec == "" && len(providers) == 0 {
		return s.preset(preset), nil
	}
	q := NewQuery(preset, spec, r.Providers, s.lanes)
	if v, ok := s.presets[preset]; ok && v.query.Key() == q.Key() {
		return v, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	v, ok := s.specs[q.Key()]
	if !ok {
		if len(s.specs) >= maxSpecs {
			s.evict()
		}
		v = &view{query: q, computed: true}
		s.specs[q.Key()] = v
	}
	v.used = s.now()
	return v, nil
}

// evict removes the spec that was not used for the longest time from the cache.
func (s *Service) evict() {
	var oldest string
	for key, v := range s.specs {
		if o, ok := s.specs[oldest]; !ok || v.used.Before(o.used) {
			oldest = key
		}
	}
	delete(s.specs, oldest)
}
