package hls

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
)

// freshFor is how long after its last playlist a stream is still shown.
const freshFor = 45 * time.Second

// stateFile holds what is known about the files beside it.
const stateFile = "state.json"

// segment is a file of a stream.
type segment struct {
	Name     string // as the encoder calls it
	File     string // as it is kept and served
	Sum      []byte // SHA-256
	Bytes    int64
	At       time.Time // when it was whole here
	Playlist string    // that names it; empty: none does yet
	Order    int64     // in that playlist, from 1
	Breaks   int64     // discontinuities up to it, its own included
	Seconds  float64
	Init     string // file that its player needs first
	Cut      bool   // a discontinuity stands before it
	Measured bool   // by the times in it, of which Span and Frame are
	Span     float64
	Frame    float64
}

// list is a playlist of a stream.
type list struct {
	At     time.Time // when it came last
	Next   int64     // order of the next segment
	Floor  int64     // order of the first segment that was served last
	Breaks int64
	Files  []string // that it names now; of a master playlist, its renditions
	First  string   // of a master playlist: its first rendition
	Turn   turn     // of the encoder that is shown
	Before turn     // of the one before, which may be there still
	Over   bool     // the encoder said that nothing more comes
}

// kept is what a process leaves to the next one.
type kept struct {
	Last     int64 // number of the newest file
	Segments []segment
	Lists    map[string]*list
}

// stream is what is kept of one operator's video.
type stream struct {
	root  *os.Root
	dir   string
	users int // guarded by the origin's lock

	mu     sync.Mutex
	k      kept
	open   int                      // pushes that are being received
	beaten time.Time                // when a push was told as a heartbeat last
	coming map[string]chan struct{} // segments that are on their way
}

func newStream(root *os.Root, handle string) *stream {
	return &stream{root: root, dir: liveDir + "/" + handle, k: kept{Lists: map[string]*list{}}, coming: map[string]chan struct{}{}}
}

func (s *stream) load() error {
	raw, err := s.root.ReadFile(s.dir + "/" + stateFile)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, &s.k); err != nil {
		return err
	}
	if s.k.Lists == nil {
		s.k.Lists = map[string]*list{}
	}
	s.k.Segments = slices.DeleteFunc(s.k.Segments, func(g segment) bool {
		_, err := s.root.Stat(s.dir + "/" + g.File)
		return err != nil
	})
	return nil
}

// save replaces the state in one step.
func (s *stream) save() error {
	raw, err := json.Marshal(s.k)
	if err != nil {
		return err
	}
	return s.write(stateFile, raw)
}

func (s *stream) write(name string, raw []byte) error {
	fresh := s.dir + "/" + name + ".new"
	if err := s.root.WriteFile(fresh, raw, 0o600); err != nil {
		return err
	}
	return s.root.Rename(fresh, s.dir+"/"+name)
}

// fresh tells whether video has come lately.
func (s *stream) fresh(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.k.Lists {
		if l.First == "" && len(l.Files) > 0 && now.Sub(l.At) < freshFor {
			return true
		}
	}
	return false
}

// expect notes that a segment is on its way, so that a playlist which is quicker waits
// for it. arrived ends that.
func (s *stream) expect(name string) (arrived func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	done := make(chan struct{})
	s.coming[name] = done
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.coming[name] == done {
			delete(s.coming, name)
		}
		close(done)
	}
}

// errFull refuses a stream that takes more room in its window than it may.
var errFull = apperr.New(apperr.TooLarge, "payload_too_large", "the last minutes of this stream take too much room; send less in a second")

// add takes a whole file in. One that was sent again is not kept twice.
func (s *stream) add(g segment, from string, keep time.Duration, most int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := s.find(g.Name); i >= 0 && s.retry(&s.k.Segments[i], g.Sum) {
		s.k.Segments[i].At = g.At
		return s.root.Remove(from)
	}
	if err := s.evict(g.At, keep); err != nil {
		return err
	}
	total := g.Bytes
	for _, h := range s.k.Segments {
		total += h.Bytes
	}
	if total > most {
		return errors.Join(errFull, s.root.Remove(from))
	}
	if err := s.root.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	s.k.Last = max(s.k.Last+1, g.At.UnixMicro())
	g.File = strconv.FormatInt(s.k.Last, 36) + g.Name[strings.LastIndexByte(g.Name, '.'):]
	if err := s.root.Rename(from, s.dir+"/"+g.File); err != nil {
		return err
	}
	s.k.Segments = append(s.k.Segments, g)
	return s.save()
}

// evict deletes what is too old and no playlist names.
func (s *stream) evict(now time.Time, keep time.Duration) error {
	used := map[string]bool{}
	for _, l := range s.k.Lists {
		if now.Sub(l.At) < keep {
			for _, f := range l.Files {
				used[f] = true
			}
		}
	}
	stays := func(g *segment) bool { return used[g.File] || now.Sub(g.At) < keep }
	for i := range s.k.Segments {
		if g := &s.k.Segments[i]; g.Init != "" && stays(g) {
			used[g.Init] = true
		}
	}
	var errs []error
	s.k.Segments = slices.DeleteFunc(s.k.Segments, func(g segment) bool {
		if stays(&g) {
			return false
		}
		if err := s.root.Remove(s.dir + "/" + g.File); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, fmt.Errorf("delete segment: %w", err))
		}
		return true
	})
	return errors.Join(errs...)
}

// sweep evicts, and tells whether nothing is left and nothing on its way.
func (s *stream) sweep(now time.Time, keep time.Duration) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := len(s.k.Segments)
	if err := s.evict(now, keep); err != nil {
		return false, err
	}
	if len(s.k.Segments) == 0 {
		return len(s.coming) == 0, nil
	}
	if len(s.k.Segments) == before {
		return false, nil
	}
	return false, s.save()
}
