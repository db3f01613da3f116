package hls

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
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

// Options holds the settings of an Origin. All except Beat, Withheld, FFmpeg and Idle are required.
type Options struct {
	Dir  string        // directory that no other service uses
	Base func() string // public base URL without a trailing slash
	// Admit checks the stream key of an upload. Errors: unauthenticated, not_approved, db_unavailable.
	Admit func(ctx context.Context, handle protocol.Handle, key string) error
	// Beat records a heartbeat of an operator when video of the operator arrives. If it is nil, heartbeats are not recorded.
	Beat func(ctx context.Context, handle protocol.Handle) error
	// Withheld returns the content that the origin must not serve: handles of suspended and hidden operators, and ids of their
	// clips. If it is nil, the origin serves everything.
	Withheld    func(ctx context.Context) (map[string]bool, error)
	Keep        time.Duration // time for which a segment is stored
	StreamBytes int64         // storage limit of one stream
	ClipBytes   int64         // storage limit of all clips
	FFmpeg      string        // program that makes thumbnails; empty: no thumbnails
	Client      *http.Client  // requests to other servers whose playlists operators bind; it must refuse private addresses
	Idle        time.Duration // an upload without a byte for this time is aborted; 0: 15 seconds
	Now         func() time.Time
	Log         *slog.Logger
}

// Origin stores clips and the last minutes of live streams in a directory. It serves them over HTTP.
type Origin struct {
	o      Options
	root   *os.Root
	lock   *os.File
	ffmpeg string      // path of ffmpeg; empty: not installed
	owner  atomic.Bool // this process has locked the directory
	pushes *ratelimit.Local
	wrong  *ratelimit.Local

	mu      sync.Mutex
	streams map[string]*stream

	withheld withheld
}

// Limits of uploads. An encoder with segments of two seconds sends about one request per second and rendition.
const (
	pushWindow   = 10 * time.Second
	maxPushes    = 200 // uploads per stream and pushWindow
	maxWrongKeys = 60  // wrong keys per minute and IP address
)

// New builds an Origin. Take must succeed before the Origin receives or serves video.
func New(o Options) *Origin {
	return &Origin{
		o: o, streams: map[string]*stream{},
		pushes: ratelimit.NewLocal("ingest", maxPushes, pushWindow, o.Now), wrong: ratelimit.NewLocal("ingest-key", maxWrongKeys, time.Minute, o.Now),
	}
}

// Take locks the directory for this process and loads the stored state. If another process has locked the directory, it
// returns false, and the caller can call Take again later.
func (o *Origin) Take() (bool, error) {
	if o.owner.Load() {
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
			o.o.Log.Info("clip thumbnails disabled", "reason", "ffmpeg not found", "program", o.o.FFmpeg)
		}
	}
	o.owner.Store(true)
	return true, nil
}

// open creates and opens the directory and its lock file. It does not lock the file.
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

// Ready implements clip.Maker. It reports whether this process owns the directory.
func (o *Origin) Ready() bool { return o.owner.Load() }

// Subdirectories of Options.Dir.
const (
	liveDir = "live"
	clipDir = "clips"
	tmpDir  = "tmp" // incomplete uploads and clips; emptied at start
)

// sweepEvery is the interval between two sweeps of the stored streams.
const sweepEvery = 5 * time.Second

// Run deletes old segments and empty streams until ctx ends. It waits sweepEvery before the first sweep, so that an encoder can
// continue its stream after a restart.
func (o *Origin) Run(ctx context.Context) error {
	if err := dbtime.Sleep(ctx, sweepEvery); err != nil {
		return err
	}
	return dbtime.Every(ctx, sweepEvery, func() error {
		o.Sweep()
		return nil
	})
}

// Close unlocks and closes the directory of the origin.
func (o *Origin) Close() error {
	var errs []error
	if o.lock != nil {
		// The lock is released explicitly: a child process that is being started can still have the file open.
		errs = append(errs, syscall.Flock(int(o.lock.Fd()), syscall.LOCK_UN), o.lock.Close())
	}
	if o.root != nil {
		errs = append(errs, o.root.Close())
	}
	return errors.Join(errs...)
}

// acquire returns the stream of an operator and prevents its deletion until the function free is called. If the stream does
// not exist, acquire creates it, or returns nil if create is false.
func (o *Origin) acquire(handle string, create bool) (s *stream, free func()) {
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

// load loads the streams that an earlier process has stored. It discards a stream whose state is unreadable.
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
			o.o.Log.Warn("unreadable stream discarded", "handle", d.Name(), "error", err)
			if err := o.root.RemoveAll(s.dir); err != nil {
				return err
			}
			continue
		}
		o.streams[d.Name()] = s
	}
	return nil
}

// Sweep deletes old segments, and streams without segments. It skips streams that an upload or a clip uses.
func (o *Origin) Sweep() {
	o.mu.Lock()
	defer o.mu.Unlock()
	now := o.o.Now()
	for handle, s := range o.streams {
		if s.users > 0 {
			continue // an upload or a clip uses the stream; a later sweep handles it
		}
		empty, err := s.sweep(now, o.o.Keep)
		if err == nil && empty {
			err = o.root.RemoveAll(s.dir)
			delete(o.streams, handle)
		}
		if err != nil {
			o.o.Log.Warn("stream sweep failed", "handle", handle, "error", err)
		}
	}
}

// Live implements clip.Maker. It reports whether a playlist of segments of the operator was uploaded within freshFor.
func (o *Origin) Live(handle string) bool {
	s, free := o.acquire(handle, false)
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
