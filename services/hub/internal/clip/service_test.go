package clip_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"google.golang.org/grpc"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/testkit"
	operatorv1 "github.com/signalcast/signalcast/proto/operator/v1"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
	"github.com/signalcast/signalcast/services/hub/internal/clip"
	"github.com/signalcast/signalcast/services/hub/internal/ingest"
	"github.com/signalcast/signalcast/services/hub/internal/livestream"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
	"github.com/signalcast/signalcast/services/hub/internal/postgres"
	"github.com/signalcast/signalcast/services/hub/internal/stream"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// maker is a fake Maker whose state and errors the test sets.
type maker struct {
	mu      sync.Mutex
	live    bool
	err     error
	cut     int
	trimmed int
	fetched []string // playlists
}

func (m *maker) Ready() bool { return true }

func (m *maker) Live(string) bool { return m.live }

func (m *maker) Cut(_ context.Context, id, _ string, _ time.Time, length time.Duration) (clip.Video, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.cut++
	return clip.Video{URL: "https://video.example/clips/" + id + "/index.m3u8", Length: length}, m.err
}

func (m *maker) Fetch(ctx context.Context, id, playlist string, end time.Time, length time.Duration) (clip.Video, error) {
	m.mu.Lock()
	m.fetched = append(m.fetched, playlist)
	m.mu.Unlock()
	return m.Cut(ctx, id, "", end, length)
}

func (m *maker) Trim(context.Context, func(context.Context, string) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.trimmed++
	return nil
}

func (m *maker) set(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.err = err
}

// town is a fake of the ledger in which each handle exists and no operator has a call.
type town struct {
	operatorv1.OperatorReadServiceClient
	signalv1.SignalReadServiceClient
}

func (town) GetOperator(_ context.Context, q *operatorv1.GetOperatorRequest, _ ...grpc.CallOption) (*operatorv1.GetOperatorResponse, error) {
	return &operatorv1.GetOperatorResponse{Operator: &operatorv1.Operator{Id: q.GetHandle(), Handle: q.GetHandle()}}, nil
}

func (town) GetCrowd(context.Context, *signalv1.GetCrowdRequest, ...grpc.CallOption) (*signalv1.GetCrowdResponse, error) {
	return &signalv1.GetCrowdResponse{}, nil
}

// bench is a Service whose operators go live on market 7 when a clip is requested.
type bench struct {
	*clip.Service
	air *livestream.Service
	url string // stream of the next live operator; empty: at the origin
}

func playback(h protocol.Handle) string {
	return "https://video.example/live/" + h.String() + "/index.m3u8"
}

func setup(t *testing.T, m clip.Maker, change ...func(*clip.Deps)) (*bench, *postgres.Store, *testkit.Clock, *[]string) {
	t.Helper()
	store := postgres.New(testkit.Pool(t, testkit.Postgres(t, postgres.Schema("")).URL("hub_rw")), testkit.ReadTime)
	clock := testkit.NewClock(time.Date(2026, 9, 18, 12, 0, 0, 0, time.UTC))
	var said []string
	air := livestream.NewService(livestream.Config{Store: store.OnAir(), Now: clock.Now, NewID: uuid.NewString})
	d := clip.Deps{
		Air: air, Directory: operator.Directory{Ledger: town{}}, Signals: town{}, Store: store, Maker: m, Video: true, Now: clock.Now,
		Playback: playback, NewID: uuid.NewString, Failed: func(_ string, err error) { said = append(said, err.Error()) },
	}
	for _, c := range change {
		c(&d)
	}
	return &bench{air: air, Service: clip.NewService(d)}, store, clock, &said
}

// make makes the operator of go live and requests a clip of its stream.
func (b *bench) make(t *testing.T, by, of protocol.Handle) (stream.Clip, error) {
	t.Helper()
	if _, err := b.air.GoLive(t.Context(), livestream.GoLive{Handle: of, MarketID: "7", URL: cmp.Or(b.url, playback(of))}); err != nil {
		t.Fatal(err)
	}
	return b.Make(t.Context(), clip.Request{By: operator.Operator{Handle: by}, Handle: of})
}

// work processes the waiting clips and checks that want clips were processed.
func work(t *testing.T, s *bench, want int) {
	t.Helper()
	if n, err := s.Work(t.Context(), clip.Origin, clip.Playlist, "livepeer"); err != nil || n != want {
		t.Errorf("worked on %d, %v; want %d", n, err, want)
	}
}

func ask(t *testing.T, s *bench, by, of protocol.Handle) {
	t.Helper()
	c, err := s.make(t, by, of)
	if err != nil || c.Status != "processing" || c.MarketID != "7" {
		t.Fatalf("%+v %v", c, err)
	}
}

func ready(t *testing.T, store *postgres.Store) int {
	t.Helper()
	list, err := store.Clips(t.Context(), "7", 50)
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

// TestWork checks that a clip is retried up to three times after a temporary error, and fails at once after a final error.
func TestWork(t *testing.T) {
	t.Parallel()
	m := &maker{live: true}
	s, store, clock, said := setup(t, m)
	ask(t, s, "ann", "mara_k")
	ask(t, s, "bob", "tidewatch")
	work(t, s, 2)
	work(t, s, 0)
	if n := ready(t, store); n != 2 {
		t.Errorf("%d are ready", n)
	}
	m.set(errors.New("disk unavailable"))
	ask(t, s, "eve", "otto")
	work(t, s, 1)
	work(t, s, 0) // the lease has not ended
	m.set(nil)
	clock.Advance(31 * time.Second)
	work(t, s, 1)
	if n := ready(t, store); n != 3 || len(*said) != 1 {
		t.Errorf("%d are ready, %v", n, *said)
	}
	m.set(errors.New("disk broken"))
	ask(t, s, "kim", "lena")
	for range 3 {
		work(t, s, 1)
		clock.Advance(31 * time.Second)
	}
	work(t, s, 0)
	m.set(fmt.Errorf("cut: %w", clip.ErrNoVideo))
	ask(t, s, "joe", "mia1")
	work(t, s, 1)
	clock.Advance(31 * time.Second)
	work(t, s, 0)
	if n := ready(t, store); n != 3 || len(*said) != 5 {
		t.Errorf("%d are ready, %v", n, *said)
	}
}

// TestNoVideo checks that a request is refused if no video arrives, and does not count against the limits of clips.
func TestNoVideo(t *testing.T) {
	t.Parallel()
	m := &maker{}
	s, _, _, _ := setup(t, m)
	make := func() error {
		_, err := s.make(t, "ann", "mara_k")
		return err
	}
	for range 3 {
		if err := make(); !errors.Is(err, clip.ErrNotLive) || !strings.Contains(err.Error(), "no video") {
			t.Error(err)
		}
	}
	m.live = true
	if err := make(); err != nil {
		t.Error(err)
	}
	err := make()
	if f := apperr.Of(err); !errors.Is(err, clip.ErrCooldown) || f.Extra["limit"] != 1 || f.Extra["retryAfterMs"] != int64(120000) {
		t.Errorf("%v %v", err, f.Extra)
	}
}

// TestOtherServers checks that a clip of a playlist at another server is fetched from there, also if no video arrives at the origin,
// and that it is refused if the installation stores no video.
func TestOtherServers(t *testing.T) {
	t.Parallel()
	m := &maker{}
	s, store, _, _ := setup(t, m)
	s.url = "https://v.example/x.m3u8"
	ask(t, s, "ann", "mara_k")
	work(t, s, 1)
	if n := ready(t, store); n != 1 || fmt.Sprint(m.fetched) != "[https://v.example/x.m3u8]" {
		t.Errorf("%d are ready, fetched %v", n, m.fetched)
	}
	none, _, _, _ := setup(t, nil, func(d *clip.Deps) { d.Video = false })
	none.url = s.url
	if _, err := none.make(t, "ann", "mara_k"); !errors.Is(err, clip.ErrNoStorage) {
		t.Errorf("without storage: %v", err)
	}
}

// host is a fake video host. A clip is ready after a number of questions.
type host struct {
	asked, wait int
	source      clip.Source
	err         error
}

func (h *host) Name() string { return "livepeer" }

func (h *host) Clip(_ context.Context, s clip.Source, _ time.Time, _ time.Duration) (string, error) {
	h.asked++
	h.source = s
	return fmt.Sprintf("asset-%d", h.asked), h.err
}

func (h *host) Clipped(_ context.Context, id string) (clip.Video, error) {
	if h.wait--; h.wait >= 0 {
		return clip.Video{}, clip.ErrUnfinished
	}
	return clip.Video{URL: "https://host.example/" + id + ".m3u8", Length: clip.Length}, h.err
}

// Provision implements ingest.Provider.
func (h *host) Provision(context.Context, ingest.Want) (ingest.Offer, error) {
	return ingest.Offer{Key: "k", RemoteID: "stream-1", HLSURL: "https://host.example/live.m3u8"}, nil
}

func (h *host) Withdraw(context.Context, string) error { return nil }

func (h *host) Playback(s ingest.Stream) string { return s.HLSURL }

// TestVideoHost checks that a clip of a stream at the video host is requested there once, that waiting for it does not count as an
// attempt, and that it fails if the host does not finish it.
func TestVideoHost(t *testing.T) {
	t.Parallel()
	h := &host{wait: 5}
	var streams *ingest.Service
	s, store, clock, said := setup(t, nil, func(d *clip.Deps) {
		d.Video, d.Host = false, h
		d.Ingest = ingest.NewService(h, d.Store.(*postgres.Store), uuid.NewString, d.Now)
		streams = d.Ingest
	})
	if err := store.OnAir().Decide(t.Context(), "mara_k", livestream.Approved, clock.Now()); err != nil {
		t.Fatal(err)
	}
	if _, _, err := streams.Provision(t.Context(), "mara_k", "", ingest.Standard); err != nil {
		t.Fatal(err)
	}
	s.url = "https://host.example/live.m3u8"
	ask(t, s, "ann", "mara_k")
	for range 6 {
		work(t, s, 1)
		work(t, s, 0)
		if n := ready(t, store); n != 0 {
			t.Errorf("%d are ready before the host has finished the clip", n)
		}
		clock.Advance(5 * time.Second)
	}
	work(t, s, 1)
	list, err := store.Clips(t.Context(), "7", 50)
	if err != nil || len(list) != 1 || list[0].URL != "https://host.example/asset-1.m3u8" || h.asked != 1 || len(*said) != 0 ||
		h.source != (clip.Source{Kind: "livepeer", URL: s.url, RemoteID: "stream-1"}) {
		t.Errorf("%+v %v, asked %d times for %+v, said %v", list, err, h.asked, h.source, *said)
	}
	h.wait = 1 << 30
	clock.Advance(2 * time.Minute)
	ask(t, s, "bob", "mara_k")
	for range 130 {
		if _, err := s.Work(t.Context(), "livepeer"); err != nil {
			t.Fatal(err)
		}
		clock.Advance(5 * time.Second)
	}
	if n := ready(t, store); n != 1 || len(*said) != 1 || h.asked != 2 {
		t.Errorf("after 10 minutes: %d are ready, failures %v, %d requests", n, *said, h.asked)
	}
	// The same operator with another stream: this installation cannot store it.
	s.url = "https://elsewhere.example/live.m3u8"
	if _, err := s.make(t, "eve", "mara_k"); !errors.Is(err, clip.ErrNoStorage) {
		t.Error(err)
	}
}

// TestRun checks that a new request is processed at once and not after the next interval, and that old clips are trimmed.
func TestRun(t *testing.T) {
	t.Parallel()
	m := &maker{live: true}
	s, store, _, _ := setup(t, m)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- s.Run(ctx) }()
	ask(t, s, "ann", "mara_k")
	testkit.Eventually(t, 10*time.Second, func() bool {
		m.mu.Lock()
		defer m.mu.Unlock()
		return m.cut == 1 && m.trimmed > 0
	})
	testkit.Eventually(t, 10*time.Second, func() bool { return ready(t, store) == 1 })
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	none, _, _, _ := setup(t, nil)
	ended, stop := context.WithCancel(t.Context())
	stop()
	if err := none.Run(ended); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
