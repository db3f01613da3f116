package httpcache

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/rand"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/signalcast/signalcast/pkg/cache"
	"github.com/signalcast/signalcast/pkg/dbtime"
	"github.com/signalcast/signalcast/pkg/redisx"
)

//go:embed claim.lua
var claimSource string

//go:embed store.lua
var storeSource string

var claimScript, storeScript = redis.NewScript(claimSource), redis.NewScript(storeSource)

const (
	// localLife is the maximum time for which a shared page is fresh in one process. After it, the process reads Redis again, and
	// serves the page for up to localGrace until it has the answer.
	localLife, localGrace = 2 * time.Second, 2 * time.Second
	// awaitedLife is the time for which a stale shared page is served until the process asks again whether it was built.
	awaitedLife = 100 * time.Millisecond
	// holdFailed is the time after a failed build in which no process builds a page of which Redis has a stale one.
	holdFailed = time.Second
	// maxAwait is the maximum time for which a read waits for the build of another process. If that process was killed, the read
	// then builds the page.
	maxAwait = time.Second
	// minPoll and maxPoll are the first and the longest interval between two questions whether another process has built a page.
	minPoll, maxPoll = 5 * time.Millisecond, 25 * time.Millisecond
	// maxShared is the maximum size of a stored page in bytes, after compression. Larger pages are built by each process.
	maxShared = 512 << 10
	// maxBody is the maximum size of the body of a stored page in bytes.
	maxBody = 16 << 20
)

// generationKey is the Redis key of a number that Clear increases. Pages of other generations are not used.
var generationKey = redisx.Key("page-generation")

// SharedConfig configures a Shared. All fields except Builds and Reads are required.
type SharedConfig struct {
	Redis   *redisx.Client
	Timeout time.Duration // maximum time in which one read waits for Redis, in all its commands together
	// Shape identifies the service, its build and the settings on which the form of its pages depends. Processes with different
	// shapes share no page. During an upgrade, old and new processes therefore do not read the pages of each other.
	Shape []string
	Now   func() time.Time

	// Builds and Reads return, for the name of a cache, a function that is called for each build of a page, and for each page
	// that was read from Redis instead. Nil: no metrics.
	Builds, Reads func(cache string) func()
}

// Shared is the second level of caches: pages in Redis, which all processes of a service use. One process builds a page, and the
// others read it. A page is then fresh in each process for at most two seconds. Without Redis, the caches are those of a
// process.
//
// Only answers that are the same for every caller may be stored in a shared cache. A build that fails stores nothing.
type Shared struct {
	cfg     SharedConfig
	prefix  string
	process string
	cleared atomic.Bool // Clear was called, and Redis does not have the next generation yet
}

// NewShared returns the second level of the caches that Open returns.
func NewShared(cfg SharedConfig) *Shared {
	if cfg.Builds == nil {
		cfg.Builds = func(string) func() { return func() {} }
	}
	if cfg.Reads == nil {
		cfg.Reads = func(string) func() { return func() {} }
	}
	sum := sha256.Sum256([]byte(strings.Join(cfg.Shape, "\x00")))
	return &Shared{
		cfg: cfg, prefix: redisx.Key("page", hex.EncodeToString(sum[:8])) + ":", process: rand.Text(),
	}
}

// Open returns an empty cache whose second level is s, or a cache of this process if s is nil. name identifies the cache in Redis
// and in metrics. The fields Life and Grace of o must not be set. The caller must call Close.
func (s *Shared) Open(name string, o Options) *Cache {
	if s == nil {
		return New(o)
	}
	ttl, stale := o.TTL, o.Stale
	o.Life = func(p *Page) time.Duration {
		if p.shared {
			return p.life
		}
		return ttl
	}
	o.Grace = func(p *Page) time.Duration {
		if p.shared {
			return min(stale, localGrace)
		}
		return stale
	}
	c := New(o)
	if o.Timeout == 0 {
		o.Timeout = cache.DefaultTimeout
	}
	c.level = &level{
		shared: s, name: name, ttl: ttl, stale: stale, timeout: o.Timeout, built: s.cfg.Builds(name), read: s.cfg.Reads(name),
		failed: o.Failed, local: c.Cache,
	}
	if c.level.failed == nil {
		c.level.failed = func(string, error) {}
	}
	c.level.ctx, c.level.cancel = context.WithCancel(context.Background())
	return c
}

// Clear makes all shared pages invalid, and also the pages of builds that run now. If Redis is unavailable, the process uses no
// shared page until Redis has made them invalid.
func (s *Shared) Clear() {
	if s == nil {
		return
	}
	s.cleared.Store(true)
	ctx := context.Background()
	if _, err := s.cfg.Redis.Pipelined(ctx, func(p redis.Pipeliner) error {
		p.Incr(ctx, generationKey)
		p.Expire(ctx, generationKey, 24*time.Hour)
		return nil
	}); err == nil {
		s.cleared.Store(false)
	}
}

// level is the second level of one cache.
type level struct {
	shared              *Shared
	name                string
	ttl, stale, timeout time.Duration // of the cache
	built, read         func()
	failed              func(key string, err error)
	local               *cache.Cache[string, *Page] // the first level
	ctx                 context.Context             // parent context of builds in the background
	cancel              context.CancelFunc
	work                sync.WaitGroup // running builds in the background and writes to Redis
}

func (l *level) keys(key string) []string {
	if len(key) > 100 {
		sum := sha256.Sum256([]byte(key))
		key = hex.EncodeToString(sum[:])
	}
	page := l.shared.prefix + l.name + ":" + key
	return []string{page, page + ":claim", generationKey}
}

// local returns p as a page that is also in Redis and is fresh for life in this process.
func (p *Page) local(life time.Duration) *Page {
	c := *p
	c.shared, c.life = true, life
	return &c
}

// load reads the page of a key from Redis or builds it. If Redis has a stale page, load returns that page, and one process builds
// it in the background. Without a page, load waits for the build of another process for a limited time. If Redis does not answer
// in time, load builds the page for this process.
func (l *level) load(ctx context.Context, key string, last *Page, build Build) (*Page, error) {
	r := reading{level: l, keys: l.keys(key), last: last, left: l.shared.cfg.Timeout}
	began, wait := l.shared.cfg.Now(), minPoll
	for {
		err := r.claim(ctx)
		switch {
		case err != nil: // without Redis, the page is that of this process
			return l.build(ctx, last, build)
		case r.page != nil && r.mine:
			l.rebuild(key, r, build)
			return r.page, nil
		case r.page != nil:
			l.read()
			return r.page, nil
		case r.mine || l.shared.cfg.Now().Sub(began) >= min(l.timeout/2, maxAwait):
			p, err := l.build(ctx, last, build)
			if err != nil {
				l.store(r.keys, 0)
				return nil, err
			}
			return l.stored(r.keys, r.generation, p), nil
		}
		if err := dbtime.Sleep(ctx, wait); err != nil {
			return nil, err
		}
		wait = min(2*wait, maxPoll)
	}
}

// rebuild builds a stale page in the background.
func (l *level) rebuild(key string, r reading, build Build) {
	l.work.Go(func() {
		ctx, cancel := context.WithTimeout(l.ctx, l.timeout)
		defer cancel()
		p, err := l.build(ctx, r.page, build)
		if err != nil {
			l.store(r.keys, holdFailed)
			l.failed(key, err)
			return
		}
		l.local.Put(key, l.stored(r.keys, r.generation, p))
	})
}

// build builds a page of this process. It converts a panic of the function build to an error, because builds in the background
// run in their own goroutine.
func (l *level) build(ctx context.Context, last *Page, build Build) (p *Page, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			p, err = nil, fmt.Errorf("build: panic: %v", cause)
		}
	}()
	if p, err = makeFrom(ctx, last, build); err != nil {
		return nil, err
	}
	l.built()
	if p.shared {
		own := *p
		own.shared = false
		p = &own
	}
	return p, nil
}

// put stores a page in Redis for all replicas, also if no replica has claimed the build of the page, and returns the stored page.
func (l *level) put(key string, p *Page) *Page { return l.stored(l.keys(key), "", p) }

// stored stores a page in Redis and returns the stored page. A page that is too large is not stored, and is returned unchanged.
// generation is the generation of the cache when the build was claimed; empty: the build was not claimed.
func (l *level) stored(keys []string, generation string, p *Page) *Page {
	data, compressed := p.body, 0
	if p.gz != nil {
		data, compressed = p.gz, 1
	}
	if len(data) > maxShared || len(p.body) > maxBody {
		l.store(keys, 0)
		return p
	}
	l.store(keys, 0, generation, (l.ttl + l.stale).Milliseconds(), p.tag, compressed, data)
	return p.local(min(l.ttl, localLife))
}

// store ends the claim of this process after the time hold, and stores a page if record is not empty. It does not wait for Redis.
func (l *level) store(keys []string, hold time.Duration, record ...any) {
	args := append([]any{l.shared.process, hold.Milliseconds()}, record...)
	l.work.Go(func() {
		// If this fails, the claim expires later, and other processes build the page.
		_ = storeScript.Run(context.Background(), l.shared.cfg.Redis, keys, args...).Err()
	})
}

// reading is one read of a page from Redis.
type reading struct {
	*level
	keys []string
	last *Page         // page that the process has; may be nil
	left time.Duration // time for which the read may still wait for Redis
	sent bool

	// Results of claim.
	page       *Page // nil: the page must be built
	mine       bool  // this process must build it
	generation string
}

// errSlow means that a read has waited for Redis as long as it may.
var errSlow = errors.New("redis is slow")

// claim reads the page, or claims its build.
func (r *reading) claim(ctx context.Context) error {
	if r.left <= 0 {
		return errSlow
	}
	if r.sent { // the timeout of the client limits the first command
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, r.left)
		defer cancel()
	}
	r.sent = true
	s := r.shared
	tag, clearing := "", 0
	if r.last != nil {
		tag = r.last.tag
	}
	if s.cleared.Load() {
		clearing = 1
	}
	began := s.cfg.Now()
	answer, err := claimScript.Run(
		ctx, s.cfg.Redis, r.keys, s.process, r.timeout.Milliseconds(), r.ttl.Milliseconds(), tag, clearing,
	).Slice()
	r.left -= s.cfg.Now().Sub(began)
	if err != nil {
		return err
	}
	if clearing == 1 {
		s.cleared.Store(false)
	}
	return r.decode(answer)
}

// decode reads the answer of claim.lua.
func (r *reading) decode(answer []any) (err error) {
	if len(answer) != 3 && len(answer) != 6 {
		return fmt.Errorf("page script returned %d values", len(answer))
	}
	state, _ := answer[0].(int64)
	age, _ := answer[1].(int64)
	r.generation, _ = answer[2].(string)
	r.mine = state == 1
	if len(answer) == 3 {
		return nil
	}
	tag, _ := answer[3].(string)
	compressed, _ := answer[4].(int64)
	data, _ := answer[5].(string)
	life := min(r.ttl-time.Duration(age)*time.Millisecond, localLife)
	if state != 0 {
		life = awaitedLife
	}
	p := r.last
	if p == nil || p.tag != tag {
		if p, err = readPage(tag, []byte(data), compressed == 1); err != nil {
			return err
		}
	}
	r.page = p.local(life)
	return nil
}

// readPage returns the page of a record that store.lua has stored.
func readPage(tag string, data []byte, compressed bool) (*Page, error) {
	if !compressed {
		return newPage(tag, data, nil), nil
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(io.LimitReader(z, maxBody))
	return newPage(tag, body, data), err
}
