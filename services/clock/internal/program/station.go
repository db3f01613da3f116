package program

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// stationSegments is how much of its programme a station's copy holds; with both
// lists of a segment it stays below what the ledger takes.
const stationSegments = 120

// Station is a partner station with a programme of its own.
type Station struct {
	ID        string
	Lanes     []string // content lanes; none: those of the default channel
	Providers []string // none: all
}

// StationChannel names the stored channel of a station. No station can have the name
// of another channel: the point stands in none of theirs.
func StationChannel(id string) string { return "station." + id }

// query is what the station's rundown is filled from. Lanes that do not exist are left
// out; with none left it airs what a station without lanes airs.
func (s *Station) query(lanes []Lane) Query {
	var set laneSet
	for _, name := range s.Lanes {
		for _, l := range ParseLanes(strings.ToUpper(name)) {
			set = set.with(l)
		}
	}
	return NewQuery(Default, Spec{categories: set}, s.Providers, lanes)
}

// StationDeps are what a StationDesk is made of.
type StationDeps struct {
	Store   Store
	Copies  *Copies
	Active  func(context.Context) ([]Station, error)                              // the active stations of the ledger
	Publish func(ctx context.Context, id string, at time.Time, data []byte) error // stores a programme in the ledger
	Words   func(*Program) ([]byte, error)                                        // writes a programme as its route shows it
	Lanes   []Lane                                                                // of the default channel
	Now     func() time.Time
}

// StationDesk keeps the rundowns of the stations filled and hands what they air to the
// ledger. One goroutine of one replica works it.
type StationDesk struct {
	StationDeps

	keepers map[string]*Keeper // by station
	logged  map[string]Slot    // the slot whose start is on record, by station
	wanted
}

// NewStationDesk returns a desk without rundowns.
func NewStationDesk(d StationDeps) *StationDesk {
	return &StationDesk{StationDeps: d, keepers: make(map[string]*Keeper), logged: make(map[string]Slot)}
}

// Round fills the rundown of every active station, logs what began on it, and hands the
// programme to the ledger. A programme that is less than whole is left out: the copy
// before it stays. A station that fails does not keep the others back.
func (d *StationDesk) Round(ctx context.Context) error {
	list, err := d.Active(ctx)
	if err != nil {
		return fmt.Errorf("list stations: %w", err)
	}
	keepers := make(map[string]*Keeper, len(list))
	var failed []error
	for i := range list {
		s := &list[i]
		keepers[s.ID] = d.keeper(s)
		if err := d.serve(ctx, s.ID, keepers[s.ID]); err != nil {
			failed = append(failed, fmt.Errorf("programme of station %s: %w", s.ID, err))
		}
	}
	d.keepers = keepers
	var all []protocol.MarketID
	for _, k := range d.keepers {
		all = append(all, k.Needed()...)
	}
	d.set(all)
	return errors.Join(failed...)
}

// keeper is the one of the station; a station that airs something else gets another.
func (d *StationDesk) keeper(s *Station) *Keeper {
	q := s.query(d.Lanes)
	if k := d.keepers[s.ID]; k != nil && k.query.Key() == q.Key() {
		return k
	}
	return &Keeper{
		channel: StationChannel(s.ID), store: d.Store, markets: &d.Copies.Markets, rundown: new(atomic.Pointer[Rundown]), query: q, now: d.Now,
	}
}

func (d *StationDesk) serve(ctx context.Context, id string, k *Keeper) error {
	done, err := k.Fill(ctx)
	if err != nil {
		return err
	}
	if err := d.log(ctx, id, done.Airings); err != nil {
		return err
	}
	now := d.Now()
	p := showStored(k.channel, k.rundown.Load(), d.Copies.Markets.Load(), now)
	if p.Degraded != "" {
		return nil
	}
	data, err := d.Words(p.Cut(stationSegments))
	if err != nil {
		return err
	}
	return d.Publish(ctx, id, p.GeneratedAt, data)
}

// log puts what began on record, once for each slot: on a fresh desk all that the
// rundown still knows.
func (d *StationDesk) log(ctx context.Context, id string, airings []Airing) error {
	if len(airings) == 0 {
		return nil
	}
	last := slices.MaxFunc(airings, func(a, b Airing) int { return int(a.Slot - b.Slot) }).Slot
	if d.logged[id] == last {
		return nil
	}
	if _, err := d.Store.Tell(ctx, Telling{Airings: airings, Now: d.Now()}); err != nil {
		return fmt.Errorf("log airings: %w", err)
	}
	d.logged[id] = last
	return nil
}
