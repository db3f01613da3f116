package protocol_test

import (
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// requireExact checks that a parser accepts the listed words and no other spelling.
func requireExact[T ~string](t *testing.T, name string, parse func(string) (T, bool), words ...T) {
	t.Helper()
	for _, w := range words {
		if got, ok := parse(string(w)); !ok || got != w {
			t.Errorf("%s: %q was rejected", name, w)
		}
		for _, bad := range []string{" " + string(w), string(w) + "\n", "x" + string(w), ""} {
			if got, ok := parse(bad); ok || got != "" {
				t.Errorf("%s: %q was accepted", name, bad)
			}
		}
	}
	for _, bad := range []string{"yes", "Yes", "Open", "PENDING", "politics"} {
		if _, ok := parse(bad); ok {
			t.Errorf("%s: %q was accepted", name, bad)
		}
	}
}

func TestParsers(t *testing.T) {
	t.Parallel()
	requireExact(t, "side", protocol.ParseSide, protocol.Yes, protocol.No)
	requireExact(t, "verdict", protocol.ParseVerdict, protocol.VerdictYes, protocol.VerdictNo, protocol.VerdictInvalid)
	requireExact(t, "market status", protocol.ParseMarketStatus, protocol.MarketOpen, protocol.MarketClosed, protocol.MarketResolved, protocol.MarketUnknown)
	requireExact(t, "operator type", protocol.ParseOperatorType, protocol.Human, protocol.AIAgent, protocol.SystemBot)
	requireExact(t, "tier", protocol.ParseTier, protocol.Independent, protocol.House, protocol.Automated)
	requireExact(t, "lane", protocol.ParseLane, protocol.Lanes[:]...)
	requireExact(t, "provider", protocol.ParseProvider, protocol.Providers[:]...)
	if len(protocol.Lanes) != 11 {
		t.Errorf("%d lanes, want 11", len(protocol.Lanes))
	}
}

func TestSide(t *testing.T) {
	t.Parallel()
	if s, ok := protocol.VerdictNo.Side(); !ok || s != protocol.No {
		t.Error("the verdict NO must have the side NO")
	}
	if _, ok := protocol.VerdictInvalid.Side(); ok {
		t.Error("the verdict INVALID must have no side")
	}
}

func TestBps(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]bool{-1: false, 0: true, 10000: true, 10001: false, 1 << 40: false} {
		if b, ok := protocol.NewBps(n); ok != want || ok && (!b.Valid() || int64(b) != n) {
			t.Errorf("NewBps(%d) = %d, %v", n, b, ok)
		}
	}
	for p, want := range map[float64]protocol.Bps{0: 0, 1: 10000, 0.615: 6150, 0.28995: 2900, 0.00015: 2, 0.00005: 1, 0.00004999: 0, 0.99995: 10000, 0.315: 3150} {
		if b, ok := protocol.BpsOfProbability(p); !ok || b != want {
			t.Errorf("BpsOfProbability(%v) = %d, %v, want %d", p, b, ok, want)
		}
	}
	nan := 0.0
	for _, p := range []float64{-0.1, 1.1, nan / nan} {
		if _, ok := protocol.BpsOfProbability(p); ok {
			t.Errorf("BpsOfProbability(%v) accepted", p)
		}
	}
	if b := protocol.Bps(3150); b.Percent() != 31.5 || b.Probability() != 0.315 {
		t.Errorf("%d bps are %v %%, probability %v", b, b.Percent(), b.Probability())
	}
	if b := protocol.Bps(3150); b.Of(protocol.Yes) != 3150 || b.Of(protocol.No) != 6850 || b.Of(protocol.No).Of(protocol.No) != b {
		t.Error("Of returned a wrong price")
	}
}

func TestLaneFilter(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]protocol.Lane{
		"POLITICS": "POLITICS", "politics": "POLITICS", "Entertainment": "ENTERTAINMENT",
		"OTHER": "", "other": "", "": "", "nope": "", "POLITICS ": "", "ENTERTAINMENTS": "",
	} {
		if got := protocol.LaneFilter(raw); got != want {
			t.Errorf("LaneFilter(%q) = %q, want %q", raw, got, want)
		}
	}
}

func TestWindow(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]time.Duration{
		"15m": 15 * time.Minute, "1h": time.Hour, "6h": 6 * time.Hour, "24h": 24 * time.Hour,
		"": 24 * time.Hour, "7d": 24 * time.Hour, "1H": 24 * time.Hour,
	} {
		if got := protocol.ParseWindow(raw).Duration(); got != want {
			t.Errorf("window %q is %v, want %v", raw, got, want)
		}
	}
}

func TestSource(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]protocol.Source{
		"web": "web", "mobile": "mobile", "embed": "embed", "farcaster": "farcaster",
		"api": "web", "": "web", "WEB": "web", "fax": "web",
	} {
		if got := protocol.ParseSource(raw, "farcaster"); got != want {
			t.Errorf("source %q is %q, want %q", raw, got, want)
		}
	}
	if got := protocol.ParseSource("", ""); got != protocol.SourceWeb {
		t.Errorf("an empty source is %q, want web", got)
	}
}

func TestOperator(t *testing.T) {
	t.Parallel()
	const secret, user = "test-pepper-do-not-use", "did:idp:clx0testuser0001"
	id := protocol.NewPublicID(secret, user)
	if id != "op_c8eb353a8e49313f" {
		t.Errorf("public id %s, want op_c8eb353a8e49313f", id)
	}
	if !protocol.Human.Crowd() || !protocol.AIAgent.Crowd() || protocol.SystemBot.Crowd() {
		t.Error("Crowd must be true for human and ai_agent only")
	}
}

func TestInterval(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 10, 10, 12, 0, 0, 0, time.UTC)
	hour, day, week := now.Add(-time.Hour), now.AddDate(0, 0, -1), now.AddDate(0, 0, -7)
	for raw, want := range map[string]time.Time{
		"1H": hour, "7D": week, "ALL": {}, "24H": day, "": day, "1h": day, "\x00": day,
	} {
		if got := protocol.ParseInterval(raw).Start(now); !got.Equal(want) {
			t.Errorf("interval %q starts at %v, want %v", raw, got, want)
		}
	}
}
