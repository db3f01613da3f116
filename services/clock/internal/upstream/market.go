package upstream

import (
	"math"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/signalcast/signalcast/pkg/protocol"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	"github.com/signalcast/signalcast/services/clock/internal/program"
)

// fromProto reads a market; one whose id has no known form is not one.
func fromProto(m *marketv1.Market) (program.Market, bool) {
	id, err := protocol.ParseMarketID(m.GetId())
	if err != nil {
		return program.Market{}, false
	}
	out := program.Market{
		ID: id, Provider: id.Provider(), Title: m.GetTitle(), EventKey: m.GetEventKey(),
		End: milli(m.GetEndDate()), Yes: program.NoPrice, Volume: program.Unknown, DayVolume: program.Unknown,
		Signals: m.GetSignals(), Takes: m.GetTakes(), Streams: m.GetStreams(), Viewers: m.GetViewers(),
		Status: protocol.MarketUnknown, Provisional: m.GetProvisional() || m.GetDisputed(),
	}
	if p, ok := protocol.ParseProvider(m.GetProvider()); ok {
		out.Provider = p
	}
	if l, ok := program.ParseLane(m.GetCategory()); ok {
		out.Lane = l
	}
	if s, ok := protocol.ParseMarketStatus(m.GetStatus()); ok {
		out.Status = s
	}
	if m.YesBps != nil {
		if yes, ok := protocol.NewBps(int64(m.GetYesBps())); ok {
			out.Yes = yes
		}
	}
	// Only a venue that counts in dollars has figures that can be compared.
	if m.VolumeUsd != nil && isAmount(m.GetVolumeUsd()) {
		out.Volume = m.GetVolumeUsd()
		if m.Volume24H != nil && isAmount(m.GetVolume24H()) {
			out.DayVolume = m.GetVolume24H()
		}
	}
	return out, true
}

// isAmount is false for NaN, infinities and what is below zero.
func isAmount(v float64) bool { return v >= 0 && v <= math.MaxFloat64 }

func milli(t *timestamppb.Timestamp) int64 {
	if t == nil {
		return 0
	}
	return t.AsTime().UnixMilli()
}
