package postgres_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/hub/internal/stream"
)

func binding(id protocol.MarketID, handle protocol.Handle, minutes int) stream.Stream {
	return stream.Stream{
		MarketID: id, Handle: handle, URL: fmt.Sprintf("https://video-a.example/%s/%d.m3u8", handle, minutes), Label: "night desk",
		UpdatedAt: noon.Add(time.Duration(minutes) * time.Minute),
	}
}

func TestStreams(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	for _, s := range []stream.Stream{
		binding("7", "mara_k", 1), binding("7", "tidewatch", 2), binding("7", "otto", 2), binding("8", "mara_k", 3), binding("7", "mara_k", 5),
	} {
		if err := store.Bind(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	list, err := store.Streams(t.Context(), "7")
	var got []string
	for _, s := range list {
		got = append(got, fmt.Sprint(s.Handle, " ", s.URL, " ", s.Label, " ", s.UpdatedAt.Sub(noon), " ", s.MarketID))
	}
	want := `mara_k https://video-a.example/mara_k/5.m3u8 night desk 5m0s 7
otto https://video-a.example/otto/2.m3u8 night desk 2m0s 7
tidewatch https://video-a.example/tidewatch/2.m3u8 night desk 2m0s 7`
	if err != nil || strings.Join(got, "\n") != want {
		t.Errorf("%v\n%s", err, strings.Join(got, "\n"))
	}
	for i, want := range []bool{true, false} {
		if removed, err := store.Unbind(t.Context(), "7", "mara_k", time.Now()); err != nil || removed != want {
			t.Errorf("removal %d: %v %v", i, removed, err)
		}
	}
	if list, err := store.Streams(t.Context(), "8"); err != nil || len(list) != 1 {
		t.Errorf("the other market: %v %v", list, err)
	}
	for _, bad := range []stream.Stream{
		{MarketID: "7", Handle: "MARA", URL: "https://v.example/x.m3u8"},
		{MarketID: "7", Handle: "mara_k", URL: "http://v.example/x.m3u8"},
		{MarketID: "", Handle: "mara_k", URL: "https://v.example/x.m3u8"},
		{MarketID: "7", Handle: "mara_k", URL: "https://" + strings.Repeat("x", 500)},
	} {
		if err := store.Bind(t.Context(), bad); err == nil {
			t.Errorf("stored: %+v", bad)
		}
	}
}

// TestOneBinding checks that concurrent requests to bind a stream leave one stream for a market and an operator.
func TestOneBinding(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			if err := store.Bind(t.Context(), binding("7", "mara_k", i)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if list, err := store.Streams(t.Context(), "7"); err != nil || len(list) != 1 {
		t.Errorf("%d streams, %v", len(list), err)
	}
}

func TestListsAreBounded(t *testing.T) {
	t.Parallel()
	store, db := open(t)
	owner := testkit.Pool(t, db.Admin)
	_, err := owner.Exec(t.Context(), `INSERT INTO hub.streams (market_id, handle, url, label, updated_at)
		SELECT '7', 'op' || n, 'https://v.example/x.m3u8', '', timestamptz '2026-09-18T12:00:00Z' + n * interval '1 s' FROM generate_series(1, 150) n`)
	if err != nil {
		t.Fatal(err)
	}
	list, err := store.Streams(t.Context(), "7")
	if err != nil || len(list) != stream.MaxStreams || list[0].Handle != "op150" || list[99].Handle != "op51" {
		t.Errorf("%d streams, %v", len(list), err)
	}
}

func TestClips(t *testing.T) {
	t.Parallel()
	store, db := open(t)
	owner := testkit.Pool(t, db.Admin)
	for i, status := range []string{"ready", "ready", "processing", "failed", "ready", "ready"} {
		if _, err := owner.Exec(t.Context(), clip(i+1, status)); err != nil {
			t.Fatal(err)
		}
	}
	list, err := store.Clips(t.Context(), "7", 3)
	var got []string
	for _, c := range list {
		got = append(got, c.ID[len(c.ID)-1:]+" "+c.Status)
	}
	if strings.Join(got, ", ") != "6 ready, 5 ready, 2 ready" || err != nil {
		t.Errorf("%v, %v", got, err)
	}
	if c := list[0]; c.MarketID != "7" || c.Handle != "mara_k" || c.CreatedBy != "tidewatch" || c.ThumbnailURL != nil || c.Duration != nil || c.Stance != nil || c.ReadyAt.IsZero() {
		t.Errorf("%+v", c)
	}
	if list, err := store.Clips(t.Context(), "8", 3); err != nil || len(list) != 0 {
		t.Errorf("another market: %v %v", list, err)
	}
	for _, sql := range []string{
		strings.Replace(clip(9, "ready"), "'https://v.example/1.m3u8'", "NULL", 1), strings.Replace(clip(9, "ready"), "now()", "NULL", 1),
		clip(9, "done"), clip(1, "ready"),
	} {
		if _, err := owner.Exec(t.Context(), sql); err == nil {
			t.Errorf("stored: %s", sql)
		}
	}
}
