package person

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// maxPeople is the maximum number of users, which bounds the memory of the process.
const maxPeople = 500_000

//go:embed seed.json
var seed []byte

// line is one entry of the journal: a new user, or a wallet linked to a user.
type line struct {
	User    string    `json:"user"`
	Address string    `json:"address,omitempty"`
	Chain   Chain     `json:"chainType,omitempty"`
	At      time.Time `json:"at"`
}

// Registry holds all users and their wallets in memory, and writes new ones to a journal from which Open restores them. It is
// safe for concurrent use.
type Registry struct {
	now func() time.Time

	mu      sync.Mutex
	people  map[string]*Person // by name
	order   []string           // names in the order of creation
	wallets map[string]string  // wallet key to name
	journal *os.File
}

// Open returns a registry with the users of seed.json and of the journal at path. It creates the journal if it does not
// exist. The function now returns the current time.
func Open(path string, now func() time.Time) (*Registry, error) {
	r := &Registry{now: now, people: map[string]*Person{}, wallets: map[string]string{}}
	if err := r.addSeed(); err != nil {
		return nil, fmt.Errorf("seed users: %w", err)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open user journal: %w", err)
	}
	r.journal = f
	if err := r.replay(); err != nil {
		return nil, fmt.Errorf("read user journal: %w", errors.Join(err, f.Close()))
	}
	return r, nil
}

// replay applies the entries of the journal. A crash can leave an incomplete last line. replay ignores it and adds a line end
// before the next entry.
func (r *Registry) replay() error {
	raw, err := io.ReadAll(r.journal)
	if err != nil {
		return err
	}
	for text := range bytes.Lines(raw) {
		var l line
		if json.Unmarshal(text, &l) != nil || !nameForm.MatchString(l.User) {
			continue
		}
		r.add(l.User, l.User, l.At)
		if l.Address != "" {
			_ = r.link(l.User, Wallet{l.Address, l.Chain, l.At}, nil) // a wallet that can no longer be linked is ignored
		}
	}
	if len(raw) > 0 && !bytes.HasSuffix(raw, []byte("\n")) {
		_, err = r.journal.WriteString("\n")
	}
	return err
}

// Close closes the journal.
func (r *Registry) Close() error { return r.journal.Close() }

// addSeed adds the users of the embedded file seed.json.
func (r *Registry) addSeed() error {
	var people []struct {
		User, Name string
		Wallets    []struct {
			Address   string
			ChainType Chain
		}
	}
	if err := json.Unmarshal(seed, &people); err != nil {
		return err
	}
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, p := range people {
		if !nameForm.MatchString(p.User) {
			return ErrName
		}
		r.add(p.User, p.Name, start)
		r.people[p.User].Seeded = true
		for _, w := range p.Wallets {
			if err := r.link(p.User, Wallet{w.Address, w.ChainType, start}, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *Registry) add(name, display string, at time.Time) {
	if _, known := r.people[name]; !known {
		r.people[name] = &Person{Name: name, Display: display, Created: at}
		r.order = append(r.order, name)
	}
}

// link links a wallet to a person. Before a wallet is linked, link calls the function store, unless it is nil. An error of store
// leaves the wallet unlinked.
func (r *Registry) link(name string, w Wallet, store func() error) error {
	key, err := w.key()
	if err != nil {
		return err
	}
	switch owner, linked := r.wallets[key]; {
	case linked && owner != name:
		return ErrTaken
	case !linked:
		if store != nil {
			if err := store(); err != nil {
				return err
			}
		}
		r.wallets[key] = name
		p := r.people[name]
		p.Wallets = append(slices.Clip(p.Wallets), w)
	}
	return nil
}

func (r *Registry) write(l line) error {
	raw, err := json.Marshal(l)
	if err != nil {
		return err
	}
	if _, err := r.journal.Write(append(raw, '\n')); err != nil {
		return fmt.Errorf("write user journal: %w", err)
	}
	return nil
}

// Ensure returns the person with a user name, and adds the person if there is none. Errors: ErrName, ErrFull, or an error of
// the journal.
func (r *Registry) Ensure(name string) (Person, error) {
	if !nameForm.MatchString(name) {
		return Person{}, ErrName
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if p, known := r.people[name]; known {
		return *p, nil
	}
	if len(r.people) >= maxPeople {
		return Person{}, ErrFull
	}
	l := line{User: name, At: r.now().UTC()}
	if err := r.write(l); err != nil {
		return Person{}, err
	}
	r.add(name, name, l.At)
	return *r.people[name], nil
}

// ByDID returns the person whose tokens have the given subject. Error: ErrUnknown.
func (r *Registry) ByDID(did string) (Person, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	name, ok := strings.CutPrefix(did, DIDPrefix)
	if p, known := r.people[name]; ok && known {
		return *p, nil
	}
	return Person{}, ErrUnknown
}

// ByWallet returns the person to whom a wallet address is linked. Error: ErrUnknown.
func (r *Registry) ByWallet(address string) (Person, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, chain := range []Chain{Ethereum, Solana} {
		key, err := Wallet{Address: address, Chain: chain}.key()
		if p, known := r.people[r.wallets[key]]; err == nil && known {
			return *p, nil
		}
	}
	return Person{}, ErrUnknown
}

// Link links a wallet to the person whose tokens have the given subject. A repeated Link does not change the person. Errors:
// ErrUnknown, ErrWallet, ErrTaken, or an error of the journal.
func (r *Registry) Link(did, address string, chain Chain) error {
	p, err := r.ByDID(did)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	w := Wallet{address, chain, r.now().UTC()}
	return r.link(p.Name, w, func() error {
		return r.write(line{User: p.Name, Address: address, Chain: chain, At: w.Linked})
	})
}

// List returns at most limit people in the order of their creation. People from seed.json come first.
func (r *Registry) List(limit int) []Person {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make([]Person, 0, min(limit, len(r.order)))
	for _, name := range r.order[:min(limit, len(r.order))] {
		out = append(out, *r.people[name])
	}
	return out
}
