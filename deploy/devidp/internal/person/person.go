package person

import (
	"errors"
	"regexp"
	"strings"
	"time"
)

// DIDPrefix is the prefix of every token subject of this issuer.
const DIDPrefix = "did:idp:"

// Chain is the blockchain to which a wallet belongs.
type Chain string

// Supported chains.
const (
	Ethereum Chain = "ethereum"
	Solana   Chain = "solana"
)

// Person is a user of the development issuer.
type Person struct {
	Name    string // user name of POST /mint and of the login page
	Display string // name that pages show
	Created time.Time
	Seeded  bool // from seed.json
	Wallets []Wallet
}

// DID returns the subject of the person's tokens. It depends only on the name.
func (p Person) DID() string { return DIDPrefix + p.Name }

// Wallet is a wallet that is linked to a person.
type Wallet struct {
	Address string
	Chain   Chain
	Linked  time.Time
}

// Errors of the methods of Registry.
var (
	ErrName    = errors.New("user must be 1 to 64 letters, digits, dots, dashes or underscores and start with a letter or digit")
	ErrWallet  = errors.New("address must be a wallet address of chainType, which must be ethereum or solana")
	ErrTaken   = errors.New("the wallet is linked to another user")
	ErrUnknown = errors.New("user not found")
	ErrFull    = errors.New("limit of 500000 users reached")
)

var (
	nameForm     = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)
	ethereumForm = regexp.MustCompile(`^0x[0-9a-fA-F]{40}$`)
	solanaForm   = regexp.MustCompile(`^[1-9A-HJ-NP-Za-km-z]{32,44}$`)
)

// key returns the text that identifies a wallet. Ethereum addresses are compared without case, Solana addresses exactly. Error:
// ErrWallet if the address is not valid for the chain.
func (w Wallet) key() (string, error) {
	switch {
	case w.Chain == Ethereum && ethereumForm.MatchString(w.Address):
		return "ethereum:" + strings.ToLower(w.Address), nil
	case w.Chain == Solana && solanaForm.MatchString(w.Address):
		return "solana:" + w.Address, nil
	}
	return "", ErrWallet
}
