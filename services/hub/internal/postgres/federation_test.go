package postgres

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/hub/internal/federation"
	"github.com/signalcast/signalcast/services/hub/internal/identityclaim"
	"github.com/signalcast/signalcast/services/hub/internal/livestream"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// TestPartnerCopies checks that the newest stored list of each partner is shown until it expires, and that the lists of former
// partners are deleted.
func TestPartnerCopies(t *testing.T) {
	t.Parallel()
	db := testkit.Postgres(t, Schema(""))
	s, ctx := New(testkit.Pool(t, db.URL("hub_rw")), testkit.ReadTime), t.Context()
	noon := time.Date(2026, 9, 18, 12, 0, 0, 0, time.UTC)
	n, stance := int64(30), "YES"
	tape := federation.Tape{
		ID: "t1", Origin: "river", OriginURL: "https://river.example", Handle: "otto", URL: "https://v.example/a.m3u8", MarketID: "701122",
		Href: "https://river.example/u/otto", DurationS: &n, Views: 4, Stance: &stance, CreatedAt: noon, Boosted: true,
	}
	op := federation.Operator{Origin: "tide", OriginURL: "https://tide.example", Handle: "otto", DisplayName: "Otto \"O\" <b>", Score: -3, AvgClv: &n, Tier: "independent", OperatorType: "human"}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(s.ReplaceTapes(ctx, "river", []federation.Tape{tape, tape}, noon))
	must(s.ReplaceTapes(ctx, "river", []federation.Tape{tape}, noon.Add(time.Minute)))
	must(s.ReplaceTapes(ctx, "river", nil, noon)) // an older read that arrives later
	must(s.ReplaceTapes(ctx, "tide", nil, noon.Add(time.Minute)))
	must(s.ReplaceOperators(ctx, "tide", []federation.Operator{op}, noon))
	tapes, err := s.CopiedTapes(ctx, noon)
	if diff := cmp.Diff([]federation.Tape{tape}, tapes); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
	ops, err := s.CopiedOperators(ctx, noon)
	if diff := cmp.Diff([]federation.Operator{op}, ops); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
	if ops, err := s.CopiedOperators(ctx, noon.Add(time.Second)); len(ops) != 0 || err != nil {
		t.Errorf("an old copy: %v %v", ops, err)
	}
	heard, err := s.LastReads(ctx)
	if err != nil || len(heard) != 2 || !heard["river"].Equal(noon.Add(time.Minute)) || !heard["tide"].Equal(noon.Add(time.Minute)) {
		t.Errorf("times of the last reads: %v %v", heard, err)
	}
	must(s.DeleteOthers(ctx, []string{"tide", "other"}))
	if tapes, err := s.CopiedTapes(ctx, noon); len(tapes) != 0 || err != nil {
		t.Errorf("tapes of a former partner: %v %v", tapes, err)
	}
	must(s.DeleteOthers(ctx, nil))
	if ops, err := s.CopiedOperators(ctx, noon); len(ops) != 0 || err != nil {
		t.Errorf("without partners: %v %v", ops, err)
	}
}

// TestTapesAndViews checks that ready clips are listed as tapes, and that views are counted by station and tape id.
func TestTapesAndViews(t *testing.T) {
	t.Parallel()
	db := testkit.Postgres(t, Schema(""))
	s, ctx, admin := New(testkit.Pool(t, db.URL("hub_rw")), testkit.ReadTime), t.Context(), testkit.Pool(t, db.Admin)
	noon := time.Date(2026, 9, 18, 12, 0, 0, 0, time.UTC)
	for i, c := range []struct {
		status  string
		boosted bool
	}{{"ready", false}, {"ready", true}, {"processing", true}, {"ready", false}} {
		if _, err := admin.Exec(ctx, `INSERT INTO hub.clips (id, handle, market_id, url, status, boosted, views, created_by, created_at, ready_at)
			VALUES ($1, 'mara_k', $2, 'https://v.example/a.m3u8', $3, $4, 7, 'mara_k', $5, $5)`, uuid.NewString(), fmt.Sprint(i+1), c.status, c.boosted, noon.Add(time.Duration(i)*time.Minute)); err != nil {
			t.Fatal(err)
		}
	}
	list, err := s.LocalTapes(ctx, 10)
	if err != nil || len(list) != 3 || list[0].MarketID+list[1].MarketID+list[2].MarketID != "241" || list[0].Views != 7 || list[0].DurationS != nil {
		t.Fatalf("%v %+v", err, list)
	}
	for id, want := range map[string]bool{list[2].ID: true, uuid.NewString(): false} {
		if found, err := s.BoostClip(ctx, id, true); found != want || err != nil {
			t.Errorf("BoostClip of %s: %v, %v; want %v", id, found, err, want)
		}
	}
	if boosted, err := s.LocalTapes(ctx, 10); err != nil || boosted[1].ID != list[2].ID || !boosted[1].Boosted {
		t.Errorf("tapes after BoostClip: %+v, %v; want the boosted clip second", boosted, err)
	}
	list[0].Origin, list[1].Origin = "hub", "hub"
	for range 3 {
		if err := s.AddView(ctx, "hub", list[0].ID); err != nil {
			t.Fatal(err)
		}
	}
	foreign := list[0]
	foreign.Origin = "river"
	if views, err := s.Views(ctx, []federation.Tape{list[1], list[0], foreign}); err != nil || fmt.Sprint(views) != "[0 3 0]" {
		t.Errorf("%v %v", views, err)
	}
	mara := operator.ID(uuid.NewString())
	for i, station := range []string{"river", "tide"} {
		if err := s.StoreClaim(ctx, mara, identityclaim.Claim{Station: station, Identity: fmt.Sprintf("0x%040d", i+1), VerifiedAt: noon}); err != nil {
			t.Fatal(err)
		}
	}
	one, two := federation.Proof{Station: "river", Identity: fmt.Sprintf("0x%040d", 1)}, federation.Proof{Station: "tide", Identity: fmt.Sprintf("0x%040d", 2)}
	crossed := federation.Proof{Station: "river", Identity: two.Identity}
	owners, err := s.Owners(ctx, []federation.Proof{one, two, crossed, one})
	if diff := cmp.Diff(map[federation.Proof]operator.ID{one: mara, two: mara}, owners); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
}

// TestTapesOfWithheldOperators checks that clips of suspended operators and of hidden profiles are not listed as tapes, not
// counted and not served. Only approved operators must be public.
func TestTapesOfWithheldOperators(t *testing.T) {
	t.Parallel()
	db := testkit.Postgres(t, Schema(""))
	s, ctx := New(testkit.Pool(t, db.URL("hub_rw")), testkit.ReadTime), t.Context()
	id := uuid.NewString()
	_, err := testkit.Pool(t, db.Admin).Exec(ctx, `INSERT INTO hub.clips (id, handle, market_id, url, duration_s, status, created_by, created_at, ready_at)
		VALUES ($1, 'mara_k', '7', 'https://video.example/c.m3u8', 30, 'ready', 'otto', now(), now())`, id)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		status   livestream.Status
		hidden   bool
		approved bool
		tapes    int
	}{{livestream.Pending, false, false, 1}, {livestream.Approved, false, true, 1}, {livestream.Suspended, false, false, 0}, {livestream.Approved, true, false, 0}} {
		if err := s.OnAir().Hide(ctx, "mara_k", c.hidden, "", time.Now()); err != nil {
			t.Fatal(err)
		}
		if err := s.OnAir().Decide(ctx, "mara_k", c.status, time.Now()); err != nil {
			t.Fatal(err)
		}
		list, err := s.LocalTapes(ctx, 10)
		if err != nil || len(list) != c.tapes || len(list) > 0 && list[0].Approved != c.approved {
			t.Errorf("%s: %+v, %v", c.status, list, err)
		}
		if unreported, err := s.UnreportedTapes(ctx, time.Time{}, 10); err != nil || (len(unreported) == 1) != (c.tapes == 1) {
			t.Errorf("%s: unreported %v, %v", c.status, unreported, err)
		}
		counts, err := s.CountTapes(ctx, []protocol.MarketID{"7"})
		if err != nil || counts["7"] != int64(c.tapes) {
			t.Errorf("%s: counts %v, %v", c.status, counts, err)
		}
		withheld, err := s.OnAir().Withheld(ctx)
		if err != nil || withheld[id] != (c.tapes == 0) || withheld["mara_k"] != (c.tapes == 0) {
			t.Errorf("%s: withheld %v, %v", c.status, withheld, err)
		}
		aired, err := s.Aired(ctx, []string{"mara_k", "otto"})
		if err != nil || aired["mara_k"] != c.approved || aired["otto"] {
			t.Errorf("%s: aired %v, %v", c.status, aired, err)
		}
	}
}
