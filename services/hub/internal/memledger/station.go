package memledger

import (
	"context"
	"maps"
	"slices"

	"github.com/signalcast/signalcast/pkg/fault"
	stationv1 "github.com/signalcast/signalcast/proto/station/v1"
)

// ErrStation is the ledger's answer to an id that is taken.
var ErrStation = fault.New(fault.Conflict, "station_exists", "the id is taken")

// Stationed is a station as this ledger keeps it.
type Stationed struct {
	*stationv1.Station
	Owner string // operator id
}

// CreateStation keeps a station, once for a message.
func (l *Ledger) CreateStation(ctx context.Context, r *stationv1.CreateStationRequest) (*stationv1.CreateStationResponse, error) {
	return do(ctx, l, "CreateStation", func() (*stationv1.CreateStationResponse, error) {
		d := r.GetDraft()
		_, err := l.once(r.GetMessageId(), "station", r.GetOperatorId(), 0, func() (string, error) {
			if l.Stations[d.GetStationId()] != nil {
				return "", ErrStation
			}
			if l.Stations == nil {
				l.Stations = map[string]*Stationed{}
			}
			l.Stations[d.GetStationId()] = &Stationed{Owner: r.GetOperatorId(), Station: &stationv1.Station{
				StationId: d.GetStationId(), Name: d.GetName(), Url: d.GetUrl(), OriginUrl: d.GetUrl(),
				TapesUrl: d.GetTapesUrl(), OperatorsUrl: d.GetOperatorsUrl(), Status: "pending", Lanes: d.GetLanes(),
			}}
			return d.GetStationId(), nil
		})
		return &stationv1.CreateStationResponse{}, err
	})
}

// UpdateStation changes the name and the status of a station, once for a message.
func (l *Ledger) UpdateStation(ctx context.Context, r *stationv1.UpdateStationRequest) (*stationv1.UpdateStationResponse, error) {
	return do(ctx, l, "UpdateStation", func() (*stationv1.UpdateStationResponse, error) {
		_, err := l.once(r.GetMessageId(), "station", r.GetOperatorId(), 0, func() (string, error) {
			s := l.Stations[r.GetDraft().GetStationId()]
			switch {
			case s == nil:
				return "", ErrNotFound
			case s.Owner != r.GetOperatorId():
				return "", ErrForbidden
			}
			if r.GetDraft().Name != nil {
				s.Name = r.GetDraft().GetName()
			}
			if r.GetDraft().Status != nil {
				s.Status = r.GetDraft().GetStatus()
			}
			return s.GetStationId(), nil
		})
		return &stationv1.UpdateStationResponse{}, err
	})
}

// ListActiveStations lists active stations by id.
func (l *Ledger) ListActiveStations(ctx context.Context, _ *stationv1.ListActiveStationsRequest) (*stationv1.ListActiveStationsResponse, error) {
	return do(ctx, l, "ListActiveStations", func() (*stationv1.ListActiveStationsResponse, error) {
		out := &stationv1.ListActiveStationsResponse{}
		for _, id := range slices.Sorted(maps.Keys(l.Stations)) {
			if l.Stations[id].GetStatus() == "active" {
				out.Stations = append(out.Stations, l.Stations[id].Station)
			}
		}
		return out, nil
	})
}

// CountStations counts an operator's.
func (l *Ledger) CountStations(ctx context.Context, r *stationv1.CountStationsRequest) (*stationv1.CountStationsResponse, error) {
	return do(ctx, l, "CountStations", func() (*stationv1.CountStationsResponse, error) {
		out := &stationv1.CountStationsResponse{}
		for _, s := range l.Stations {
			if s.Owner == r.GetOperatorId() {
				out.Stations++
			}
		}
		return out, nil
	})
}
