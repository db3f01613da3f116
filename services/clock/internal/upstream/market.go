package upstream

import (
	"math"
	"strings"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/signalcast/signalcast/pkg/protocol"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	"github.com/signalcast/signalcast/services/clock/internal/program"
)

// fromProto converts a market. It returns false if the market ID is invalid. A missing or invalid price, volume or status becomes
// the value that means unknown.
func fromProto(m *marketv1.Market) (program.Market, bool) {
	id, err := protocol.ParseMarketID(m.GetId())
	if err != nil {
		return program.Market{}, false
	}
	out := program.Market{
		ID: id, Provider: id.Provider(), Title: m.GetTitle(), EventKey: m.GetEventKey(),
		End: milli(m.GetEndDate()), Yes: program.NoPrice, Volume: program.Unknown, DayVolume: program.Unknown,
		Signals: m.GetSignals(), Tapes: m.GetTapes(), Takes: m.GetTakes(), Streams: m.GetStreams(), Viewers: m.GetViewers(), Move: m.GetMove1HBps(),
		Status: protocol.MarketUnknown, Provisional: m.GetProvisional() || m.GetDisputed(),
	}
	if names := m.GetOutcomes(); len(names) == 2 && !(strings.EqualFold(names[0], "yes") && strings.EqualFold(names[1], "no")) {
		out.Sides = [2]string(names)
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
	// A volume without a value in dollars cannot be compared, so it counts as unknown. The volume of a day has the unit of the
	// venue and is converted at the rate of the whole volume.
	if m.VolumeUsd != nil && isAmount(m.GetVolumeUsd()) {
		out.Volume = m.GetVolumeUsd()
		if m.Volume24H != nil && isAmount(m.GetVolume24H()) {
			out.DayVolume = m.GetVolume24H()
			if m.GetVolumeUnit() != "usd" && m.GetVolume() > 0 {
				out.DayVolume *= m.GetVolumeUsd() / m.GetVolume()
			}
		}
	}
	return out, true
}

// isAmount reports whether v is a finite number that is not negative.
func isAmount(v float64) bool { return v >= 0 && v <= math.MaxFloat64 }

// milli returns the time in Unix milliseconds, or 0 if t is nil.
func milli(t *timestamppb.Timestamp) int64 {
	if t == nil {
		return 0
	}
	return t.AsTime().UnixMilli()
}
