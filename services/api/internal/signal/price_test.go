package signal

import (
	"fmt"
	"strings"
	"testing"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
)

func bps(n int) *protocol.Bps { b := protocol.Bps(n); return &b }

func TestWarnings(t *testing.T) {
	t.Parallel()
	draft := Draft{Side: protocol.No, Price: 3000}
	for _, c := range []struct {
		prices Prices
		want   string
	}{
		{Prices{Stated: 7000, No: bps(7100), Verified: true, Rated: true}, "[price_converted]"},
		{Prices{Stated: 3000, No: bps(4000), Verified: true, Rated: true}, "[]"},
		{Prices{Stated: 3000, No: bps(4001), Verified: true, Rated: true}, "[price_off_market]"},
		{Prices{Stated: 3000}, "[price_unverified market_unrated]"},
	} {
		if got := fmt.Sprint(c.prices.Warnings(draft)); got != c.want {
			t.Errorf("%+v: %s, want %s", c.prices, got, c.want)
		}
	}
	middle, dry := protocol.Bps(4150), Draft{Side: protocol.Yes, Price: 68, Venue: VenueSkipped}
	if got := fmt.Sprint(Prices{Stated: 68, Rated: true, MarketYes: &middle}.Warnings(dry)); got != "[price_off_market price_unverified]" {
		t.Errorf("dry run without a fresh quote: %s", got)
	}
}

func TestMoveVectors(t *testing.T) {
	t.Parallel()
	if got := Move(protocol.Yes, 3150, 3600); got != 450 {
		t.Error(got)
	}
	if got := Move(protocol.No, 6850, 3600); got != -450 {
		t.Error(got)
	}
}

func TestPriceMovedMessage(t *testing.T) {
	t.Parallel()
	draft := Draft{MarketID: "7", Side: protocol.No, Price: 3000, MaxSlippage: bps(99)} // the stored price is 7000
	prices := Prices{Stated: 7000, MarketYes: bps(3000), Yes: bps(3100), No: bps(7100)}
	for verdict, want := range map[Verdict]struct {
		prices Prices
		text   string
		no     any
	}{
		VerdictMoved:      {prices, "NO costs 7100 bps, but you stated 7000 bps and accept at most 99 bps more; state the current price or raise maxSlippageBps", 7100},
		VerdictUnverified: {Prices{Stated: 7000}, "the market has no fresh quote, so maxSlippageBps cannot be checked; retry later, or set allowUnverified", nil},
	} {
		_, err := Filing{Verdict: verdict, Prices: want.prices}.answer(draft)
		f := apperr.Of(err)
		if f.Code != "price_moved" || !strings.HasPrefix(f.Message, want.text) || f.Extra["reason"] != string(verdict) || f.Extra["marketId"] != "7" || f.Extra["noPriceBps"] != want.no {
			t.Errorf("verdict %s: error %v with members %v", verdict, f, f.Extra)
		}
	}
}
