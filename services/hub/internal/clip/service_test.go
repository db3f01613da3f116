package clip_test

import (
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
}

func (m *maker) Ready() bool { return true }

func (m *maker) Live(string) bool { return m.live }

func (m *maker) Cut(_ context.Context, id, _ string, _ time.Time, length time.Duration) (clip.Video, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.cut++
	return clip.Video{URL: "https://video.example/clips/" + id + "/index.m3u8", Length: length}, m.err
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
}

func setup(t *testing.T, m clip.Maker) (*bench, *postgres.Store, *testkit.Clock, *[]string) {
	t.Helper()
	store := postgres.New(testkit.Pool(t, testkit.Postgres(t, postgres.Schema("")).URL("hub_rw")), testkit.ReadTime)
	clock := testkit.NewClock(time.Date(2026, 9, 18, 12, 0, 0, 0, time.UTC))
	var said []string
	air := livestream.NewService(livestream.Config{Store: store.OnAir(), Now: clock.Now, NewID: uuid.NewString})
	return &bench{air: air, Service: clip.NewService(clip.Deps{
		Air: air, Directory: operator.Directory{Ledger: town{}}, Signals: town{}, Store: store, Maker: m, Video: true, Now: clock.Now,
		NewID: uuid.NewString, Failed: func(_ string, err error) { said = append(said, err.Error()) },
	})}, store, clock, &said
}

// make makes the operator of go live and requests a clip of its stream.
func (b *bench) make(t *testing.T, by, of protocol.Handle) (stream.Clip, error) {
	t.Helper()
	if _, err := b.air.GoLive(t.Context(), livestream.GoLive{Handle: of, MarketID: "7", URL: "https://v.example/x.m3u8"}); err != nil {
		t.Fatal(err)
	}
	return b.Make(t.Context(), clip.Request{By: operator.Operator{Handle: by}, Handle: of})
}

// work processes the waiting clips and checks that want clips were processed.
func work(t *testing.T, s *bench, want int) {
	t.Helper()
	if n, err := s.Work(t.Context()); err != nil || n != want {
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
