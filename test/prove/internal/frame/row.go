package frame

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// Row is one promise with its test and the fault under which the test must turn red.
type Row struct {
	ID    string
	Title string
	Run   func(ctx context.Context, env *Env) (*Seen, error)
	Limit time.Duration // time for one run; 90 s when zero
	// Beside names a row to run beside, for one that does little but wait and loses nothing
	// to what that other one does. Alone it runs alone.
	Beside string
	Fault  Fault
}

// Fault is what is planted to see a row turn red. Beside what it says here, the
// processes run with TEETH set to the row's id.
type Fault struct {
	What     string            // what is broken, in a few words
	Env      map[string]string // further settings of the processes
	Settings []string          // settings of Postgres, name=value
	SQL      string            // run as the administrator before the row
	Plant    func(ctx context.Context, env *Env) error
}

// Seen is the outcome of a row. It may be filled by many goroutines.
type Seen struct {
	mu       sync.Mutex
	promised string
	seen     string
	volume   string
	wrong    []string
	more     int
	figures  map[string]any
}

// mostWrong is how many mistakes of a row are told; further ones are counted.
const mostWrong = 8

// NewSeen is a row without a mistake so far.
func NewSeen() *Seen { return &Seen{figures: map[string]any{}} }

// Promise says what was promised and what was seen, in the words of the table.
func (s *Seen) Promise(promised, seen string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.promised, s.seen = promised, seen
}

// OutOf is Promise for a number that must be reached: "20 of 20".
func (s *Seen) OutOf(want, got int) {
	s.Promise(fmt.Sprintf("%s of %s", Number(want), Number(want)), fmt.Sprintf("%s of %s", Number(got), Number(want)))
	if want != got {
		s.Wrong("%d of %d", got, want)
	}
}

// Volume says how much was tried: "10,000 requests".
func (s *Seen) Volume(form string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.volume = fmt.Sprintf(form, args...)
}

// Wrong notes a mistake; the row fails.
func (s *Seen) Wrong(form string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.wrong) == mostWrong {
		s.more++
		return
	}
	s.wrong = append(s.wrong, fmt.Sprintf(form, args...))
}

// Check is Wrong unless ok.
func (s *Seen) Check(ok bool, form string, args ...any) {
	if !ok {
		s.Wrong(form, args...)
	}
}

// Figure keeps a number for the record and gives it back.
func (s *Seen) Figure(name string, value any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d, ok := value.(time.Duration); ok {
		value = float64(d.Microseconds()) / 1000
		name += "Ms"
	}
	s.figures[name] = value
}

// OK tells whether nothing was wrong.
func (s *Seen) OK() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.wrong) == 0
}

// Mistakes are what was wrong.
func (s *Seen) Mistakes() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.more > 0 {
		return append(s.wrong[:len(s.wrong):len(s.wrong)], fmt.Sprintf("and %d more", s.more))
	}
	return s.wrong
}

// Number writes a count with its thousands apart.
func Number(n int) string {
	if n < 0 {
		return "-" + Number(-n)
	}
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", Number(n/1000), n%1000)
}
