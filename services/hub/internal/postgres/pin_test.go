package postgres_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/hub/internal/market"
	"github.com/signalcast/signalcast/services/hub/internal/postgres"
)

var noon = time.Date(2026, 9, 18, 12, 0, 0, 0, time.UTC)

func open(t *testing.T) (*postgres.Store, testkit.Database) {
	t.Helper()
	db := testkit.Postgres(t, postgres.Schema(""))
	return postgres.New(testkit.Pool(t, db.URL("hub_rw")), testkit.ReadTime), db
}

func TestPins(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	label, tagline := "Mill <race>", strings.Repeat("ž", market.MaxPinText)
	for i, p := range []market.Pin{
		{MarketID: "1", Position: 100}, {MarketID: "2", Position: 5}, {MarketID: "3", Position: 5}, {MarketID: "4", Position: 1, Label: &label},
	} {
		p.CreatedAt = noon.Add(time.Duration(i) * time.Minute)
		if kept, err := store.Pin(t.Context(), p); err != nil || !kept.CreatedAt.Equal(p.CreatedAt) {
			t.Fatal(kept, err)
		}
	}
	order := func(limit int) string {
		t.Helper()
		pins, err := store.Pins(t.Context(), limit)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, p := range pins {
			ids = append(ids, string(p.MarketID))
		}
		return strings.Join(ids, " ")
	}
	if got := order(10); got != "4 2 3 1" {
		t.Errorf("order %s", got)
	}
	if got := order(2); got != "4 2" {
		t.Errorf("first two %s", got)
	}
	// Another pin of the same market replaces all but the time of creation.
	again, err := store.Pin(t.Context(), market.Pin{MarketID: "4", Position: 5, Tagline: &tagline, CreatedAt: noon.Add(time.Hour)})
	if err != nil || !again.CreatedAt.Equal(noon.Add(3*time.Minute)) {
		t.Errorf("%+v, %v", again, err)
	}
	pins, err := store.Pins(t.Context(), 10)
	if err != nil || order(10) != "2 3 4 1" || pins[2].Label != nil || *pins[2].Tagline != tagline || !pins[2].CreatedAt.Equal(again.CreatedAt) {
		t.Errorf("%+v, %v", pins, err)
	}
	for i, want := range []bool{true, false} {
		if removed, err := store.Unpin(t.Context(), "4"); err != nil || removed != want {
			t.Errorf("removal %d: %v %v", i, removed, err)
		}
	}
	if got := order(10); got != "2 3 1" {
		t.Errorf("order %s", got)
	}
}

// TestInvalidPins checks that the table refuses invalid pins.
func TestInvalidPins(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	long, empty := strings.Repeat("x", market.MaxPinText+1), ""
	for _, p := range []market.Pin{
		{MarketID: "native-0000000001", Position: 1},
		{MarketID: "0", Position: 1},
		{MarketID: "", Position: 1},
		{MarketID: "7"},
		{MarketID: "7", Position: market.MaxPosition + 1},
		{MarketID: "7", Position: 1, Label: &long},
		{MarketID: "7", Position: 1, Tagline: &empty},
		{MarketID: protocol.MarketID(strings.Repeat("1", 21)), Position: 1},
	} {
		if _, err := store.Pin(t.Context(), p); err == nil {
			t.Errorf("stored: %+v", p)
		}
	}
}

// TestWriterRights checks that the role hub_rw cannot delete clips or change tables.
func TestWriterRights(t *testing.T) {
	t.Parallel()
	_, db := open(t)
	for _, sql := range []string{
		"DELETE FROM clips", "DELETE FROM ingest_streams", "TRUNCATE pins", "TRUNCATE streams", "ALTER TABLE streams ADD COLUMN x int", "DROP TABLE pins",
	} {
		refused(t, db.URL("hub_rw"), sql)
	}
}

func clip(n int, status string) string {
	return fmt.Sprintf(`INSERT INTO hub.clips (id, handle, market_id, url, status, created_by, created_at, ready_at)
		VALUES ('0199f0c0-0000-7000-8000-%012d', 'mara_k', '7', 'https://v.example/1.m3u8', '%s', 'tidewatch', timestamptz '2026-09-18T12:00:00Z' + %d * interval '1 s', now())`, n, status, n/2)
}
