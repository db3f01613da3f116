package program

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/signalcast/signalcast/pkg/syntax"
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

// Stations knows the active stations, and takes the copies of their programmes.
type Stations interface {
	ActiveStations(ctx context.Context) ([]Station, error)
	PublishStation(ctx context.Context, id string, at time.Time, data []byte) error
}

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

// StationDesk keeps the rundowns of the stations filled and hands what they air to the
// ledger. One goroutine of one replica works it.
type StationDesk struct {
	stations Stations
	store    Store
	markets  Markets
	journal  Journal
	words    func(*Program) ([]byte, error)
	lanes    []Lane
	now      func() time.Time

	keepers map[string]*Keeper // by station
	logged  map[string]Slot    // the slot whose start is on record, by station
	needed  atomic.Pointer[[]syntax.MarketID]
}

// NewStationDesk makes a desk; lanes are those of the default channel, and words
// writes a programme as its route shows it.
func NewStationDesk(stations Stations, store Store, markets Markets, journal Journal, words func(*Program) ([]byte, error), lanes []Lane, now func() time.Time) *StationDesk {
	return &StationDesk{
		stations: stations, store: store, markets: markets, journal: journal, words: words, lanes: lanes, now: now,
		keepers: make(map[string]*Keeper), logged: make(map[string]Slot),
	}
}

// Round fills the rundown of every active station, logs what began on it, and hands the
// programme to the ledger. A programme that is less than whole is left out: the copy
// before it stays. A station that fails does not keep the others back.
func (d *StationDesk) Round(ctx context.Context) error {
	list, err := d.stations.ActiveStations(ctx)
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
	d.need()
	return errors.Join(failed...)
}

// keeper is the one of the station; a station that airs something else gets another.
func (d *StationDesk) keeper(s *Station) *Keeper {
	q := s.query(d.lanes)
	if k := d.keepers[s.ID]; k != nil && k.query.Key() == q.Key() {
		return k
	}
	return newKeeper(StationChannel(s.ID), q, d.store, d.markets, d.now)
}

func (d *StationDesk) serve(ctx context.Context, id string, k *Keeper) error {
	done, err := k.Fill(ctx)
	if err != nil {
		return err
	}
	if err := d.log(ctx, id, done.Airings); err != nil {
		return err
	}
	now := d.now()
	p := showStored(k.channel, k.Rundown(), d.markets.Pool(), now)
	if p.Degraded != "" {
		return nil
	}
	data, err := d.words(p.Cut(stationSegments))
	if err != nil {
		return err
	}
	return d.stations.PublishStation(ctx, id, p.GeneratedAt, data)
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
	if _, err := d.journal.Tell(ctx, Telling{Airings: airings, Now: d.now()}); err != nil {
		return fmt.Errorf("log airings: %w", err)
	}
	d.logged[id] = last
	return nil
}

// need notes the markets of all rundowns.
func (d *StationDesk) need() {
	var all []syntax.MarketID
	for _, k := range d.keepers {
		all = append(all, k.Needed()...)
	}
	slices.Sort(all)
	all = slices.Compact(all)
	d.needed.Store(&all)
}

// Needed lists the markets of the running and coming slots of all stations, each once.
// Anybody may ask at any time.
func (d *StationDesk) Needed() []syntax.MarketID {
	if list := d.needed.Load(); list != nil {
		return *list
	}
	return nil
}
