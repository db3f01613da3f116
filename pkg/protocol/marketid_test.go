package protocol_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/signalcast/signalcast/pkg/protocol"
)

func TestMarketIDValid(t *testing.T) {
	t.Parallel()
	for _, row := range fixtureLines(t, "market_id_valid.txt") {
		f := strings.Split(row, "\t")
		id, err := protocol.ParseMarketID(f[2])
		if err != nil {
			t.Errorf("%s: %v", f[2], err)
			continue
		}
		if string(id.Provider()) != f[0] || id.NativeKey() != f[1] || id.String() != f[2] {
			t.Errorf("%s: provider %q, key %q", f[2], id.Provider(), id.NativeKey())
		}
		if id.IsNative() != (f[0] == "manual") {
			t.Errorf("%s: IsNative = %v", f[2], id.IsNative())
		}
		built, err := protocol.NewMarketID(protocol.Provider(f[0]), f[1])
		if err != nil || built != id {
			t.Errorf("NewMarketID returned %q, error %v; want %q", built, err, id)
		}
	}
}

func TestMarketIDInvalid(t *testing.T) {
	t.Parallel()
	for _, s := range literals(t, "market_id_invalid.txt") {
		id, err := protocol.ParseMarketID(s)
		if !errors.Is(err, protocol.ErrMarketID) || id != "" {
			t.Errorf("%q was accepted as %q (%v)", s, id, err)
		}
	}
	for p, key := range map[protocol.Provider]string{"polymarket": "kalshi-X", "unknown": "1", "kalshi": "", "manual": ".."} {
		if id, err := protocol.NewMarketID(p, key); err == nil {
			t.Errorf("NewMarketID(%q, %q) = %q, want an error", p, key, id)
		}
	}
	if protocol.MarketID("").Provider() != "" {
		t.Error("the empty id has a provider")
	}
}

func FuzzMarketID(f *testing.F) {
	for _, row := range fixtureLines(f, "market_id_valid.txt") {
		f.Add(strings.Split(row, "\t")[2])
	}
	for _, s := range literals(f, "market_id_invalid.txt") {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		id, err := protocol.ParseMarketID(s)
		if err != nil {
			if id != "" {
				t.Fatalf("ParseMarketID(%q) returned an error and the id %q", s, id)
			}
			return
		}
		if id.String() != s {
			t.Fatalf("ParseMarketID(%q) returned %q", s, id)
		}
		built, err := protocol.NewMarketID(id.Provider(), id.NativeKey())
		if err != nil || built != id {
			t.Fatalf("NewMarketID with the parts of %q returned %q, error %v", id, built, err)
		}
		if key := id.NativeKey(); strings.ContainsAny(key, "/?#%\\ \x00") || strings.HasPrefix(key, ".") {
			t.Fatalf("the key %q would change a request path", key)
		}
	})
}

func TestHandle(t *testing.T) {
	t.Parallel()
	for _, row := range fixtureLines(t, "handle_valid.txt") {
		f := strings.Split(row, "\t")
		h, err := protocol.ParseHandle(f[0])
		if err != nil || h.String() != f[1] {
			t.Errorf("%q: %q, %v", f[0], h, err)
		}
	}
	for _, s := range literals(t, "handle_invalid.txt") {
		if h, err := protocol.ParseHandle(s); !errors.Is(err, protocol.ErrHandle) {
			t.Errorf("%q was accepted as %q", s, h)
		}
	}
}
