package program

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// stationSegments is how much of its programme a station's copy holds; with both
// lists of a segment it stays below what the ledger takes.
const stationSegments = 120

// Station is a partner station with a programme of its own.
type Station struct {
	ID        string
	Lanes     []string // content lanes; none: all
	Providers []string // none: all
}

// Stations knows the active stations, and takes the copies of their programmes.
type Stations interface {
	ActiveStations(ctx context.Context) ([]Station, error)
	PublishStation(ctx context.Context, id string, at time.Time, data []byte) error
}

// request asks for what the station airs: without lanes and providers the stored
// channel.
func (s *Station) request() Request {
	r := Request{Providers: s.Providers}
	var keys []string
	for _, name := range s.Lanes {
		for _, l := range ParseLanes(strings.ToUpper(name)) {
			keys = append(keys, `"`+string(l)+`"`)
		}
	}
	if len(keys) > 0 {
		r.Spec = `{"categories":[` + strings.Join(keys, ",") + `]}`
	}
	return r
}

// TellStations hands the programme of every active station to the ledger, as words
// write it. A programme that is less than whole is left out: the copy before it stays.
// One that cannot be handed over does not keep the others back.
func (s *Service) TellStations(ctx context.Context, to Stations, words func(*Program) ([]byte, error)) error {
	list, err := to.ActiveStations(ctx)
	if err != nil {
		return fmt.Errorf("list stations: %w", err)
	}
	var failed []error
	for i := range list {
		p, err := s.Program(list[i].request())
		if err == nil && p.Degraded != "" {
			continue
		}
		var data []byte
		if err == nil {
			data, err = words(p.Cut(stationSegments))
		}
		if err == nil {
			err = to.PublishStation(ctx, list[i].ID, p.GeneratedAt, data)
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("programme of station %s: %w", list[i].ID, err))
		}
	}
	return errors.Join(failed...)
}
