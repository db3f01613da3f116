package feed

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/signalcast/signalcast/pkg/protocol"
)

func TestParseChannel(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Channel{
		"signals": Signals, "resolutions": Resolutions, "signals:lane:SCIENCE": "signals:lane:SCIENCE",
		"market:701122": "market:701122", "market:kalshi-KX.A": "market:kalshi-KX.A", "market:native-01hv3q8m2r": "market:native-01hv3q8m2r",
		"operator:mara_k": "operator:mara_k", "operator:Mara_K": "operator:mara_k",
		"overlay:Mara_K": "overlay:mara_k", "live": Live, "wire": Wire, "pulse": Pulse, "me": Me,
		"prices": Prices, "prices:SCIENCE": "prices:SCIENCE",
		"program:default": "program:default", "program:hot:SCIENCE": "program:hot:SCIENCE",
	} {
		if got, ok := ParseChannel(text); !ok || got != want {
			t.Errorf("ParseChannel(%s) = %q, %v", text, got, ok)
		}
	}
	for _, text := range []string{
		"", "signal", "Signals", "signals ", "signals:", "signals:lane:", "signals:lane:science", "signals:lane:OTHER", "signals:lane:NEWS",
		"market", "market:", "market:???", "market:polymarket:1", "market:..", "market:1\n", "operator:", "operator:a", "operator:mara k", "operator:mära",
		"overlay:", "overlay:a b", "live:1", "program:", "program:quiet", "program:hot:", "program:hot:OTHER", "program:hot:science", "program:hot:SCIENCE:1",
		"me:mara_k", "resolutions:1", "prices:", "prices:OTHER", "prices:science", "prices:lane:SCIENCE", "prices.moved",
	} {
		if got, ok := ParseChannel(text); ok {
			t.Errorf("%q is accepted as %q", text, got)
		}
	}
}

// TestChannelsAgreeWithTypes checks that an event is on a channel exactly if its type is one of the types of the channel and it
// has the market, lane or operator of the channel. The database filters by the same rule.
func TestChannelsAgreeWithTypes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		e := Event{
			Type:     rapid.SampledFrom(Types[:]).Draw(t, "type"),
			MarketID: rapid.SampledFrom([]string{"", "1", "kalshi-X"}).Draw(t, "market"),
			Lane:     string(rapid.SampledFrom(protocol.Lanes[:]).Draw(t, "lane")),
			Handle:   rapid.SampledFrom([]string{"", "mara", "tide"}).Draw(t, "handle"),
			Topic:    rapid.SampledFrom([]string{"", "program:hot", "program:hot:SCIENCE"}).Draw(t, "topic"),
		}
		on := e.Channels()
		all := []Channel{
			Signals, Resolutions, Live, Wire, Pulse, Prices, PricesChannel("SCIENCE"), MarketChannel("1"), MarketChannel("kalshi-X"), OperatorChannel("mara"), OperatorChannel("tide"),
			MeChannel("mara"), MeChannel("tide"), OverlayChannel("mara"), "program:hot", "program:hot:SCIENCE", "program:close",
		}
		for _, l := range protocol.Lanes {
			if l.Filterable() {
				all = append(all, LaneChannel(string(l)))
			}
		}
		for _, c := range all {
			want := slices.Contains(c.Types(), e.Type) &&
				(c.MarketID() == "" || c.MarketID() == e.MarketID) && (c.Lane() == "" || c.Lane() == e.Lane) && (c.Handle() == "" || c.Handle() == e.Handle) &&
				(c.Owner() == "" || c.Owner() == e.Handle) && (c.Topic() == "" || c.Topic() == e.Topic)
			if slices.Contains(on, c) != want {
				t.Fatalf("Channels of %+v contain %s: %v", e, c, !want)
			}
			if _, ok := ParseChannel(c.Shown()); !ok {
				t.Fatalf("ParseChannel rejects %s", c)
			}
			if known, ok := KnownChannel(string(c)); !ok || known != c {
				t.Fatalf("KnownChannel rejects %s", c)
			}
		}
		for _, c := range on {
			if !slices.Contains(all, c) {
				t.Fatalf("%+v is on the unexpected channel %s", e, c)
			}
		}
	})
}
