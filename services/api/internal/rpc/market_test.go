package rpc_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/signalcast/signalcast/pkg/fault"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/pkg/testkit"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/rpc"
)

// markets is a subject that keeps what it was asked.
type markets struct {
	rows   []market.Market
	points []market.Point
	err    error

	id    syntax.MarketID
	lane  syntax.Lane
	limit int
	ids   []string
	from  time.Time
	draft market.Draft
}

func (m *markets) Get(_ context.Context, id syntax.MarketID) (market.Market, error) {
	m.id = id
	if m.err != nil {
		return market.Market{}, m.err
	}
	return m.rows[0], nil
}

func (m *markets) Airable(_ context.Context, limit int, lane syntax.Lane) ([]market.Market, error) {
	m.limit, m.lane = limit, lane
	return m.rows, m.err
}

func (m *markets) ListMarkets(_ context.Context, ids []string) ([]market.Market, error) {
	m.ids = ids
	return m.rows, m.err
}

func (m *markets) ListPrices(_ context.Context, id syntax.MarketID, from time.Time) ([]market.Point, error) {
	m.id, m.from = id, from
	return m.points, m.err
}

func (m *markets) Snapshot(_ context.Context, id syntax.MarketID) (*syntax.Bps, error) {
	m.id = id
	if m.err != nil || len(m.rows) == 0 {
		return nil, m.err
	}
	return m.rows[0].Yes, nil
}

func (m *markets) SetRated(context.Context, syntax.MarketID, bool, string) (market.Market, error) {
	return market.Market{}, m.err
}

func (m *markets) CreateNative(_ context.Context, d market.Draft) (market.Market, error) {
	m.draft = d
	if m.err != nil {
		return market.Market{}, m.err
	}
	return m.rows[0], nil
}

func dialMarkets(t *testing.T, m *markets) (marketv1.MarketReadServiceClient, marketv1.MarketServiceClient) {
	t.Helper()
	conn := testkit.Link(t, func(r grpc.ServiceRegistrar) {
		face := rpc.NewMarkets(m, m)
		face.Watch(func(id string) int { return 40 + len(id) })
		marketv1.RegisterMarketServiceServer(r, face)
		marketv1.RegisterMarketReadServiceServer(r, face)
	})
	return marketv1.NewMarketReadServiceClient(conn), marketv1.NewMarketServiceClient(conn)
}

func ptr[T any](v T) *T { return &v }

func TestMarketTravelsWhole(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 10, 10, 12, 0, 0, 0, time.UTC)
	later := timestamppb.New(at.Add(time.Hour))
	m := &markets{rows: []market.Market{{
		ID: "7", Provider: syntax.Polymarket, Title: "t", Description: "d", EndDate: ptr(at.Add(time.Hour)), Status: syntax.MarketResolved,
		Provisional: true, Disputed: true, Verdict: ptr(syntax.VerdictNo), ClosePrice: ptr(syntax.Bps(0)), Lane: syntax.LaneMusic,
		Category: "music", Slug: "s", EventKey: "k", EventTitle: "e", ClobTokenID: "71", Outcomes: []string{"Up", "Down"},
		ImageURL: "i", URL: "u", VolumeUnit: "usd", Yes: ptr(syntax.Bps(3100)), PricedAt: &at, Volume: ptr(1.5), VolumeUSD: ptr(2.5),
		Volume24h: ptr(3.5), Liquidity: ptr(0.0), CreatedAt: at, UpdatedAt: at, ResolvesBy: ptr(at.Add(time.Hour)), ResolutionSource: ptr("https://r.example"),
		YesCount: 3, NoCount: 4, Takes: 5, Streams: 6,
	}}}
	reads, _ := dialMarkets(t, m)
	got, err := reads.GetMarket(t.Context(), &marketv1.GetMarketRequest{Id: "7"})
	if err != nil {
		t.Fatal(err)
	}
	want := &marketv1.Market{
		Id: "7", Provider: "polymarket", Title: "t", Description: "d", EndDate: later, Status: "resolved",
		Provisional: true, Disputed: true, ResolutionValue: ptr("NO"), ClosePriceBps: ptr[int32](0), Lane: "MUSIC",
		Category: "music", Slug: "s", EventKey: "k", EventTitle: "e", ClobTokenId: "71", Outcomes: []string{"Up", "Down"},
		ImageUrl: "i", Url: "u", VolumeUnit: "usd", YesBps: ptr[int32](3100), PricedAt: timestamppb.New(at), Volume: ptr(1.5), VolumeUsd: ptr(2.5),
		Volume24H: ptr(3.5), Liquidity: ptr(0.0), CreatedAt: timestamppb.New(at), UpdatedAt: timestamppb.New(at), ResolvesBy: later,
		ResolutionSource: ptr("https://r.example"), Yes: 3, No: 4, Signals: 7, Takes: 5, Streams: 6,
	}
	if !proto.Equal(got.GetMarket(), want) {
		t.Errorf("got %v\nwant %v", got.GetMarket(), want)
	}
}

func TestMarketReads(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 10, 10, 12, 0, 0, 0, time.UTC)
	m := &markets{rows: []market.Market{{ID: "7"}}, points: []market.Point{{At: at, Yes: 10000}}}
	reads, _ := dialMarkets(t, m)
	for _, id := range []string{"", "polymarket:7", "../7"} {
		if _, err := reads.GetMarket(t.Context(), &marketv1.GetMarketRequest{Id: id}); !errors.Is(err, market.ErrNotFound) {
			t.Errorf("id %q: %v", id, err)
		}
		if got, err := reads.ListPrices(t.Context(), &marketv1.ListPricesRequest{MarketId: id}); err != nil || len(got.GetPoints()) != 0 {
			t.Errorf("prices of %q: %v, %v", id, got, err)
		}
	}
	list, err := reads.ListAirable(t.Context(), &marketv1.ListAirableRequest{Limit: 3, Lane: "science"})
	if err != nil || len(list.GetMarkets()) != 1 || m.limit != 3 || m.lane != syntax.LaneScience || list.GetMarkets()[0].GetViewers() != 41 {
		t.Errorf("airable %v, %v; asked %d %s", list, err, m.limit, m.lane)
	}
	some, err := reads.ListMarkets(t.Context(), &marketv1.ListMarketsRequest{Ids: []string{"7", "8"}})
	if err != nil || len(some.GetMarkets()) != 1 || len(m.ids) != 2 || some.GetMarkets()[0].GetViewers() != 41 {
		t.Errorf("list %v, %v; asked %v", some, err, m.ids)
	}
	points, err := reads.ListPrices(t.Context(), &marketv1.ListPricesRequest{MarketId: "7", From: timestamppb.New(at)})
	if err != nil || len(points.GetPoints()) != 1 || points.GetPoints()[0].GetT() != at.Unix() || points.GetPoints()[0].GetYesBps() != 10000 || !m.from.Equal(at) {
		t.Errorf("prices %v, %v; asked since %v", points, err, m.from)
	}
	if _, err := reads.ListPrices(t.Context(), &marketv1.ListPricesRequest{MarketId: "7"}); err != nil || !m.from.IsZero() {
		t.Errorf("without a start: %v, asked since %v", err, m.from)
	}
	m.rows[0].Yes = ptr(syntax.Bps(3150))
	if got, err := reads.GetSnapshot(t.Context(), &marketv1.GetSnapshotRequest{MarketId: "7"}); err != nil || got.GetYesBps() != 3150 {
		t.Errorf("snapshot %v, %v", got, err)
	}
	m.rows[0].Yes = nil
	if got, err := reads.GetSnapshot(t.Context(), &marketv1.GetSnapshotRequest{MarketId: "7"}); err != nil || got.YesBps != nil {
		t.Errorf("no snapshot: %v, %v", got, err)
	}
	if _, err := reads.GetSnapshot(t.Context(), &marketv1.GetSnapshotRequest{MarketId: "polymarket:7"}); !errors.Is(err, market.ErrNotFound) {
		t.Errorf("a snapshot of no market: %v", err)
	}
	m.err = market.ErrUnavailable
	_, err = reads.GetMarket(t.Context(), &marketv1.GetMarketRequest{Id: "7"})
	if f := fault.Of(err); f.Kind != fault.Unavailable || f.Code != "venue_unavailable" {
		t.Errorf("a venue that is down is %v", err)
	}
}

func TestCreateNativeTravels(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 10, 10, 12, 0, 0, 0, time.UTC)
	m := &markets{rows: []market.Market{{ID: "native-aaaaaaaaaaaa"}}}
	_, writes := dialMarkets(t, m)
	got, err := writes.CreateNative(t.Context(), &marketv1.CreateNativeRequest{
		Question: "q", Description: "d", CutoffAt: timestamppb.New(at), ResolvesBy: timestamppb.New(at.Add(time.Hour)), Lane: "SCIENCE",
		ResolutionSource: ptr("https://r.example"), InitialYesBps: 4000, CreatedBy: "admin", MessageId: "msg_1",
	})
	if err != nil || got.GetMarket().GetId() != "native-aaaaaaaaaaaa" {
		t.Fatalf("%v, %v", got, err)
	}
	d := m.draft
	if d.Question != "q" || d.Description != "d" || !d.CutoffAt.Equal(at) || !d.ResolvesBy.Equal(at.Add(time.Hour)) || d.Lane != syntax.LaneScience ||
		*d.ResolutionSource != "https://r.example" || d.InitialYes != 4000 || d.CreatedBy != "admin" || d.MessageID != "msg_1" {
		t.Errorf("draft %+v", d)
	}
	if _, err := writes.CreateNative(t.Context(), &marketv1.CreateNativeRequest{}); err != nil || !m.draft.CutoffAt.IsZero() || m.draft.ResolvesBy != nil {
		t.Errorf("empty request: %v, draft %+v", err, m.draft)
	}
}
