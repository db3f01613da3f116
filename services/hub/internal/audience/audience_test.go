package audience_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/hub/internal/audience"
	"github.com/signalcast/signalcast/services/hub/internal/onair"
)

func TestMain(m *testing.M) { testkit.Main(m) }

var noon = time.Date(2026, 9, 18, 12, 0, 0, 0, time.UTC)

// Many at once are each counted once, an address is twenty at most, and who does not ask
// again is gone after 45 seconds.
func TestAudience(t *testing.T) {
	t.Parallel()
	a := audience.New(testkit.KV(t, testkit.Redis(t)))
	see := func(handle syntax.Handle, viewer, address string, at time.Time) int64 {
		t.Helper()
		n, err := a.See(t.Context(), handle, viewer, address, at)
		if err != nil {
			t.Error(err)
		}
		return n
	}
	var group sync.WaitGroup
	for i := range 60 {
		group.Go(func() { see("mara_k", fmt.Sprint("v", i%30), fmt.Sprint("a", i%2), noon) })
	}
	group.Wait()
	// Fifteen at each of two addresses; the others of an address find it full.
	for i := range 10 {
		see("mara_k", fmt.Sprint("w", i), "a0", noon)
	}
	see("tidewatch", "v0", "a0", noon)
	count := func(at time.Time, handles ...syntax.Handle) []int64 {
		t.Helper()
		out, err := a.Count(t.Context(), handles, at)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	if got := count(noon, "mara_k", "nobody", "tidewatch"); !slices.Equal(got, []int64{35, 0, 1}) {
		t.Errorf("counted %v", got)
	}
	if n := see("mara_k", "v1", "a1", noon.Add(44*time.Second)); n != 35 {
		t.Errorf("%d after 44 seconds", n)
	}
	if got := count(noon.Add(45*time.Second), "mara_k", "tidewatch"); !slices.Equal(got, []int64{1, 0}) {
		t.Errorf("counted %v after 45 seconds", got)
	}
	if n := see("mara_k", "late", "a0", noon.Add(45*time.Second)); n != 2 {
		t.Errorf("%d with a newcomer", n)
	}
	// An older word takes nobody's time back.
	see("mara_k", "late", "a0", noon.Add(10*time.Second))
	if got := count(noon.Add(80*time.Second), "mara_k"); !slices.Equal(got, []int64{2}) {
		t.Errorf("counted %v after 80 seconds", got)
	}
}

// shows is a store in which one operator is live.
type shows struct{ onair.Store }

func (shows) Live(context.Context, time.Time) ([]onair.Show, error) {
	return []onair.Show{{ShowID: "x", Handle: "mara_k", HLSURL: "https://v.example/x.m3u8", Viewers: 9}}, nil
}

// Without Redis nobody watches, nothing fails, and there is no sample.
func TestAudienceAway(t *testing.T) {
	t.Parallel()
	server := testkit.RedisServer(t)
	a := audience.New(testkit.KV(t, server.URL()))
	s := onair.NewService(onair.Config{Store: shows{}, Audience: a, Now: time.Now, NewID: func() string { return "x" }})
	if n, err := s.View(t.Context(), "mara_k", "v", "a"); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	testkit.Kill(t, server.PID())
	<-server.Done()
	if n, err := s.View(t.Context(), "mara_k", "v", "a"); n != 0 || err != nil {
		t.Error(n, err)
	}
	if n := s.Viewers(t.Context(), "mara_k"); n != 0 {
		t.Error(n)
	}
	list, err := s.Live(t.Context())
	if err != nil || len(list) != 1 || list[0].Viewers != 0 {
		t.Error(list, err)
	}
	if err := onair.NewSampler(s, nil).Round(t.Context()); err != nil { // it would panic, had it a sample to keep
		t.Error(err)
	}
}
