package program

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
)

// DefaultChannel is the stored channel.
const DefaultChannel = "default"

// maxSpecs bounds the distinct specs that are held built.
const maxSpecs = 256

// ErrNoProgram answers a caller inside that there is no programme to show and
// none can be made, so that it keeps the copy it has.
var ErrNoProgram = apperr.New(apperr.Unavailable, "signal_service_unavailable", "the programme is not available")

// Copies are the newest copies of what the programme is built from. Each is nil before the first one.
type Copies struct {
	Markets atomic.Pointer[Pool]    // of the ledger
	Rundown atomic.Pointer[Rundown] // of the default channel
}

// Rundown is one immutable copy of a stored channel.
type Rundown struct {
	Entries  []Entry
	LoadedAt time.Time
	Version  uint64 // differs whenever the entries differ
}

// Request asks for a channel. A preset alone is that preset, the default
// preset alone the stored channel; a spec or providers make it computed.
type Request struct {
	Preset    string
	Spec      string // JSON text, empty: none
	Providers []string
}

// Service answers every read of the programme from memory.
type Service struct {
	copies *Copies
	lanes  []Lane
	now    func() time.Time

	stored  *view
	presets map[Preset]*view

	mu    sync.Mutex
	specs map[string]*view
}

// NewService makes a Service; lanes are those of the default channel.
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

// Program gives the whole channel as it is now. Fault: ErrSpec.
func (s *Service) Program(r Request) (*Program, error) {
	v, err := s.view(r)
	if err != nil {
		return nil, err
	}
	return s.build(v, s.now()), nil
}

// OnAir is one segment of a channel at a moment.
type OnAir struct {
	Segment  *Segment // nil: none
	At       time.Time
	Until    time.Time // the next moment at which the answer changes
	Degraded string
}

// Now gives what airs in a lane of a preset. A lane that is unknown or empty
// stands for the highest one; a content lane for the highest of its lanes.
func (s *Service) Now(preset, lane string) OnAir {
	return s.onAir(preset, lane, (*Program).Now)
}

// Next gives the next content segment of the lane that Now would choose.
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

// Refresh builds the stored channel and the presets ahead of their readers,
// where their facts have changed.
func (s *Service) Refresh() {
	now := s.now()
	s.build(s.stored, now)
	for _, v := range s.presets {
		s.build(v, now)
	}
}

// Ready reports whether there is anything to show from: a copy of the markets
// and a copy of the rundown.
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
			s.forget()
		}
		v = &view{query: q, computed: true}
		s.specs[q.Key()] = v
	}
	v.used = s.now()
	return v, nil
}

// forget drops the spec that was asked for longest ago.
func (s *Service) forget() {
	var oldest string
	for key, v := range s.specs {
		if o, ok := s.specs[oldest]; !ok || v.used.Before(o.used) {
			oldest = key
		}
	}
	delete(s.specs, oldest)
}
