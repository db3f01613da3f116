package ingest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/hub/internal/ingest"
	"github.com/signalcast/signalcast/services/hub/internal/livestream"
	"github.com/signalcast/signalcast/services/hub/internal/postgres"
)

func TestMain(m *testing.M) { testkit.Main(m) }

var noon = time.Date(2026, 9, 18, 12, 0, 0, 0, time.UTC)

func setup(t *testing.T, p ingest.Provider) (*ingest.Service, *postgres.Store, *pgxpool.Pool) {
	t.Helper()
	db := testkit.Postgres(t, postgres.Schema(""))
	store := postgres.New(testkit.Pool(t, db.URL("hub_rw")), testkit.ReadTime)
	for _, handle := range []protocol.Handle{"mara_k", "tidewatch"} {
		if err := store.OnAir().Decide(t.Context(), handle, livestream.Approved, noon); err != nil {
			t.Fatal(err)
		}
	}
	newID := func() string { return uuid.Must(uuid.NewV7()).String() }
	return ingest.NewService(p, store, newID, func() time.Time { return noon }), store, testkit.Pool(t, db.Admin)
}

func own() ingest.Origin {
	return ingest.Origin{Base: func() string { return "https://video.example" }}
}

func code(err error) string {
	if err == nil {
		return ""
	}
	return apperr.Of(err).Code
}

func TestProvision(t *testing.T) {
	t.Parallel()
	s, store, db := setup(t, own())
	if _, _, err := s.Provision(t.Context(), "otto", "", ingest.Standard); !errors.Is(err, ingest.ErrNotApproved) {
		t.Errorf("an operator who is not approved: %v", err)
	}
	if url, err := s.Playback(t.Context(), "mara_k"); url != "" || err != nil {
		t.Error(url, err)
	}
	first, a, err := s.Provision(t.Context(), "mara_k", "night desk", ingest.Low)
	if err != nil || a.Protocol != "hls" || a.URL != "https://video.example/live/mara_k/index.m3u8" || a.HLSURL != a.URL || !ingest.IsKey(a.Key) ||
		a.PushURL != "https://video.example/ingest/"+a.Key+"/mara_k/index.m3u8" || first.Label != "night desk" || first.Latency != ingest.Low || !first.CreatedAt.Equal(noon) {
		t.Fatalf("%+v %+v %v", first, a, err)
	}
	if url, err := s.Playback(t.Context(), "mara_k"); url != a.URL || err != nil {
		t.Error(url, err)
	}
	admit := func(handle protocol.Handle, key, want string) {
		t.Helper()
		if got := code(s.Admit(t.Context(), handle, key)); got != want {
			t.Errorf("%s: %q, want %q", handle, got, want)
		}
	}
	admit("mara_k", a.Key, "")
	admit("tidewatch", a.Key, "unauthenticated")
	admit("mara_k", a.Key+"x", "unauthenticated")
	admit("mara_k", "", "unauthenticated")
	second, b, err := s.Provision(t.Context(), "mara_k", "", ingest.Standard)
	if err != nil || second.ID != first.ID || b.Key == a.Key || second.Label != "" || !second.CreatedAt.Equal(first.CreatedAt) {
		t.Fatalf("%+v %+v %v", second, b, err)
	}
	admit("mara_k", a.Key, "unauthenticated") // at once
	admit("mara_k", b.Key, "")
	if err := store.OnAir().Decide(t.Context(), "mara_k", livestream.Suspended, noon); err != nil {
		t.Fatal(err)
	}
	admit("mara_k", b.Key, "not_approved") // at once
	var kept string
	if err := db.QueryRow(t.Context(), `SELECT string_agg(s::text, ' ') FROM hub.ingest_streams s`).Scan(&kept); err != nil || strings.Contains(kept, b.Key) || strings.Contains(kept, a.Key) || !strings.Contains(kept, "mara_k") {
		t.Errorf("a key is stored: %s %v", kept, err)
	}
}

func TestRTMPAndNone(t *testing.T) {
	t.Parallel()
	s, _, _ := setup(t, ingest.RTMP{Origin: own(), URL: "rtmps://ingest.example/live"})
	_, o, err := s.Provision(t.Context(), "mara_k", "", ingest.Standard)
	key, ok := strings.CutPrefix(o.Key, "mara_k?key=")
	if err != nil || o.Protocol != "rtmps" || o.URL != "rtmps://ingest.example/live" || !ok || !ingest.IsKey(key) || o.PushURL != o.URL+"/"+o.Key || o.HLSURL != "https://video.example/live/mara_k/index.m3u8" {
		t.Fatalf("%+v %v", o, err)
	}
	if err := s.Admit(t.Context(), "mara_k", key); err != nil {
		t.Error(err)
	}
	for _, p := range []ingest.Provider{ingest.None{}, ingest.Origin{Base: func() string { return "" }}} {
		s, _, _ := setup(t, p)
		if _, _, err := s.Provision(t.Context(), "mara_k", "", ingest.Standard); code(err) != "ingest_unavailable" {
			t.Error(err)
		}
	}
}

// TestProvisionRace checks that of concurrent requests to provision a stream exactly one returns a valid key.
func TestProvisionRace(t *testing.T) {
	t.Parallel()
	s, _, _ := setup(t, own())
	keys := make([]string, 20)
	var all sync.WaitGroup
	for i := range keys {
		all.Go(func() {
			for {
				_, o, err := s.Provision(t.Context(), "mara_k", fmt.Sprint(i), ingest.Standard)
				if code(err) == "ingest_unavailable" {
					continue // concurrent requests succeeded three times
				}
				if err != nil {
					t.Error(err)
				}
				keys[i] = o.Key
				return
			}
		})
	}
	all.Wait()
	good := 0
	for _, k := range keys {
		if s.Admit(t.Context(), "mara_k", k) == nil {
			good++
		}
	}
	if good != 1 {
		t.Errorf("%d keys are valid", good)
	}
}

// videoHost is a video host that creates a new stream at each Provision, like Livepeer.
type videoHost struct {
	fail  bool
	asked []string
}

func (h *videoHost) Name() string { return "livepeer" }

func (h *videoHost) Provision(_ context.Context, w ingest.Want) (ingest.Offer, error) {
	if h.fail {
		return ingest.Offer{}, ingest.ErrUnavailable
	}
	id := fmt.Sprintf("stream-%d", len(h.asked)+1)
	h.asked = append(h.asked, "create "+id)
	return ingest.Offer{Key: "key of " + id, RemoteID: id, HLSURL: "https://host.example/" + id}, nil
}

func (h *videoHost) Withdraw(_ context.Context, id string) error {
	h.asked = append(h.asked, "delete "+id)
	return nil
}

func (h *videoHost) Playback(s ingest.Stream) string { return s.HLSURL }

// TestReplacedStreamIsDeletedLast checks that the previous stream at a video host is deleted after the new one is stored, and that it
// stays if the host cannot create a new one.
func TestReplacedStreamIsDeletedLast(t *testing.T) {
	t.Parallel()
	h := &videoHost{}
	s, _, _ := setup(t, h)
	for range 2 {
		if _, _, err := s.Provision(t.Context(), "mara_k", "", ingest.Standard); err != nil {
			t.Fatal(err)
		}
	}
	h.fail = true
	if _, _, err := s.Provision(t.Context(), "mara_k", "", ingest.Standard); code(err) != "ingest_unavailable" {
		t.Errorf("stream of a host that does not answer: %v", err)
	}
	if got, want := strings.Join(h.asked, ", "), "create stream-1, create stream-2, delete stream-1"; got != want {
		t.Errorf("requests to the host: %s; want %s", got, want)
	}
	if url, err := s.Playback(t.Context(), "mara_k"); err != nil || url != "https://host.example/stream-2" {
		t.Errorf("playback after the failure: %q, %v; want stream-2", url, err)
	}
}
