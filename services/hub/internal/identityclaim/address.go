package identityclaim

import (
	"encoding/hex"
	"math/big"
	"strings"

	"golang.org/x/crypto/sha3"

	"github.com/signalcast/signalcast/pkg/apperr"
)

// ErrAddress is the error of a text that is not a valid wallet address.
var ErrAddress = apperr.New(apperr.Invalid, "invalid_address",
	"address must be 0x and 40 hex digits (in mixed case with an EIP-55 checksum) or a Solana address").With("field", "address")

// MaxAddress is the maximum length of an address in characters.
const MaxAddress = 44

// Chain is the kind of a wallet, as identity providers name it.
type Chain string

// Kinds of wallets.
const (
	Ethereum Chain = "ethereum" // all chains that use Ethereum addresses
	Solana   Chain = "solana"
)

// Address is a wallet address in canonical form. An Ethereum address has an EIP-55 checksum; a Solana address is unchanged.
type Address struct {
	text  string
	chain Chain
}

// ParseAddress parses an Ethereum or Solana address. Hex digits must be all lower case, all upper case, or have a valid EIP-55
// checksum; any other mixed case is probably a typing error. Error: ErrAddress.
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

// String returns the canonical form of the address, which is stored and shown.
func (a Address) String() string { return a.text }

// Chain returns the kind of the wallet.
func (a Address) Chain() Chain { return a.chain }

// ParsePayout parses an address for payouts. It must be an Ethereum address other than the zero address, because payouts to the
// zero address are lost. Error: ErrAddress.
func ParsePayout(raw string) (Address, error) {
	a, err := ParseAddress(raw)
	if err != nil || a.chain != Ethereum || strings.Trim(a.text, "0x") == "" {
		return Address{}, ErrAddress
	}
	return a, nil
}

// Is reports whether the address equals an address that an identity provider has verified. An empty chain matches any kind of
// wallet. On Ethereum, Is ignores case.
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

// checksum returns 40 hex digits with an EIP-55 checksum: a letter is upper case if the hex digit at its position in the
// Keccak-256 hash of the lower-case text is 8 or more. It returns false for other texts.
func checksum(digits string) (string, bool) {
	lower := strings.ToLower(digits)
	if raw, err := hex.DecodeString(lower); err != nil || len(raw) != 20 {
		return "", false
	}
	h := sha3.NewLegacyKeccak256()
	h.Write([]byte(lower))
	sum := hex.EncodeToString(h.Sum(nil))
	out := []byte(lower)
	for i, c := range out {
		if c >= 'a' && sum[i] >= '8' {
			out[i] = c - 'a' + 'A'
		}
	}
	return string(out), true
}

const base58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

// isSolana reports whether s encodes 32 bytes in base 58. Each leading character 1 encodes a zero byte.
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
