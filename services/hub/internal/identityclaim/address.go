package identityclaim

import (
	"encoding/hex"
	"math/big"
	"strings"

	"golang.org/x/crypto/sha3"

	"github.com/signalcast/signalcast/pkg/apperr"
)

// ErrAddress is the answer to a text that is no address of a wallet.
var ErrAddress = apperr.New(apperr.Invalid, "invalid_address",
	"address is 0x and 40 hex digits, with the checksum of EIP-55 where it has both cases, or a Solana address").With("field", "address")

// MaxAddress is the length of the longest address.
const MaxAddress = 44

// Chain is the kind of a wallet, as identity providers name it.
type Chain string

// The chains.
const (
	Ethereum Chain = "ethereum" // and every other chain with the same addresses
	Solana   Chain = "solana"
)

// Address is the address of a wallet in its one spelling: with checksum on
// Ethereum, as it is on Solana.
type Address struct {
	text  string
	chain Chain
}

// ParseAddress reads an address. Hex digits may be all small, all large, or cased
// as their checksum says: any other mix is a slip of the hand. Fault: ErrAddress.
func ParseAddress(raw string) (Address, error) {
	if digits, ok := strings.CutPrefix(raw, "0x"); ok {
		sum, ok := checksum(digits)
		if !ok || digits != sum && digits != strings.ToLower(digits) && digits != strings.ToUpper(digits) {
			return Address{}, ErrAddress
		}
		return Address{text: "0x" + sum, chain: Ethereum}, nil
	}
	if !isSolana(raw) {
		return Address{}, ErrAddress
	}
	return Address{text: raw, chain: Solana}, nil
}

// String is the spelling that is stored and shown.
func (a Address) String() string { return a.text }

// Chain is the kind of the wallet.
func (a Address) Chain() Chain { return a.chain }

// ParsePayout reads an address that can be paid to: an Ethereum one, and not the zero
// address, from which nothing ever comes back. Fault: ErrAddress.
func ParsePayout(raw string) (Address, error) {
	a, err := ParseAddress(raw)
	if err != nil || a.chain != Ethereum || strings.Trim(a.text, "0x") == "" {
		return Address{}, ErrAddress
	}
	return a, nil
}

// Is compares with an address that a provider has verified, whose chain may not be
// said: without case on Ethereum, byte by byte on Solana.
func (a Address) Is(address, chain string) bool {
	if chain != "" && Chain(chain) != a.chain {
		return false
	}
	if a.chain != Ethereum {
		return address == a.text
	}
	digits, ok := strings.CutPrefix(address, "0x")
	if !ok {
		return false
	}
	sum, ok := checksum(digits)
	return ok && "0x"+sum == a.text
}

// checksum spells 40 hex digits as EIP-55 does: a letter is large where the digit
// at its place in the Keccak-256 of the small spelling is 8 or more.
func checksum(digits string) (string, bool) {
	small := strings.ToLower(digits)
	if raw, err := hex.DecodeString(small); err != nil || len(raw) != 20 {
		return "", false
	}
	h := sha3.NewLegacyKeccak256()
	h.Write([]byte(small))
	sum := hex.EncodeToString(h.Sum(nil))
	out := []byte(small)
	for i, c := range out {
		if c >= 'a' && sum[i] >= '8' {
			out[i] = c - 'a' + 'A'
		}
	}
	return string(out), true
}

const base58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

// isSolana tells whether a text is 32 bytes in base 58, where each leading zero
// byte is one digit 1.
func isSolana(s string) bool {
	if len(s) < 32 || len(s) > MaxAddress {
		return false
	}
	n, base := new(big.Int), big.NewInt(58)
	zeros, leading := 0, true
	for i := range len(s) {
		digit := strings.IndexByte(base58, s[i])
		if digit < 0 {
			return false
		}
		if leading = leading && digit == 0; leading {
			zeros++
		}
		n.Add(n.Mul(n, base), big.NewInt(int64(digit)))
	}
	return zeros+len(n.Bytes()) == 32
}
