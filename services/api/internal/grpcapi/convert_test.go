package grpcapi

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/signalcast/signalcast/pkg/protocol"
	cataloguev1 "github.com/signalcast/signalcast/proto/catalogue/v1"
	digestv1 "github.com/signalcast/signalcast/proto/digest/v1"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
	wirev1 "github.com/signalcast/signalcast/proto/wire/v1"
	"github.com/signalcast/signalcast/services/api/internal/attention"
	"github.com/signalcast/signalcast/services/api/internal/digest"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/movement"
	"github.com/signalcast/signalcast/services/api/internal/search"
	"github.com/signalcast/signalcast/services/api/internal/signal"
)

func ptr[T any](v T) *T { return &v }

// TestResultConversions checks that the conversions to protobuf messages lose no member.
func TestResultConversions(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 10, 10, 12, 0, 0, 0, time.UTC)
	later, stamp := at.Add(time.Hour), timestamppb.New(at.Add(time.Hour))
	m := market.Market{
		ID: "7", Provider: protocol.Polymarket, Title: "t", Description: "d", EndDate: &later, Status: protocol.MarketResolved,
		Provisional: true, Disputed: true, Verdict: ptr(protocol.VerdictNo), ClosePrice: ptr(protocol.Bps(0)), Lane: protocol.LaneMusic,
		Category: "music", Slug: "s", EventKey: "k", EventTitle: "e", ClobTokenID: "71", Outcomes: []string{"Up", "Down"},
		ImageURL: "i", URL: "u", VolumeUnit: "usd", Yes: ptr(protocol.Bps(3100)), PricedAt: &at, Volume: ptr(1.5), VolumeUSD: ptr(2.5),
		Volume24h: ptr(3.5), Liquidity: ptr(0.0), CreatedAt: at, UpdatedAt: at, ResolvesBy: &later, ResolutionSource: ptr("https://r.example"),
		YesCount: 3, NoCount: 4, Takes: 5, Streams: 6,
	}
	wantMarket := &marketv1.Market{
		Id: "7", Provider: "polymarket", Title: "t", Description: "d", EndDate: stamp, Status: "resolved",
		Provisional: true, Disputed: true, ResolutionValue: ptr("NO"), ClosePriceBps: ptr[int32](0), Lane: "MUSIC",
		Category: "music", Slug: "s", EventKey: "k", EventTitle: "e", ClobTokenId: "71", Outcomes: []string{"Up", "Down"},
		ImageUrl: "i", Url: "u", VolumeUnit: "usd", YesBps: ptr[int32](3100), PricedAt: timestamppb.New(at), Volume: ptr(1.5), VolumeUsd: ptr(2.5),
		Volume24H: ptr(3.5), Liquidity: ptr(0.0), CreatedAt: timestamppb.New(at), UpdatedAt: timestamppb.New(at), ResolvesBy: stamp,
		ResolutionSource: ptr("https://r.example"), Yes: 3, No: 4, Signals: 7, Takes: 5, Streams: 6,
	}
	f := attention.Fact{Slug: "gauge", ImageURL: "https://i.example", EndDate: &later}
	f.ID, f.Provider, f.Title, f.Outcome, f.Lane, f.EventKey, f.EventTitle = "7", protocol.Polymarket, "t", "Over", "SCIENCE", "flood", "River levels"
	f.Volume, f.Volume24h, f.Signals = ptr(5000.0), ptr(400.0), 42
	tile := &attention.Tile{Fact: &f, Markets: 2, Total24h: 12.5, Attention: 9, Yes: ptr(protocol.Bps(5000)), Move: ptr(-450)}
	wantTile := func(id, label string) *cataloguev1.Tile {
		return &cataloguev1.Tile{
			Id: id, Label: label, MarketId: "7", Title: "t", Lane: "SCIENCE", MarketCount: 2, Volume24H: 12.5, YesBps: ptr[int32](5000),
			Move24HBps: ptr[int32](-450), ImageUrl: "https://i.example", EndsAt: stamp, Attention: 9,
		}
	}
	moves := []movement.Move{{Market: &f.Market, From: 3600, To: 5000, DetectedAt: at}}
	wantMove := &wirev1.Move{
		MarketId: "7", Provider: "polymarket", Title: "t", Outcome: "Over", Lane: "SCIENCE", EventKey: "flood", FromBps: 3600, ToBps: 5000,
		Volume: 5000, Volume24H: ptr(400.0), Signals: 42, DetectedAt: timestamppb.New(at),
	}
	for _, c := range []struct {
		name      string
		got, want proto.Message
	}{
		{"market", marketTo(m), wantMarket},
		{"resolved market", resolvedTo(search.Resolved{
			ID: "7", Title: "seven", Verdict: protocol.VerdictInvalid, ResolvedAt: at, ClosePrice: ptr(protocol.Bps(0)), Volume: ptr(5.5), Signals: 3,
		}), &cataloguev1.ResolvedMarket{
			Id: "7", Title: "seven", Outcome: "INVALID", ResolvedAt: timestamppb.New(at), ClosePriceBps: ptr[int32](0), Volume: ptr(5.5), Signals: 3,
		}},
		{"tile of an event", tileTo(tile, false), wantTile("flood", "River levels")},
		{"tile of a market", tileTo(tile, true), wantTile("gauge", "t")},
		{"sentiment", sentimentTo(m, search.Sentiment{
			Yes: 1, No: 2, WeightYes: 3.5, WeightNo: 4.5, ConfidenceYes: ptr(60.0), TakesYes: 5, TakesNo: 6, Signals24h: 7,
			Before: ptr(protocol.Bps(3550)), UpdatedAt: at,
		}), &cataloguev1.GetSentimentResponse{
			Market: wantMarket, Yes: 1, No: 2, WeightYes: 3.5, WeightNo: 4.5, ConfidenceYes: ptr(60.0), TakesYes: 5, TakesNo: 6, Signals24H: 7,
			Move24HBps: ptr[int32](-450), UpdatedAt: timestamppb.New(at),
		}},
		{"move", moveTo(moves[0]), wantMove},
		{"situation", situationTo(movement.Situation{Moves: moves, Count: 2, Volume: 9000, Score: 14, DetectedAt: at}), &wirev1.Situation{
			EventKey: "flood", Provider: "polymarket", Headline: "River levels rises 14 points", Lane: "SCIENCE", Markets: []*wirev1.Move{wantMove},
			MarketCount: 2, Volume: 9000, Score: 14, Criticality: "Elevated", DetectedAt: timestamppb.New(at),
		}},
		{"day", dayTo(digest.Day{
			Signals: 27, Won: 11, Lost: 8, Void: 1, NewOperators: 2, Disputed: []string{"7"},
			TopCalls: []digest.Call{{SignalID: "s", Handle: "mara_k", MarketTitle: "Rain?", Side: protocol.No, Odds: 1200, Score: 88}},
			Pulse:    digest.Pulse{Last7: 9, Prev7: 14, WeekSignals: 15, WeekOperators: 5},
		}), &digestv1.GetDayResponse{
			Signals: 27, Won: 11, Lost: 8, Void: 1, NewOperators: 2, Disputed: []string{"7"},
			TopCalls: []*digestv1.TopCall{{SignalId: "s", Handle: "mara_k", MarketTitle: "Rain?", Direction: "NO", OddsBps: 1200, Score: 88}},
			Pulse:    &digestv1.Pulse{Last7: 9, Prev7: 14, WeekSignals: 15, WeekOperators: 5},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if !proto.Equal(c.got, c.want) {
				t.Errorf("got %v\nwant %v", c.got, c.want)
			}
		})
	}
}

// TestDraftConversion checks that the conversion of a call to file loses no member, including MaxSlippage and AllowUnverified.
func TestDraftConversion(t *testing.T) {
	t.Parallel()
	const id = "018f0000-0000-7000-8000-000000000001"
	got, err := draftOf(&signalv1.Draft{
		Id: id, MarketId: "7", Direction: "NO", PriceBps: 3000, ChannelId: ptr("c"), Confidence: ptr[int32](70), CrowdYesBps: ptr[int32](4000),
		TimeToResolution: ptr[int32](60), Source: "web", MediaAssetId: ptr("m"), TextTake: ptr("It rains"), Reach: ptr[int64](9),
		CrowdLeanBps: ptr[int32](100), IdempotencyKey: ptr("k"), BodyHash: []byte("h"), MaxSlippageBps: ptr[int32](200), AllowUnverified: true,
	})
	want := signal.Draft{
		ID: id, MarketID: "7", Side: protocol.No, Price: 3000, ChannelID: ptr("c"), Confidence: ptr(70), CrowdYes: ptr(protocol.Bps(4000)),
		TimeToResolution: ptr(60), Source: "web", MediaAssetID: ptr("m"), TextTake: ptr("It rains"), Reach: ptr[int64](9),
		CrowdLean: ptr(protocol.Bps(100)), IdempotencyKey: ptr("k"), BodyHash: []byte("h"), MaxSlippage: ptr(protocol.Bps(200)), AllowUnverified: true,
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}
