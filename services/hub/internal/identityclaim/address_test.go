package identityclaim_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/signalcast/signalcast/services/hub/internal/identityclaim"
)

// spelled lists the example addresses of EIP-55.
var spelled = []string{
	"0x52908400098527886E0F7030069857D2E4169EE7", "0x8617E340B3D01FA5F11F306F4090FD50E238070D",
	"0xde709f2102306220921060314715629080e2fb77", "0x27b1fdb04752bbc536007a920d24acb045561c26",
	"0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
	"0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB", "0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb",
}

const solana = "9hC9hk51efGCBJScEZ73FUj7DTLUTbPUYNxSpQH521if"

func TestEthereumAddresses(t *testing.T) {
	t.Parallel()
	for _, want := range spelled {
		for _, given := range []string{want, "0x" + strings.ToLower(want[2:]), "0x" + strings.ToUpper(want[2:])} {
			a, err := identityclaim.ParseAddress(given)
			if err != nil || a.String() != want || a.Chain() != identityclaim.Ethereum {
				t.Errorf("%s: %s %v", given, a, err)
			}
		}
	}
	// An address with the case of one letter changed has an invalid checksum.
	for i, c := range spelled[4] {
		if i < 2 || c < 'A' {
			continue
		}
		slip := []byte(spelled[4])
		slip[i] ^= 'a' - 'A'
		if _, err := identityclaim.ParseAddress(string(slip)); !errors.Is(err, identityclaim.ErrAddress) {
			t.Errorf("%s: %v", slip, err)
		}
	}
}

func TestInvalidAddresses(t *testing.T) {
	t.Parallel()
	lower := strings.ToLower(spelled[0])
	for _, bad := range []string{
		"", "0x", "0", lower[2:], lower[:41], lower + "0", "0X" + lower[2:], "0x" + strings.Repeat("g", 40), " " + lower, lower + "\n",
		"0x" + strings.Repeat("é", 20), "0x0x" + lower[4:],
		strings.Repeat("1", 31), strings.Repeat("1", 33), strings.Repeat("z", 44), solana + "1", solana[:43] + "0", solana[:43] + "l", solana[:42],
	} {
		if a, err := identityclaim.ParseAddress(bad); !errors.Is(err, identityclaim.ErrAddress) {
			t.Errorf("%q is accepted as %s", bad, a)
		}
	}
}

func TestSolanaAddresses(t *testing.T) {
	t.Parallel()
	for _, good := range []string{solana, strings.Repeat("1", 32), "So11111111111111111111111111111111111111112", "11111111111111111111111111111112"} {
		a, err := identityclaim.ParseAddress(good)
		if err != nil || a.String() != good || a.Chain() != identityclaim.Solana {
			t.Errorf("%s: %s %v", good, a, err)
		}
	}
}

func TestSameAddress(t *testing.T) {
	t.Parallel()
	mixed := spelled[4]
	for _, c := range []struct {
		mine, theirs, chain string
		same                bool
	}{
		{mixed, mixed, "ethereum", true},
		{mixed, strings.ToLower(mixed), "ethereum", true},
		{strings.ToLower(mixed), mixed, "", true},
		{mixed, "0x" + strings.ToUpper(mixed[2:]), "", true},
		{mixed, mixed[2:], "", false},
		{mixed, mixed, "solana", false},
		{mixed, spelled[5], "ethereum", false},
		{mixed, mixed + "0", "", false},
		{mixed, "", "", false},
		{solana, solana, "solana", true},
		{solana, solana, "", true},
		{solana, strings.ToLower(solana), "solana", false},
		{solana, solana, "ethereum", false},
	} {
		a, err := identityclaim.ParseAddress(c.mine)
		if err != nil || a.Is(c.theirs, c.chain) != c.same {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func FuzzAddress(f *testing.F) {
	for _, s := range append(spelled, solana, "", "0x", strings.Repeat("1", 44)) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		a, err := identityclaim.ParseAddress(s)
		if err != nil {
			return
		}
		again, err := identityclaim.ParseAddress(a.String())
		if err != nil || again != a || !a.Is(s, "") || len(a.String()) > identityclaim.MaxAddress {
			t.Errorf("%q has the canonical form %q, which has %q: %v", s, a, again, err)
		}
	})
}
