package view

import (
	"cmp"
	"context"
	"math"
	"strings"
	"time"

	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/protocol"
	cataloguev1 "github.com/signalcast/signalcast/proto/catalogue/v1"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	"github.com/signalcast/signalcast/proto/openapi"
	resolutionv1 "github.com/signalcast/signalcast/proto/resolution/v1"
	"github.com/signalcast/signalcast/services/hub/internal/card"
	"github.com/signalcast/signalcast/services/hub/internal/identityclaim"
	"github.com/signalcast/signalcast/services/hub/internal/market"
)

// minTimeToAir is the minimum time between now and the end of an airable market.
const minTimeToAir = 10 * time.Minute

// ShowAirable returns the JSON model of a list of markets. It leaves out markets that are not open, have no price, or end within
// minTimeToAir.
func ShowAirable(list []*marketv1.Market, now time.Time) openapi.Airable {
	out := openapi.Airable{Markets: make([]openapi.AirableMarket, 0, len(list)), UpdatedAt: protocol.Stamp(now)}
	for _, m := range list {
		left := ledgerclient.Time(m.GetEndDate()).Sub(now)
		if m.YesBps == nil || m.GetStatus() != string(protocol.MarketOpen) || left <= minTimeToAir {
			continue
		}
		out.Markets = append(out.Markets, openapi.AirableMarket{
			MarketID: m.GetId(), Title: m.GetTitle(), YesBps: int64(m.GetYesBps()), Volume: m.VolumeUsd,
			EndDate: ledgerclient.Stamp(m.GetEndDate()), EndsInMs: left.Milliseconds(), Lane: m.GetLane(),
			Category: httpx.OrNull(m.GetCategory()), Provider: m.GetProvider(), Route: "/m/" + m.GetId(),
			Streams: int64(m.GetStreams()),
			Takes:   m.GetTakes(),
		})
	}
	out.Count = int64(len(out.Markets))
	return out
}

// ShowSides returns the JSON model of the names of the two sides of a market.
func ShowSides(m *marketv1.Market) openapi.MarketSides {
	yes, no := market.Sides(m)
	return openapi.MarketSides{Yes: yes, No: no}
}

// ShowNamedSides returns the member sides of a market in JSON: the names that the venue gives to YES and NO. It returns nil if
// they are Yes and No.
func ShowNamedSides(m *marketv1.Market) *openapi.MarketSides {
	if names := market.Labels(m); names != nil {
		return &openapi.MarketSides{Yes: names[0], No: names[1]}
	}
	return nil
}

// OpenPrice returns the current price of YES of an open market in bps. It returns nil without a price and for other markets.
func OpenPrice(m *marketv1.Market) *int32 {
	if m.GetStatus() != string(protocol.MarketOpen) {
		return nil
	}
	return m.YesBps
}

// maxSideName is the maximum length in characters of the name of a side on a page. The stored name may be longer.
const maxSideName = 40

// SideName returns the name of a side of a market, YES or NO, for pages and cards. The name is one line of at most maxSideName
// characters, without characters that change the text direction. An ellipsis ends a name that was cut. SideName returns the side
// itself if the market is nil, if its sides are Yes and No, or if the name has no visible character. Any other text is returned
// unchanged.
func SideName(m *marketv1.Market, side string) string {
	names, name := market.Labels(m), ""
	switch {
	case names != nil && side == string(protocol.Yes):
		name = card.Clean(names[0])
	case names != nil && side == string(protocol.No):
		name = card.Clean(names[1])
	}
	if r := []rune(name); len(r) > maxSideName {
		name = strings.TrimRight(string(r[:maxSideName-1]), " ") + "…"
	}
	return cmp.Or(name, side)
}

// Percent returns a price in bps as a number from 0 to 100; nil for nil.
func Percent(bps *int32) *float64 {
	if bps == nil {
		return nil
	}
	n := protocol.Bps(*bps).Percent()
	return &n
}

// Whole returns a number rounded to an integer; nil for nil.
func Whole(v *float64) *int64 {
	if v == nil {
		return nil
	}
	return new(int64(math.Round(*v)))
}

// HubOrigin is the value of the member "origin" for data of this hub, in lists with the data of several stations.
const HubOrigin = "hub"

// ShowIdentity returns the JSON model of an identity claim.
func ShowIdentity(c identityclaim.Claim) openapi.IdentityClaim {
	return openapi.IdentityClaim{
		Station: c.Station, Identity: c.Identity, VerifiedAt: protocol.Stamp(c.VerifiedAt), ProfileURL: c.ProfileURL,
	}
}

// SharePercent returns part of total in percent, rounded half up. total must be positive.
func SharePercent(part, total int64) int64 { return (200*part + total) / (2 * total) }

// ShowOutcome returns the JSON model of a resolution; nil for nil.
func ShowOutcome(o *resolutionv1.Outcome) *openapi.Outcome {
	if o == nil {
		return nil
	}
	return &openapi.Outcome{
		Outcome: o.Outcome, Resolver: o.Resolver, Source: o.Source, ProofURL: o.ProofUrl,
		ResolvedAt: ledgerclient.StampOrNull(o.GetResolvedAt()), Disputed: o.GetDisputed(),
		DisputeReason: o.DisputeReason, DisputedAt: ledgerclient.StampOrNull(o.GetDisputedAt()),
	}
}

// Tiles is a heatmap and the pins of its pinned markets.
type Tiles struct {
	*cataloguev1.ListTilesResponse
	Pins   map[string]market.Pin // by market id
	Failed error                 // error of reading the pins; the tiles are then complete but without pins
}

// ListTiles returns the heatmap tiles of a mode. In the default mode "", pinned markets come first, and the label of a pin
// replaces the label of the tile.
func ListTiles(
	ctx context.Context, ledger cataloguev1.CatalogueReadServiceClient, pins market.Store, mode string,
) (Tiles, error) {
	out, q := Tiles{Pins: map[string]market.Pin{}}, &cataloguev1.ListTilesRequest{Mode: mode}
	if mode == "" {
		var list []market.Pin
		list, out.Failed = pins.Pins(ctx, market.MaxTiles)
		for _, p := range list {
			q.Pinned, out.Pins[string(p.MarketID)] = append(q.Pinned, string(p.MarketID)), p
		}
	}
	r, err := ledger.ListTiles(ctx, q)
	for _, t := range r.GetTiles() {
		if label := out.Pins[t.GetMarketId()].Label; label != nil {
			t.Label = *label
		}
	}
	out.ListTilesResponse = r
	return out, err
}
