package postgres

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/services/clock/internal/program"
)

// TestDirectorRefreshesMarkets checks that a market that is newer than the copy of the markets can air, because the copy is
// refreshed. While the ledger is unavailable, the error for an unknown market is ErrNoProgram, not ErrNotAirable.
func TestDirectorRefreshesMarkets(t *testing.T) {
	b := setup(t)
	b.refresh = func(context.Context) error { return program.ErrNoProgram }
	d := b.director()
	if _, err := d.Preempt(t.Context(), program.PreemptDraft{Market: "7"}); !errors.Is(err, program.ErrNoProgram) {
		t.Errorf("without the ledger: %v", err)
	}
	b.refresh = func(context.Context) error {
		b.copies.Markets.Store(program.NewPool([]program.Market{market(7, "film", b.now)}, b.now, 2))
		return nil
	}
	d = b.director()
	if p, err := d.Preempt(t.Context(), program.PreemptDraft{Market: "7"}); err != nil || p.Lane != "film" {
		t.Errorf("%+v, %v", p, err)
	}
	if _, err := d.Preempt(t.Context(), program.PreemptDraft{Market: "8"}); !errors.Is(err, program.ErrNotAirable) {
		t.Errorf("unknown to the ledger: %v", err)
	}
	refreshes := 0
	b.refresh = func(context.Context) error { // the first refresh started before the market was stored
		list, at := []program.Market{market(1, "sports", b.now)}, b.now.Add(-time.Second)
		if refreshes++; refreshes > 1 {
			list, at = append(list, market(9, "music", b.now)), b.now
		}
		b.copies.Markets.Store(program.NewPool(list, at, uint64(2+refreshes)))
		return nil
	}
	d = b.director()
	if _, err := d.Preempt(t.Context(), program.PreemptDraft{Market: "9"}); err != nil || refreshes != 2 {
		t.Errorf("after %d refreshes: %v", refreshes, err)
	}
}

func TestDirector(t *testing.T) {
	b := setup(t)
	k := b.slot + 3
	b.now = k.Start().Add(5 * time.Second)
	d := b.director()
	ending := market(8, "crypto", b.now)
	ending.End = k.Start().Add(20 * time.Minute).UnixMilli()
	b.copies.Markets.Store(program.NewPool([]program.Market{market(1, "film", b.now), market(7, "news", b.now), ending}, b.now, 1))
	far := (k + 100).Start()
	for _, c := range []struct {
		name  string
		draft program.PreemptDraft
		first program.Slot
		lane  program.Lane
		err   error
	}{
		{"the next slot", program.PreemptDraft{Market: "1"}, k + 1, "film", nil},
		{"two slots", program.PreemptDraft{Market: "1", Slots: 2}, k + 1, "film", nil},
		{"at a boundary", program.PreemptDraft{Market: "7", Lane: "sports", StartsAt: far}, k + 100, "sports", nil},
		{"after a boundary", program.PreemptDraft{Market: "7", Lane: "SPORT", StartsAt: far.Add(time.Millisecond)}, k + 101, "sports", nil},
		{"in the past", program.PreemptDraft{Market: "1", StartsAt: b.now.Add(-time.Hour)}, k + 1, "film", nil},
		{"too far", program.PreemptDraft{Market: "1", StartsAt: b.now.Add(7*24*time.Hour + 1)}, 0, "", program.ErrStartsAt},
		{"too many slots", program.PreemptDraft{Market: "1", Slots: 7}, 0, "", program.ErrSlots},
		{"reason is too long", program.PreemptDraft{Market: "1", Reason: strings.Repeat("ä", 181)}, 0, "", program.ErrReason},
		{"unknown market", program.PreemptDraft{Market: "5"}, 0, "", program.ErrNotAirable},
		{"market ends before", program.PreemptDraft{Market: "8", Slots: 2}, 0, "", program.ErrNotAirable},
		{"lane is not on the channel", program.PreemptDraft{Market: "7"}, 0, "", program.ErrLane},
		{"two lanes", program.PreemptDraft{Market: "7", Lane: "ENTERTAINMENT"}, 0, "", program.ErrLane},
		{"unknown lane", program.PreemptDraft{Market: "1", Lane: "x"}, 0, "", program.ErrLane},
	} {
		b.changed.Store(0)
		p, err := d.Preempt(t.Context(), c.draft)
		if !errors.Is(err, c.err) || c.err == nil && (p.Slot != c.first || p.Lane != c.lane || b.changed.Load() != 1) {
			t.Errorf("%s: %+v, %v", c.name, p, err)
		}
		if err == nil {
			if _, err := d.Cancel(t.Context(), p.ID); err != nil {
				t.Error(err)
			}
		}
	}

	// Less than two seconds before a slot, an entry starts with the slot after it. Without fresh markets, an entry is rejected.
	b.now = (k + 1).Start().Add(-time.Second)
	b.copies.Markets.Store(b.copies.Markets.Load().Confirmed(b.now))
	if p, err := d.Preempt(t.Context(), program.PreemptDraft{Market: "1"}); err != nil || p.Slot != k+2 {
		t.Errorf("a second before: %+v, %v", p, err)
	}
	b.now = b.now.Add(31 * time.Second)
	if _, err := d.Preempt(t.Context(), program.PreemptDraft{Market: "1"}); apperr.Of(err).Code != "signal_service_unavailable" {
		t.Errorf("without markets: %v", err)
	}
}
