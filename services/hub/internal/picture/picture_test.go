package picture

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/safedial"
	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/hub/internal/download"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

func TestMain(m *testing.M) { testkit.Main(m) }

const hubURL = "https://hub.example"

// memory is a store with one picture for each operator.
type memory struct {
	mu   sync.Mutex
	rows map[operator.ID]Stored
}

func (m *memory) FindPicture(_ context.Context, of operator.ID) (Stored, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.rows[of], nil
}

func (m *memory) StartPicture(_ context.Context, of operator.ID, now, before time.Time) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	row, ok := m.rows[of]
	if ok && row.TriedAt.After(before) {
		return false, nil
	}
	row.TriedAt = now
	m.rows[of] = row
	return true, nil
}

func (m *memory) EndPicture(_ context.Context, of operator.ID, p Stored) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if row, ok := m.rows[of]; ok && row.TriedAt.Equal(p.TriedAt) {
		m.rows[of] = p
	}
	return nil
}

func (m *memory) StorePicture(_ context.Context, of operator.ID, p Stored) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.rows[of] = p
	return nil
}

// remove deletes the picture of an operator, as a change of the profile does.
func (m *memory) remove(of operator.ID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.rows, of)
}

// fixture is a service, and a server of pictures that is on a private address.
type fixture struct {
	*Service
	t      *testing.T
	clock  *testkit.Clock
	store  *memory
	server *httptest.Server
	asked  atomic.Int64 // requests to the server
	answer atomic.Pointer[http.HandlerFunc]
}

// setup returns a fixture. If reachable is false, the service connects to public addresses only.
func setup(t *testing.T, reachable bool) *fixture {
	t.Helper()
	b := &fixture{
		t: t, clock: testkit.NewClock(time.Date(2026, 9, 18, 12, 0, 0, 0, time.UTC)), store: &memory{rows: map[operator.ID]Stored{}},
	}
	b.server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b.asked.Add(1)
		(*b.answer.Load())(w, r)
	}))
	b.server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	t.Cleanup(b.server.Close)
	var err error
	if b.Service, err = NewService(b.store, download.New(), hubURL, b.clock.Now, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	if reachable {
		client := safedial.Client(safedial.Options{Private: true, Timeout: time.Minute, Redirects: 3})
		client.Transport.(*http.Transport).TLSClientConfig = //nolint:forcetypeassert // it is one
			b.server.Client().Transport.(*http.Transport).TLSClientConfig //nolint:forcetypeassert // it is one
		t.Cleanup(client.CloseIdleConnections)
		b.downloads = &download.Client{HTTP: client}
	}
	b.serve(pngOf(t, paint(50, 50, red)))
	return b
}

func (b *fixture) serve(body []byte) {
	b.handle(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(body) })
}

func (b *fixture) handle(f http.HandlerFunc) { b.answer.Store(&f) }

// want requests the picture of the operator a with an avatarUrl, and checks the error and the number of requests until now.
func (b *fixture) want(avatarURL string, want error, asked int64) {
	b.t.Helper()
	jpeg, err := b.Find(b.t.Context(), operator.Operator{ID: "a", Handle: "mara", AvatarURL: avatarURL})
	if !errors.Is(err, want) || (err == nil) != (jpeg != nil) || b.asked.Load() != asked {
		b.t.Errorf("%s: %d bytes, error %v, %d requests; want error %v, %d requests",
			avatarURL, len(jpeg), err, b.asked.Load(), want, asked)
	}
}

// TestFind checks that a picture is fetched once, again after a change of its address, and an hour after a failure.
func TestFind(t *testing.T) {
	t.Parallel()
	b := setup(t, true)
	b.want("", ErrNone, 0)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() { b.want(b.server.URL+"/a.png", nil, 1) })
	}
	all.Wait()
	b.clock.Advance(24 * time.Hour)
	b.want(b.server.URL+"/a.png", nil, 1)
	b.serve([]byte("no picture"))
	b.want(b.server.URL+"/b.png", ErrNone, 2)
	b.clock.Advance(visitPause)
	b.want(b.server.URL+"/b.png", ErrNone, 2) // fetched again after an hour
	b.serve(pngOf(t, paint(50, 50, blue)))
	b.want(b.server.URL+"/c.png", nil, 3)
	b.want(b.server.URL+"/d.png", ErrWait, 3) // the last fetch was within a minute
	b.clock.Advance(visitPause)
	b.want(b.server.URL+"/d.png", nil, 4)
	b.serve(nil)
	b.clock.Advance(visitPause)
	b.want(b.server.URL+"/e.png", ErrNone, 5)
	b.clock.Advance(failedPause)
	b.serve(pngOf(t, paint(50, 50, blue)))
	b.want(b.server.URL+"/e.png", nil, 6)
	b.clock.Advance(failedPause)
	b.want(hubURL+"/u/mara/picture", ErrNone, 6)
	b.want("https://HUB.example:443/u/tide/picture", ErrNone, 6)
	if err := b.Replace(t.Context(), "a", hubURL+"/u/mara/picture", []byte("jpeg")); err != nil {
		t.Fatal(err)
	}
	b.want(hubURL+"/u/mara/picture", nil, 6)
}

// block makes the server wait with its answers. The returned function lets it send the picture, at the latest at the end of the
// test.
func (b *fixture) block(picture []byte) func() {
	wait := make(chan struct{})
	release := sync.OnceFunc(func() { close(wait) })
	b.t.Cleanup(release)
	b.handle(func(w http.ResponseWriter, _ *http.Request) {
		<-wait
		_, _ = w.Write(picture)
	})
	return release
}

// TestNewerPicture checks that a fetch does not replace what was stored during it.
func TestNewerPicture(t *testing.T) {
	t.Parallel()
	const own = hubURL + "/u/mara/picture"
	for name, c := range map[string]struct {
		change func(*fixture) error
		want   Stored
	}{
		"replace": {func(b *fixture) error {
			return b.Replace(t.Context(), "a", own, []byte("upload"))
		}, Stored{Source: own, JPEG: []byte("upload")}},
		"delete": {func(b *fixture) error { b.store.remove("a"); return nil }, Stored{}},
		"other fetch": {func(b *fixture) error {
			_, err := b.store.StartPicture(t.Context(), "a", b.clock.Now(), b.clock.Now().Add(-formPause))
			return err
		}, Stored{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, true)
			release := b.block(pngOf(t, paint(50, 50, red)))
			var fetch sync.WaitGroup
			fetch.Go(func() { b.want(b.server.URL+"/a.png", nil, 1) })
			testkit.Eventually(t, time.Minute, func() bool { return b.asked.Load() == 1 })
			b.clock.Advance(formPause)
			if err := c.change(b); err != nil {
				t.Fatal(err)
			}
			release()
			fetch.Wait()
			if row := b.store.rows["a"]; row.Source != c.want.Source || !bytes.Equal(row.JPEG, c.want.JPEG) {
				t.Errorf("stored %q with %d bytes; want %q with %d bytes", row.Source, len(row.JPEG), c.want.Source, len(c.want.JPEG))
			}
		})
	}
}

// TestLog checks that the log of a failed fetch has no address.
func TestLog(t *testing.T) {
	t.Parallel()
	b := setup(t, true)
	var log bytes.Buffer
	b.log = slog.New(slog.NewTextHandler(&log, nil))
	b.handle(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	b.want(b.server.URL+"/planted.png", ErrNone, 1)
	b.clock.Advance(visitPause)
	b.serve([]byte("no picture"))
	b.want(b.server.URL+"/planted_too.png", ErrNone, 2)
	got, host := log.String(), b.server.Listener.Addr().String()
	if strings.Count(got, "picture fetch failed") != 2 || strings.Contains(got, "planted") || strings.Contains(got, host) {
		t.Errorf("the log is %s", got)
	}
}

// TestFetch checks that the fetch of a form stores no picture, also not after a failure, and that it is limited.
func TestFetch(t *testing.T) {
	t.Parallel()
	b := setup(t, true)
	if jpeg, err := b.Fetch(t.Context(), "a", b.server.URL); err != nil || len(jpeg) == 0 {
		t.Errorf("%d bytes, error %v", len(jpeg), err)
	}
	if _, err := b.Fetch(t.Context(), "a", b.server.URL+"/other"); !errors.Is(err, ErrWait) {
		t.Errorf("second fetch: %v", err)
	}
	b.clock.Advance(formPause)
	b.serve(nil)
	if _, err := b.Fetch(t.Context(), "a", b.server.URL+"/none"); !errors.Is(err, ErrNone) {
		t.Errorf("no picture: %v", err)
	}
	b.clock.Advance(formPause)
	b.serve(huge(t, 4000, 3000))
	if _, err := b.Fetch(t.Context(), "a", b.server.URL+"/photo"); !errors.Is(err, ErrNone) || !errors.Is(err, ErrLarge) {
		t.Errorf("large picture: %v", err)
	}
	if row := b.store.rows["a"]; row.Source != "" || row.JPEG != nil {
		t.Errorf("stored %v", row)
	}
}

// TestRequest checks the bounds of answers, and redirects.
func TestRequest(t *testing.T) {
	t.Parallel()
	b := setup(t, true)
	plain := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(plain.Close)
	picture := pngOf(t, paint(50, 50, red))
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		ok     bool
	}{
		"redirect": {func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/" {
				http.Redirect(w, r, "/next", http.StatusFound)
				return
			}
			_, _ = w.Write(picture)
		}, true},
		"loop":    {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/", http.StatusFound) }, false},
		"to http": {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, plain.URL, http.StatusFound) }, false},
		"status": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusNotFound)
			_, _ = w.Write(picture)
		}, false},
		"endless": {func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				if _, err := w.Write(make([]byte, 1<<16)); err != nil {
					return
				}
			}
		}, false},
		"announced length": {func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Length", "99999999") }, false},
	} {
		b.handle(c.answer)
		if jpeg, err := b.request(t.Context(), b.server.URL+"/"); (err == nil) != c.ok || c.ok != (jpeg != nil) {
			t.Errorf("%s: %d bytes, error %v", name, len(jpeg), err)
		}
	}
	if _, err := b.request(t.Context(), plain.URL); !errors.Is(err, download.ErrScheme) {
		t.Errorf("http: %v", err)
	}
}

// TestTooManyFetches checks that a hub fetches at most maxFetches pictures at a time, and that a refused fetch stores nothing.
func TestTooManyFetches(t *testing.T) {
	t.Parallel()
	b := setup(t, true)
	release := b.block([]byte("no picture"))
	var all sync.WaitGroup
	for i := range maxFetches {
		all.Go(func() { _, _ = b.Fetch(t.Context(), operator.ID(rune('b'+i)), b.server.URL) })
	}
	testkit.Eventually(t, time.Minute, func() bool { return b.asked.Load() == maxFetches })
	b.want(b.server.URL+"/a.png", ErrWait, maxFetches)
	if row, ok := b.store.rows["a"]; ok {
		t.Errorf("stored %v", row)
	}
	release()
	all.Wait()
}

// TestOnlyPublicAddresses checks that no connection to a private address is made.
func TestOnlyPublicAddresses(t *testing.T) {
	t.Parallel()
	b := setup(t, false)
	for _, address := range []string{
		b.server.URL + "/a.png", "https://169.254.169.254/latest/meta-data", "https://[::1]/a.png", "https://localhost/a.png",
	} {
		if _, err := b.request(t.Context(), address); !errors.Is(err, safedial.ErrAddress) {
			t.Errorf("%s: %v, want ErrAddress", address, err)
		}
	}
	b.want(b.server.URL+"/a.png", ErrNone, 0)
}
