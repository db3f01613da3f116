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

// freshFor is the time for which a stream is served after its last playlist upload.
const freshFor = 45 * time.Second

// stateFile is the name of the file with the state of a stream, in the directory of the stream.
const stateFile = "state.json"

// segment is a stored file of a stream.
type segment struct {
	Name     string // name that the encoder gave
	File     string // name under which the file is stored and served
	Sum      []byte // SHA-256 of the content
	Bytes    int64
	At       time.Time // time of the end of the upload
	Playlist string    // name of the playlist that lists it; empty: none yet
	Order    int64     // position in Playlist, from 1; 0: not listed
	Breaks   int64     // number of discontinuities in Playlist up to and including this segment
	Seconds  float64
	Init     string // file of the initialization segment; empty: none
	Cut      bool   // a discontinuity precedes it
	Measured bool   // Span and Frame were measured from timestamps
	Span     float64
	Frame    float64
}

// list is the state of one playlist of a stream.
type list struct {
	At     time.Time // time of the last playlist upload
	Next   int64     // order of the next new segment
	Floor  int64     // order of the first segment in the last served playlist
	Breaks int64
	Files  []string   // listed files; for a master playlist, its renditions
	First  string     // first rendition; empty: not a master playlist
	Turn   encoderRun // run of the current encoder
	Before encoderRun // run of the previous encoder, which may still upload
	Over   bool       // the encoder has sent ENDLIST
}

// streamState is the state of a stream that is stored in stateFile.
type streamState struct {
	Last     int64 // number in the name of the newest file
	Segments []segment
	Lists    map[string]*list
}

// stream is the stored video of one operator. It is safe for concurrent use.
type stream struct {
	root  *os.Root
	dir   string
	users int // guarded by Origin.mu

	mu          sync.Mutex
	state       streamState
	open        int                      // number of uploads in progress
	heartbeatAt time.Time                // time of the last recorded heartbeat
	uploading   map[string]chan struct{} // segments that are being uploaded, by name; closed at the end
}

func newStream(root *os.Root, handle string) *stream {
	return &stream{
		root: root, dir: liveDir + "/" + handle, state: streamState{Lists: map[string]*list{}},
		uploading: map[string]chan struct{}{},
	}
}

func (s *stream) load() error {
	raw, err := s.root.ReadFile(s.dir + "/" + stateFile)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, &s.state); err != nil {
		return err
	}
	if s.state.Lists == nil {
		s.state.Lists = map[string]*list{}
	}
	s.state.Segments = slices.DeleteFunc(s.state.Segments, func(g segment) bool {
		_, err := s.root.Stat(s.dir + "/" + g.File)
		return err != nil
	})
	return nil
}

// save stores the state of the stream. It replaces the stored state atomically.
func (s *stream) save() error {
	raw, err := json.Marshal(s.state)
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

// fresh reports whether a playlist of segments was uploaded within freshFor.
func (s *stream) fresh(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.state.Lists {
		if l.First == "" && len(l.Files) > 0 && now.Sub(l.At) < freshFor {
			return true
		}
	}
	return false
}

// expect records that a segment is being uploaded, so that a playlist that lists the segment waits for the end of the upload.
// The caller must call the returned function at the end of the upload.
func (s *stream) expect(name string) (arrived func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	done := make(chan struct{})
	s.uploading[name] = done
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.uploading[name] == done {
			delete(s.uploading, name)
		}
		close(done)
	}
}

// errFull is the error of a segment that would exceed the storage limit of its stream.
var errFull = apperr.New(apperr.TooLarge, "payload_too_large",
	"the stored minutes of this stream exceed its storage limit; lower the bitrate")

// add moves an uploaded file into the stream. It discards a repeated upload. If the segments of the stream would then exceed
// the storage limit most, in bytes, it discards the upload and returns errFull.
func (s *stream) add(g segment, from string, keep time.Duration, most int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := s.find(g.Name); i >= 0 && s.retry(&s.state.Segments[i], g.Sum) {
		s.state.Segments[i].At = g.At
		return s.root.Remove(from)
	}
	if err := s.evict(g.At, keep); err != nil {
		return err
	}
	total := g.Bytes
	for _, h := range s.state.Segments {
		total += h.Bytes
	}
	if total > most {
		return errors.Join(errFull, s.root.Remove(from))
	}
	if err := s.root.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	s.state.Last = max(s.state.Last+1, g.At.UnixMicro())
	g.File = strconv.FormatInt(s.state.Last, 36) + g.Name[strings.LastIndexByte(g.Name, '.'):]
	if err := s.root.Rename(from, s.dir+"/"+g.File); err != nil {
		return err
	}
	s.state.Segments = append(s.state.Segments, g)
	return s.save()
}

// evict deletes segments that are older than the duration keep. It does not delete a segment if a playlist that was uploaded
// within keep lists it. It does not delete an initialization segment that a remaining segment needs.
func (s *stream) evict(now time.Time, keep time.Duration) error {
	used := map[string]bool{}
	for _, l := range s.state.Lists {
		if now.Sub(l.At) < keep {
			for _, f := range l.Files {
				used[f] = true
			}
		}
	}
	isUsed := func(g *segment) bool { return used[g.File] || now.Sub(g.At) < keep }
	for i := range s.state.Segments {
		if g := &s.state.Segments[i]; g.Init != "" && isUsed(g) {
			used[g.Init] = true
		}
	}
	var errs []error
	s.state.Segments = slices.DeleteFunc(s.state.Segments, func(g segment) bool {
		if isUsed(&g) {
			return false
		}
		if err := s.root.Remove(s.dir + "/" + g.File); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, fmt.Errorf("delete segment: %w", err))
		}
		return true
	})
	return errors.Join(errs...)
}

// sweep evicts old segments. It reports whether the stream is then empty and no upload is in progress.
func (s *stream) sweep(now time.Time, keep time.Duration) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := len(s.state.Segments)
	if err := s.evict(now, keep); err != nil {
		return false, err
	}
	if len(s.state.Segments) == 0 {
		return len(s.uploading) == 0, nil
	}
	if len(s.state.Segments) == before {
		return false, nil
	}
	return false, s.save()
}
