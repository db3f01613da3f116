package grpcapi_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/testkit"
	cataloguev1 "github.com/signalcast/signalcast/proto/catalogue/v1"
	digestv1 "github.com/signalcast/signalcast/proto/digest/v1"
	feedv1 "github.com/signalcast/signalcast/proto/feed/v1"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	resolutionv1 "github.com/signalcast/signalcast/proto/resolution/v1"
	wirev1 "github.com/signalcast/signalcast/proto/wire/v1"
	"github.com/signalcast/signalcast/services/api/internal/attention"
	"github.com/signalcast/signalcast/services/api/internal/grpcapi"
	"github.com/signalcast/signalcast/services/api/internal/history"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/postgres"
	"github.com/signalcast/signalcast/services/api/internal/resolution"
	"github.com/signalcast/signalcast/services/api/internal/search"
)

func TestMain(m *testing.M) { testkit.Main(m) }

var noon = time.Date(2026, 10, 10, 12, 0, 0, 0, time.UTC)

func ptr[T any](v T) *T { return &v }

// ledger runs the gRPC services of the api on a database of the test, with a venue that does not answer. conn is a connection
// to them.
type ledger struct {
	t         *testing.T
	store     *postgres.Store
	admin     *pgxpool.Pool
	rw        *pgxpool.Pool
	oracle    *attention.Service
	requested string // token and interval of the last request for a price history
	conn      *grpc.ClientConn
}

// silent is a venue that does not answer.
type silent struct{ market.Venue }

func (silent) Get(context.Context, protocol.MarketID) (market.Record, error) {
	return market.Record{}, errors.New("connection refused")
}

// Book implements history.Markets. Together with Snapshots and History, it provides a price history for every token.
func (l *ledger) Book(context.Context, protocol.MarketID) (history.Book, error) {
	return history.Book{Provider: protocol.Polymarket, TokenID: "77"}, nil
}

func (l *ledger) Snapshots(context.Context, protocol.MarketID, time.Time) ([]history.Point, error) {
	return nil, nil
}

func (l *ledger) History(_ context.Context, b history.Book, i protocol.Interval) ([]history.Point, error) {
	l.requested = b.TokenID + " " + string(i)
	return []history.Point{{T: 5, P: 0.1234}}, nil
}

func setup(t *testing.T) *ledger {
	t.Helper()
	db := testkit.Postgres(t, pg.Schema{Name: "api", Files: postgres.Migrations()})
	l := &ledger{t: t, admin: testkit.Pool(t, db.Admin), rw: testkit.Pool(t, db.URL("api_rw"))}
	now := func() time.Time { return noon }
	l.store = postgres.New(l.rw, postgres.Rules{ResolveChunk: 1000, ReadBudget: 20 * time.Second}, now)
	t.Cleanup(l.store.Close)
	classify := market.Classify{
		Lane:     func(string, []string) protocol.Lane { return protocol.LaneOther },
		Category: func(protocol.Lane, string, []string) string { return "" },
	}
	markets := market.NewService(l.store, market.Venues{protocol.Polymarket: silent{}}, classify, true, now)
	t.Cleanup(markets.Close)
	l.oracle = attention.NewService(l.store, now)
	histories := history.NewService(l, l, now)
	t.Cleanup(histories.Close)
	resolves := resolution.NewService(l.store, now)
	l.conn = testkit.Link(t, func(r grpc.ServiceRegistrar) {
		server := &grpcapi.Markets{Service: markets, Viewers: func(string) int { return 41 }, Changes: l.oracle.Changes}
		marketv1.RegisterMarketServiceServer(r, server)
		marketv1.RegisterMarketReadServiceServer(r, server)
		cataloguev1.RegisterCatalogueReadServiceServer(r, &grpcapi.Catalogue{
			Search: search.NewService(l.store, now), Oracle: l.oracle, Histories: histories, Markets: markets,
		})
		wirev1.RegisterWireReadServiceServer(r, &grpcapi.Wire{Oracle: l.oracle})
		digestv1.RegisterDigestReadServiceServer(r, &grpcapi.Digests{Store: l.store})
		feedv1.RegisterFeedReadServiceServer(r, &grpcapi.Feed{Store: l.store})
		resolutionv1.RegisterResolutionServiceServer(r, &grpcapi.Resolutions{Service: resolves, Markets: markets})
	})
	return l
}

func (l *ledger) exec(sql string, args ...any) {
	l.t.Helper()
	if _, err := l.admin.Exec(l.t.Context(), sql, args...); err != nil {
		l.t.Fatalf("%s: %v", sql, err)
	}
}

// market stores an open market that ends in two days. Its price was 30 % a day ago and 50 % at noon.
func (l *ledger) market(id, title, event string, volume float64) {
	l.t.Helper()
	l.exec(`INSERT INTO api.markets (market_id, provider, title, status, lane, event_key, event_title, slug, end_date, fetched_at, created_at, updated_at)
		VALUES ($1, $2, $3, 'open', 'SCIENCE', $4, $4, 'slug-' || $1, $5, $6, $6, $6)`,
		id, string(protocol.MarketID(id).Provider()), title, event, noon.Add(48*time.Hour), noon)
	l.exec(`INSERT INTO api.market_quotes (market_id, yes_bps, at, volume, volume_usd, volume24h) VALUES ($1, 5000, $2, $3, $3, $3)`, id, noon, volume)
	l.exec(`INSERT INTO api.market_prices (market_id, at, yes_bps) VALUES ($1, $2, 3000), ($1, $3, 5000), ($1, $4, 5000)`,
		id, noon.Add(-24*time.Hour), noon.Add(-2*time.Hour), noon)
}

func (l *ledger) refresh() {
	l.t.Helper()
	if err := l.oracle.Refresh(l.t.Context()); err != nil {
		l.t.Fatal(err)
	}
}

func ids(list []*marketv1.Market) string {
	out := make([]string, len(list))
	for i, m := range list {
		out[i] = m.GetId()
	}
	return strings.Join(out, " ")
}

func TestMarkets(t *testing.T) {
	t.Parallel()
	l := setup(t)
	l.market("7", "Will the gauge rise?", "", 10)
	l.market("8", "Will the gauge fall?", "", 10)
	reads, writes := marketv1.NewMarketReadServiceClient(l.conn), marketv1.NewMarketServiceClient(l.conn)
	for _, id := range []string{"", "polymarket:7", "../7"} {
		if _, err := reads.GetMarket(t.Context(), &marketv1.GetMarketRequest{Id: id}); !errors.Is(err, market.ErrNotFound) {
			t.Errorf("GetMarket of id %q: %v, want ErrNotFound", id, err)
		}
		if _, err := reads.GetSnapshot(t.Context(), &marketv1.GetSnapshotRequest{MarketId: id}); !errors.Is(err, market.ErrNotFound) {
			t.Errorf("snapshot of %q: %v", id, err)
		}
	}
	if _, err := reads.GetMarket(t.Context(), &marketv1.GetMarketRequest{Id: "9"}); apperr.Of(err).Code != "venue_unavailable" || apperr.Of(err).Kind != apperr.Unavailable {
		t.Errorf("unavailable venue: %v", err)
	}
	if got, err := reads.GetMarket(t.Context(), &marketv1.GetMarketRequest{Id: "7"}); err != nil || got.GetMarket().GetTitle() != "Will the gauge rise?" {
		t.Errorf("GetMarket: %v, %v", got, err)
	}
	for lane, want := range map[string]string{"science": "7", "music": ""} {
		list, err := reads.ListAirable(t.Context(), &marketv1.ListAirableRequest{Limit: 1, Lane: lane})
		if err != nil || ids(list.GetMarkets()) != want || want != "" && list.GetMarkets()[0].GetViewers() != 41 {
			t.Errorf("airable in %s: %v, %v", lane, list, err)
		}
	}
	some, err := reads.ListMarkets(t.Context(), &marketv1.ListMarketsRequest{Ids: []string{"7", "404"}})
	if err != nil || ids(some.GetMarkets()) != "7" || some.GetMarkets()[0].GetViewers() != 41 {
		t.Errorf("ListMarkets: %v, %v", some, err)
	}
	l.exec(`UPDATE api.market_quotes SET yes_bps = NULL WHERE market_id = '8'`)
	for id, want := range map[string]*int32{"7": ptr[int32](5000), "8": nil} {
		got, err := reads.GetSnapshot(t.Context(), &marketv1.GetSnapshotRequest{MarketId: id})
		if err != nil || (got.YesBps == nil) != (want == nil) || want != nil && got.GetYesBps() != *want {
			t.Errorf("snapshot of %s: %v, %v", id, got, err)
		}
	}
	draft := &marketv1.CreateNativeRequest{
		Question: "Will the gauge rise above 6 m?", Description: "d", CutoffAt: timestamppb.New(noon.Add(time.Hour)),
		ResolvesBy: timestamppb.New(noon.Add(2 * time.Hour)), Lane: "SCIENCE", ResolutionSource: ptr("https://r.example"), InitialYesBps: 4000, CreatedBy: "admin",
	}
	made := testkit.Must(writes.CreateNative(t.Context(), draft))(t)
	m := made.GetMarket()
	var by string
	if err := l.admin.QueryRow(t.Context(), `SELECT created_by FROM api.markets WHERE market_id = $1`, m.GetId()).Scan(&by); err != nil {
		t.Fatal(err)
	}
	if m.GetTitle() != draft.GetQuestion() || m.GetDescription() != "d" || !m.GetEndDate().AsTime().Equal(draft.GetCutoffAt().AsTime()) ||
		!m.GetResolvesBy().AsTime().Equal(draft.GetResolvesBy().AsTime()) || m.GetLane() != "SCIENCE" || m.GetResolutionSource() != "https://r.example" ||
		m.GetYesBps() != 4000 || by != "admin" {
		t.Errorf("native market %v by %s", m, by)
	}
	draft.CreatedBy = uuid.NewString()
	l.exec(`INSERT INTO api.users (id, issuer, provider_id, public_id, handle, display_name, created_at)
		VALUES ($1, 'seed', 'seed', 'op_0000000000000001', 'seed', 'Seed', $2)`, draft.GetCreatedBy(), noon)
	for i, digit := range []string{"1", "1", "2"} { // a signed message creates one market even if it is sent twice
		draft.MessageId = "msg_" + strings.Repeat(digit, 64)
		if _, err := writes.CreateNative(t.Context(), draft); err != nil {
			t.Fatalf("message %d: %v", i, err)
		}
	}
	var signed int
	if err := l.admin.QueryRow(t.Context(), `SELECT count(*) FROM api.markets WHERE provider = 'manual'`).Scan(&signed); err != nil || signed != 3 {
		t.Errorf("%d native markets, %v; want one of the administrator and two of messages", signed, err)
	}
	for _, bad := range []*marketv1.CreateNativeRequest{{}, {Question: draft.Question, Lane: "SCIENCE", CreatedBy: "admin"}} {
		if _, err := writes.CreateNative(t.Context(), bad); apperr.Of(err).Kind != apperr.Invalid {
			t.Errorf("CreateNative of %v: %v, want an error", bad, err)
		}
	}
}

// TestFindMarketsInOrder checks that the answer has the markets in the order of the search, across pages.
func TestFindMarketsInOrder(t *testing.T) {
	t.Parallel()
	l := setup(t)
	for i, id := range []string{"10", "9", "8", "7"} {
		l.market(id, "Will the gauge rise?", "flood", float64(5000-1000*i))
	}
	l.market("11", "Will it snow?", "", 5)
	client := cataloguev1.NewCatalogueReadServiceClient(l.conn)
	ask := &cataloguev1.FindMarketsRequest{Text: "gauge", Provider: "polymarket", Lane: "science", Sort: "volume", Limit: 3}
	first, err := client.FindMarkets(t.Context(), ask)
	if err != nil || ids(first.GetMarkets()) != "10 9 8" || first.GetNextCursor() == "" {
		t.Errorf("first page %v, %v", first, err)
	}
	ask.Cursor = first.GetNextCursor()
	second, err := client.FindMarkets(t.Context(), ask)
	if err != nil || ids(second.GetMarkets()) != "7" || second.GetNextCursor() != "" {
		t.Errorf("second page %v, %v", second, err)
	}
	related, err := client.GetRelated(t.Context(), &cataloguev1.GetRelatedRequest{MarketId: "8"})
	if err != nil || related.GetActive().GetId() != "8" || len(related.GetRelated()) != 4 || related.GetRelated()[0].GetRelation() != "same_event" {
		t.Errorf("related %v, %v", related, err)
	}
	for _, id := range []string{"polymarket:7", ""} {
		if _, err := client.GetRelated(t.Context(), &cataloguev1.GetRelatedRequest{MarketId: id}); apperr.Of(err).Code != "market_not_found" {
			t.Errorf("related to %q: %v", id, err)
		}
		if _, err := client.GetSentiment(t.Context(), &cataloguev1.GetSentimentRequest{MarketId: id}); apperr.Of(err).Code != "market_not_found" {
			t.Errorf("sentiment of %q: %v", id, err)
		}
	}
	if got, err := client.GetSentiment(t.Context(), &cataloguev1.GetSentimentRequest{MarketId: "8"}); err != nil || got.GetMarket().GetId() != "8" {
		t.Errorf("sentiment %v, %v", got, err)
	}
	for i, id := range []string{"9", "8"} { // market 9 has the larger difference of crowd and price
		l.exec(`INSERT INTO api.market_totals (market_id, yes, no, crowd_yes, crowd_no) VALUES ($1, 20, $2, 20, $2)`, id, 5*i)
	}
	gaps, err := client.ListGaps(t.Context(), &cataloguev1.ListGapsRequest{Limit: 9})
	if list := gaps.GetGaps(); err != nil || len(list) != 2 || list[0].GetMarket().GetId() != "9" || list[0].GetCrowdYes() != 20 || list[1].GetCrowdNo() != 5 {
		t.Errorf("gaps %v, %v", gaps, err)
	}
	l.exec(`INSERT INTO api.market_resolutions (market_id, outcome, resolver, source, close_at, lane, resolved_at)
		SELECT id, 'NO', 'admin', 'admin', $1, 'SCIENCE', $1 FROM unnest('{7,8}'::text[]) AS id`, noon)
	l.exec(`UPDATE api.markets SET status = 'resolved', resolution_value = 'NO' WHERE market_id IN ('7', '8')`)
	resolved, err := client.ListResolved(t.Context(), &cataloguev1.ListResolvedRequest{Provider: "polymarket", Limit: 1})
	if err != nil || len(resolved.GetMarkets()) != 1 || resolved.GetNextCursor() == "" {
		t.Errorf("resolved %v, %v", resolved, err)
	}
	l.rw.Close()
	if _, err := client.FindMarkets(t.Context(), ask); apperr.Of(err).Code != "db_unavailable" {
		t.Errorf("without a database: %v", err)
	}
}

func TestTilesAndHistories(t *testing.T) {
	t.Parallel()
	l := setup(t)
	l.market("7", "gauge", "flood", 9)
	l.market("8", "gauge 2", "flood", 3.5)
	l.market("9", "snow", "", 2)
	l.exec(`UPDATE api.markets SET end_date = $1 WHERE market_id = '7'`, noon.Add(12*time.Hour))
	l.refresh()
	client := cataloguev1.NewCatalogueReadServiceClient(l.conn)
	pins := append([]string{"9", "404"}, make([]string, 100)...)
	for _, c := range []struct {
		name string
		r    *cataloguev1.ListTilesRequest
		want string
	}{
		{"by event", &cataloguev1.ListTilesRequest{}, "flood slug-9"},
		{"pinned", &cataloguev1.ListTilesRequest{Pinned: pins}, "slug-9 flood"},
		{"that end within a day", &cataloguev1.ListTilesRequest{Mode: "resolving24h", Pinned: pins}, "slug-7"},
	} {
		r, err := client.ListTiles(t.Context(), c.r)
		var got []string
		for _, tile := range r.GetTiles() {
			got = append(got, tile.GetId())
		}
		if err != nil || strings.Join(got, " ") != c.want || r.GetUpdatedAt() == nil {
			t.Errorf("%s: %v, %v", c.name, r, err)
		}
	}
	for _, c := range []struct {
		r    *cataloguev1.ListHistoryRequest
		want string
	}{
		{&cataloguev1.ListHistoryRequest{MarketId: "7", TokenId: "99", Interval: "7D"}, "99 7D"},
		{&cataloguev1.ListHistoryRequest{MarketId: "7", Interval: "nonsense"}, "77 24H"},
		{&cataloguev1.ListHistoryRequest{MarketId: "polymarket:7"}, ""},
		{&cataloguev1.ListHistoryRequest{}, ""},
	} {
		l.requested = ""
		r, err := client.ListHistory(t.Context(), c.r)
		if err != nil || l.requested != c.want || (len(r.GetPoints()) == 1) != (c.want != "") {
			t.Errorf("%v requests %q: %v %v", c.r, l.requested, r, err)
		} else if c.want != "" && (r.GetPoints()[0].GetT() != 5 || r.GetPoints()[0].GetP() != 0.1234) {
			t.Errorf("points of %v are not those of the source", r)
		}
	}
}

// TestMovement checks the limits, lanes and windows of the lists of moves, situations and takes.
func TestMovement(t *testing.T) {
	t.Parallel()
	l := setup(t)
	for i := range 230 {
		l.market(fmt.Sprint(1000+i), "gauge", "", 5000)
	}
	l.exec(`UPDATE api.markets SET lane = 'TECH' WHERE market_id = '1000'`)
	l.exec(`INSERT INTO api.users (id, issuer, provider_id, public_id, handle, display_name, created_at)
		SELECT gen_random_uuid(), 'seed', 'seed' || i, 'op_' || lpad(to_hex(i), 16, '0'), 'seed' || i, 'Seed', now() FROM generate_series(1, 9) i`)
	l.exec(`UPDATE api.market_quotes SET volume24h = 5e6 WHERE market_id = '1007'`) // a higher attention score than market 1001
	for market, takes := range map[string]int{"1001": 2, "1004": 9, "1007": 2} {
		l.exec(`INSERT INTO api.signals (id, market_id, user_id, yes, price_bps, score_basis_bps, price_verified, created_at, market_title, text_take, source)
			SELECT gen_random_uuid(), $1, id, true, 5000, 5000, true, $2, 'gauge', NULL, 'web' FROM api.users ORDER BY handle LIMIT $3`,
			market, noon.Add(-time.Hour), takes)
		l.exec(`INSERT INTO api.signal_events (id, signal_id, type, payload, created_at)
			SELECT gen_random_uuid(), id, 'take', '{}', created_at FROM api.signals WHERE market_id = $1`, market)
	}
	l.refresh()
	client := wirev1.NewWireReadServiceClient(l.conn)
	for _, c := range []struct {
		window, lane string
		limit        int32
		want         string
	}{
		{"24h", "", 0, "50 30"},
		{"24h", "", -1, "50 30"},
		{"24h", "", 1000, "200 100"},
		{"24h", "", 1, "1 1"},
		{"24h", "tech", 0, "1 1"},
		{"24h", "moon", 0, "50 30"},
		{"1h", "", 0, "0 0"},
		{"nonsense", "", 0, "50 30"},
	} {
		moves, err := client.ListMoves(t.Context(), &wirev1.ListMovesRequest{Window: c.window, Lane: c.lane, Limit: c.limit})
		stories, err2 := client.ListSituations(t.Context(), &wirev1.ListSituationsRequest{Window: c.window, Lane: c.lane, Limit: c.limit})
		got := fmt.Sprint(len(moves.GetMoves()), " ", len(stories.GetSituations()))
		if err != nil || err2 != nil || got != c.want || !moves.GetGeneratedAt().AsTime().Equal(noon) || !stories.GetGeneratedAt().AsTime().Equal(noon) {
			t.Errorf("%+v: %s (%v, %v)", c, got, err, err2)
		}
	}
	for limit, want := range map[int32]string{0: "1004:9 1007:2 1001:2", 2: "1004:9 1007:2"} {
		got, err := client.ListTaken(t.Context(), &wirev1.ListTakenRequest{Limit: limit})
		var takes []string
		for _, m := range got.GetMarkets() {
			takes = append(takes, fmt.Sprintf("%s:%d", m.GetMarketId(), m.GetTakes()))
		}
		if err != nil || strings.Join(takes, " ") != want {
			t.Errorf("limit %d: %v, %v", limit, takes, err)
		}
	}
}

// TestDayWithoutBounds checks that a GetDay request without valid bounds is rejected.
func TestDayWithoutBounds(t *testing.T) {
	t.Parallel()
	client := digestv1.NewDigestReadServiceClient(setup(t).conn)
	from := timestamppb.New(noon)
	long := &digestv1.GetDayRequest{From: from, To: timestamppb.New(noon.AddDate(0, 0, 3))}
	for _, bad := range []*digestv1.GetDayRequest{{}, {From: from}, {From: from, To: from}, long} {
		if _, err := client.GetDay(t.Context(), bad); apperr.Of(err).Code != "invalid_window" {
			t.Errorf("GetDay of %v: %v, want invalid_window", bad, err)
		}
	}
	if _, err := client.GetDay(t.Context(), &digestv1.GetDayRequest{From: from, To: timestamppb.New(noon.AddDate(0, 0, 1))}); err != nil {
		t.Error(err)
	}
}

// TestFeedBelowANumber checks that ListEvents returns the events below a number, at most 200, filtered by type or by the
// channel of a programme.
func TestFeedBelowANumber(t *testing.T) {
	t.Parallel()
	l := setup(t)
	l.market("1", "gauge", "", 10)
	l.exec(`INSERT INTO api.outbox (type, market_id, data, at) SELECT 'market.status', '1', '{}', $1 FROM generate_series(1, 210)`, noon)
	l.exec(`INSERT INTO api.outbox (type, topic, data, at) SELECT 'segment.started', 'program:default', '{}', $1 FROM generate_series(1, 5)`, noon)
	for n := 1; n > 0; {
		var err error
		if n, err = l.store.NumberFeed(t.Context(), 500); err != nil {
			t.Fatal(err)
		}
	}
	c := feedv1.NewFeedReadServiceClient(l.conn)
	for name, q := range map[string]struct {
		ask   *feedv1.ListEventsRequest
		n     int
		first int64
	}{
		"of a programme":   {&feedv1.ListEventsRequest{Limit: 3, Before: 214, Topic: "program:default", Types: []string{"segment.started", "nothing"}}, 3, 213},
		"of no programme":  {&feedv1.ListEventsRequest{Limit: 9000, Before: -1, Topic: "market:1"}, 200, 215},
		"of an unknown":    {&feedv1.ListEventsRequest{Limit: 3, Types: []string{"nothing"}}, 0, 0},
		"without a limit":  {&feedv1.ListEventsRequest{}, 1, 215},
		"of one type only": {&feedv1.ListEventsRequest{Limit: 2, Types: []string{"market.status"}}, 2, 210},
	} {
		got, err := c.ListEvents(t.Context(), q.ask)
		if err != nil || got.GetHead() != 215 || len(got.GetEvents()) != q.n || q.n > 0 && got.GetEvents()[0].GetSeq() != q.first {
			t.Errorf("%s: head %d, %d events, %v", name, got.GetHead(), len(got.GetEvents()), err)
		}
	}
}

// TestClearedDispute checks the outcome of a market after its dispute is cleared: a market without a resolution has none, and a
// resolved market keeps it.
func TestClearedDispute(t *testing.T) {
	t.Parallel()
	l := setup(t)
	client := resolutionv1.NewResolutionServiceClient(l.conn)
	for id, claimed := range map[string]bool{"7": false, "8": true} {
		l.market(id, "gauge", "", 10)
		if claimed {
			if _, err := client.Force(t.Context(), &resolutionv1.ForceRequest{MarketId: id, Verdict: "YES"}); err != nil {
				t.Fatal(err)
			}
		}
		for _, disputed := range []bool{true, false} {
			got := testkit.Must(client.Dispute(t.Context(), &resolutionv1.DisputeRequest{MarketId: id, Disputed: disputed}))(t)
			if want := disputed || claimed; (got.GetOutcome() != nil) != want || got.GetOutcome().GetDisputed() != disputed {
				t.Errorf("claimed %v, disputed %v: %v", claimed, disputed, got.GetOutcome())
			}
		}
	}
}

// TestAirableMarketsHaveTheirTapes checks that the list for the programme has the number of tapes of each market.
func TestAirableMarketsHaveTheirTapes(t *testing.T) {
	t.Parallel()
	l := setup(t)
	l.market("1", "Gauge", "", 5000)
	l.market("2", "Gauge", "", 5000)
	l.exec(`INSERT INTO api.market_tapes (market_id, tapes, at) VALUES ('1', 3, $1), ('3', 5, $1)`, noon)
	r, err := marketv1.NewMarketReadServiceClient(l.conn).ListAirable(t.Context(), &marketv1.ListAirableRequest{})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int64{}
	for _, m := range r.GetMarkets() {
		got[m.GetId()] = m.GetTapes()
	}
	if want := (map[string]int64{"1": 3, "2": 0}); !maps.Equal(got, want) {
		t.Errorf("tapes %v, want %v", got, want)
	}
}

// TestAirableMarketsHaveTheirMoves checks that the list for the programme has the price changes of the last hour that are listed
// as moves.
func TestAirableMarketsHaveTheirMoves(t *testing.T) {
	t.Parallel()
	l := setup(t)
	for _, m := range []struct {
		id     string
		volume float64
		from   int
	}{{"1", 5000, 4200}, {"2", 5000, 5600}, {"3", 5000, 4950}, {"4", 500, 4000}} {
		l.market(m.id, "Gauge", "", m.volume)
		l.exec(`INSERT INTO api.market_prices (market_id, at, yes_bps) VALUES ($1, $2, $3)`, m.id, noon.Add(-time.Hour), m.from)
	}
	moves := func() map[string]int32 {
		r, err := marketv1.NewMarketReadServiceClient(l.conn).ListAirable(t.Context(), &marketv1.ListAirableRequest{})
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]int32{}
		for _, m := range r.GetMarkets() {
			out[m.GetId()] = m.GetMove1HBps()
		}
		return out
	}
	if got, want := moves(), (map[string]int32{"1": 0, "2": 0, "3": 0, "4": 0}); !maps.Equal(got, want) {
		t.Errorf("before the first reading: %v, want %v", got, want)
	}
	l.refresh()
	if got, want := moves(), (map[string]int32{"1": 800, "2": -600, "3": 0, "4": 0}); !maps.Equal(got, want) {
		t.Errorf("moves %v, want %v", got, want)
	}
}
