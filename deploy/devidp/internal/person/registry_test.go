package person_test

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/signalcast/signalcast/deploy/devidp/internal/person"
)

// TestJournalIsWrittenFirst checks that a person or a wallet that could not be written to the journal is not in memory either:
// after a restart, it would be missing.
func TestJournalIsWrittenFirst(t *testing.T) {
	t.Parallel()
	const wallet = "0x00000000000000000000000000000000000000aa"
	path := filepath.Join(t.TempDir(), "users.jsonl")
	r, err := person.Open(path, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	p, err := r.Ensure("mara_k")
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil { // every further write fails
		t.Fatal(err)
	}
	if err := r.Link(p.DID(), wallet, person.Ethereum); err == nil {
		t.Error("Link returned no error although the journal cannot be written")
	}
	if _, err := r.ByWallet(wallet); !errors.Is(err, person.ErrUnknown) {
		t.Errorf("ByWallet after the failed Link: %v; want %v", err, person.ErrUnknown)
	}
	if _, err := r.Ensure("ines_q"); err == nil {
		t.Error("Ensure returned no error although the journal cannot be written")
	}
	if _, err := r.ByDID(person.DIDPrefix + "ines_q"); !errors.Is(err, person.ErrUnknown) {
		t.Errorf("ByDID after the failed Ensure: %v; want %v", err, person.ErrUnknown)
	}

	again, err := person.Open(path, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = again.Close() }()
	if err := again.Link(p.DID(), wallet, person.Ethereum); err != nil {
		t.Fatal(err)
	}
	if err := again.Link(p.DID(), wallet, person.Ethereum); err != nil {
		t.Errorf("the second Link of one wallet: %v; want no error", err)
	}
	if owner, err := again.ByWallet(wallet); err != nil || owner.Name != "mara_k" || len(owner.Wallets) != 1 {
		t.Errorf("ByWallet returned %+v, %v; want mara_k with one wallet", owner, err)
	}
}
