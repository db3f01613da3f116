package hls

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/signalcast/signalcast/pkg/dbtime"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/ratelimit"
)

// Options of an Origin. All but Base, Beat, Withheld, FFmpeg and Idle must be set.
type Options struct {
	Dir  string        // for this process alone
	Base func() string // where viewers find the origin, without a slash at the end
	// Admit decides about a push. Errors: unauthenticated, not_approved, db_unavailable.
	Admit func(ctx context.Context, handle protocol.Handle, key string) error
	// Beat reports that video of an operator arrived; nil: heartbeats are not sent.
	Beat func(ctx context.Context, handle protocol.Handle) error
	// Withheld returns the handles of suspended and hidden operators and the ids of their clips, which are not served;
	// nil: everything is served.
	Withheld    func(ctx context.Context) (map[string]bool, error)
	Keep        time.Duration // how long a segment is kept
	StreamBytes int64         // of one stream
	ClipBytes   int64         // of all clips
	FFmpeg      string        // program that takes the still pictures; empty: there are none
	Idle        time.Duration // without a byte, until a push is cut off; 0: 15 seconds
	Now         func() time.Time
	Log         *slog.Logger
}

// Origin holds the last minutes of the streams, and the clips.
type Origin struct {
	o      Options
	root   *os.Root
	lock   *os.File
	ffmpeg string // empty: there is none
	held   atomic.Bool
	pushes *ratelimit.Local
	wrong  *ratelimit.Local

	mu      sync.Mutex
	streams map[string]*stream

	withheld withheld
}

// Limits of pushing. An encoder with segments of two seconds makes about one request
// a second for each rendition.
const (
	pushesIn   = 10 * time.Second
	pushesMost = 200 // of a stream
	wrongMost  = 60  // wrong keys of an address, in a minute
)

// New prepares an Origin; Take makes it one.
func New(o Options) *Origin {
	return &Origin{
		o: o, streams: map[string]*stream{},
		pushes: ratelimit.NewLocal("ingest", pushesMost, pushesIn, o.Now), wrong: ratelimit.NewLocal("ingest-key", wrongMost, time.Minute, o.Now),
	}
}

// Take takes the directory for this process alone and reads what is kept there; false:
// another process has it. It may be called until it is held. Nothing else is to be asked
// of an Origin before.
func (o *Origin) Take() (bool, error) {
	if o.held.Load() {
		return true, nil
	}
	if err := o.open(); err != nil {
		return false, fmt.Errorf("video directory: %w", err)
	}
	if err := syscall.Flock(int(o.lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return false, nil
		}
		return false, fmt.Errorf("video directory: %w", err)
	}
	if err := o.load(); err != nil {
		return false, fmt.Errorf("video directory: %w", err)
	}
	if o.o.FFmpeg != "" {
		if path, err := exec.LookPath(o.o.FFmpeg); err == nil {
			o.ffmpeg = path
		} else {
			o.o.Log.Info("clips have no still pictures, there is no ffmpeg", "program", o.o.FFmpeg)
		}
	}
	o.held.Store(true)
	return true, nil
}

// open finds the directory; the lock in it is nobody's yet.
func (o *Origin) open() (err error) {
	if o.root == nil {
		if err := os.MkdirAll(o.o.Dir, 0o700); err != nil {
			return err
		}
		if o.root, err = os.OpenRoot(o.o.Dir); err != nil {
			return err
		}
	}
	if o.lock == nil {
		o.lock, err = o.root.OpenFile("lock", os.O_CREATE|os.O_RDWR, 0o600)
	}
	return err
}

// Ready implements clip.Maker: this process has the video.
func (o *Origin) Ready() bool { return o.held.Load() }

// Folders of the directory.
const (
	liveDir = "live"
	clipDir = "clips"
	tmpDir  = "tmp" // what is not whole yet
)

// sweepEvery is how soon what is too old goes.
const sweepEvery = 5 * time.Second

// Run removes old segments and clips until ctx ends. It waits first, so that a publisher can continue after a restart.
func (o *Origin) Run(ctx context.Context) error {
	if err := dbtime.Sleep(ctx, sweepEvery); err != nil {
		return err
	}
	return dbtime.Every(ctx, sweepEvery, func() error {
		o.Sweep()
		return nil
	})
}

// Close gives the directory back.
func (o *Origin) Close() error {
	var errs []error
	if o.lock != nil {
		// A program that is being started has the file too, until it runs.
		errs = append(errs, syscall.Flock(int(o.lock.Fd()), syscall.LOCK_UN), o.lock.Close())
	}
	if o.root != nil {
		errs = append(errs, o.root.Close())
	}
	return errors.Join(errs...)
}

// hold gives the stream of an operator and keeps it from being swept away until free.
func (o *Origin) hold(handle string, create bool) (s *stream, free func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	s = o.streams[handle]
	if s == nil {
		if !create {
			return nil, func() {}
		}
		s = newStream(o.root, handle)
		o.streams[handle] = s
	}
	s.users++
	return s, func() {
		o.mu.Lock()
		s.users--
		o.mu.Unlock()
	}
}

// load reads the streams that another process left.
func (o *Origin) load() error {
	if err := o.root.RemoveAll(tmpDir); err != nil {
		return err
	}
	for _, dir := range []string{tmpDir, liveDir, clipDir} {
		if err := o.root.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	dirs, err := readDir(o.root, liveDir)
	if err != nil {
		return err
	}
	for _, d := range dirs {
		if _, err := protocol.ParseHandle(d.Name()); err != nil {
			continue
		}
		s := newStream(o.root, d.Name())
		if err := s.load(); err != nil {
			o.o.Log.Warn("what was kept of a stream is lost", "handle", d.Name(), "error", err)
			if err := o.root.RemoveAll(s.dir); err != nil {
				return err
			}
			continue
		}
		o.streams[d.Name()] = s
	}
	return nil
}

// Sweep lets go of segments that are too old, and of streams of which nothing is left.
func (o *Origin) Sweep() {
	o.mu.Lock()
	defer o.mu.Unlock()
	now := o.o.Now()
	for handle, s := range o.streams {
		if s.users > 0 {
			continue // it is pushed to or cut from, and swept by that, or next time
		}
		empty, err := s.sweep(now, o.o.Keep)
		if err == nil && empty {
			err = o.root.RemoveAll(s.dir)
			delete(o.streams, handle)
		}
		if err != nil {
			o.o.Log.Warn("stream not swept", "handle", handle, "error", err)
		}
	}
}

// Live implements clip.Maker.
func (o *Origin) Live(handle string) bool {
	s, free := o.hold(handle, false)
	defer free()
	return s != nil && s.fresh(o.o.Now())
}

func readDir(root *os.Root, name string) ([]os.DirEntry, error) {
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	list, err := f.ReadDir(-1)
	return list, errors.Join(err, f.Close())
}
