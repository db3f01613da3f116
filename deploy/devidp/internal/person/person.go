package person

import (
	"errors"
	"regexp"
	"strings"
	"time"
)

// DIDPrefix begins every subject of this issuer.
const DIDPrefix = "did:idp:"

// Chain is the kind of a wallet.
type Chain string

// The chains.
const (
	Ethereum Chain = "ethereum"
	Solana   Chain = "solana"
)

// Person is a user of the development issuer.
type Person struct {
	Name    string // what mint and login take
	Display string
	Created time.Time
	Seeded  bool
	Wallets []Wallet
}

// DID is the subject of the person's tokens: stable, made of the name.
func (p Person) DID() string { return DIDPrefix + p.Name }

// Wallet is a linked wallet.
type Wallet struct {
	Address string
	Chain   Chain
	Linked  time.Time
}

// Faults.
var (
	ErrName    = errors.New("a user name is 1 to 64 letters, digits, dots, dashes or underscores and begins with a letter or digit")
	ErrWallet  = errors.New("the address does not fit its chainType, ethereum or solana")
	ErrTaken   = errors.New("the wallet is linked to another user")
	ErrUnknown = errors.New("no such user")
	ErrFull    = errors.New("the issuer knows as many users as it may")
)

var (
	nameForm     = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)
	ethereumForm = regexp.MustCompile(`^0x[0-9a-fA-F]{40}$`)
	solanaForm   = regexp.MustCompile(`^[1-9A-HJ-NP-Za-km-z]{32,44}$`)
)

// key is how a wallet is compared: without case on Ethereum, exactly on Solana.
func (w Wallet) key() (string, error) {
	switch {
	case w.Chain == Ethereum && ethereumForm.MatchString(w.Address):
		return "ethereum:" + strings.ToLower(w.Address), nil
	case w.Chain == Solana && solanaForm.MatchString(w.Address):
		return "solana:" + w.Address, nil
	}
	return "", ErrWallet
}
