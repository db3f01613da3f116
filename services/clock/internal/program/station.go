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

// stationSegments is the maximum number of segments in the published programme of a station. It limits the size of the JSON.
const stationSegments = 120

// Station is a partner station. Each partner station has a separate stored channel.
type Station struct {
	ID        string
	Lanes     []string // content lanes; empty: the lanes of the default channel
	Providers []string // empty: all providers
}

// StationChannel returns the name of the stored channel of the station with this ID. No other channel name contains a dot, so the
// names cannot collide.
func StationChannel(id string) string { return "station." + id }

// query returns the query that selects the markets for the rundown of the station. It ignores unknown lanes. If no lane is
// known, the query uses the parameter lanes, which contains the lanes of the default channel.
func (s *Station) query(lanes []Lane) Query {
	var set laneSet
	for _, name := range s.Lanes {
		for _, l := range ParseLanes(strings.ToUpper(name)) {
			set = set.with(l)
		}
	}
	return NewQuery(Default, Spec{categories: set}, s.Providers, lanes)
}

// StationConfig contains the dependencies of a StationPlanner.
type StationConfig struct {
	Store   Store
	Copies  *Copies
	Active  func(context.Context) ([]Station, error)                              // returns the active stations
	Publish func(ctx context.Context, id string, at time.Time, data []byte) error // stores the programme of a station in the ledger
	Encode  func(*Program) ([]byte, error)                                        // encodes a programme as JSON
	Lanes   []Lane                                                                // lanes of the default channel
	Now     func() time.Time
}

// StationPlanner fills the rundowns of all active stations and publishes their programmes to the ledger. Only one goroutine of
// the leader may call FillAll.
type StationPlanner struct {
	StationConfig

	planners map[string]*Planner // by station id
	logged   map[string]Slot     // last slot whose airings are stored, by station id
	neededMarkets
}

// NewStationPlanner returns a StationPlanner. It loads no rundown.
func NewStationPlanner(cfg StationConfig) *StationPlanner {
	return &StationPlanner{StationConfig: cfg, planners: make(map[string]*Planner), logged: make(map[string]Slot)}
}

// FillAll fills the rundown of each active station, stores the airings that have started, and publishes the programme to the
// ledger. It does not publish a degraded programme, so the ledger retains the previous programme. An error for one station does
// not affect the others. FillAll returns all errors, joined.
func (d *StationPlanner) FillAll(ctx context.Context) error {
	list, err := d.Active(ctx)
	if err != nil {
		return fmt.Errorf("list stations: %w", err)
	}
	planners := make(map[string]*Planner, len(list))
	var failed []error
	for i := range list {
		s := &list[i]
		planners[s.ID] = d.planner(s)
		if err := d.fill(ctx, s.ID, planners[s.ID]); err != nil {
			failed = append(failed, fmt.Errorf("fill and publish programme of station %s: %w", s.ID, err))
		}
	}
	d.planners = planners
	var all []protocol.MarketID
	for _, k := range planners {
		all = append(all, k.Needed()...)
	}
	d.set(all)
	return errors.Join(failed...)
}

// planner returns the existing Planner of the station. It returns a new one if there is none, or if the lanes or providers of the
// station have changed.
func (d *StationPlanner) planner(s *Station) *Planner {
	q := s.query(d.Lanes)
	if k := d.planners[s.ID]; k != nil && k.query.Key() == q.Key() {
		return k
	}
	return &Planner{
		channel: StationChannel(s.ID), store: d.Store, markets: &d.Copies.Markets, rundown: new(atomic.Pointer[Rundown]),
		query: q, now: d.Now,
	}
}

// fill fills the rundown of one station with the planner k, and stores the airings of the station. Unless the programme is
// degraded, fill also publishes it. id is the ID of the station.
func (d *StationPlanner) fill(ctx context.Context, id string, k *Planner) error {
	done, err := k.Fill(ctx)
	if err != nil {
		return err
	}
	if err := d.storeAirings(ctx, id, done.Airings); err != nil {
		return err
	}
	now := d.Now()
	p := showStored(k.channel, k.rundown.Load(), d.Copies.Markets.Load(), now)
	if p.Degraded != "" {
		return nil
	}
	data, err := d.Encode(p.Cut(stationSegments))
	if err != nil {
		return err
	}
	return d.Publish(ctx, id, p.GeneratedAt, data)
}

// storeAirings stores the airings of a station, unless it has already stored those of the newest slot. id is the ID of the
// station.
func (d *StationPlanner) storeAirings(ctx context.Context, id string, airings []Airing) error {
	if len(airings) == 0 {
		return nil
	}
	last := slices.MaxFunc(airings, func(a, b Airing) int { return int(a.Slot - b.Slot) }).Slot
	if d.logged[id] == last {
		return nil
	}
	if _, err := d.Store.Publish(ctx, Publication{Airings: airings, Now: d.Now()}); err != nil {
		return fmt.Errorf("store airings: %w", err)
	}
	d.logged[id] = last
	return nil
}
