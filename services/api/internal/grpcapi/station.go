package grpcapi

import (
	"context"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/signalcast/signalcast/pkg/protocol"
	stationv1 "github.com/signalcast/signalcast/proto/station/v1"
	"github.com/signalcast/signalcast/services/api/internal/station"
)

// Stations implements the gRPC services StationService and StationReadService.
type Stations struct {
	stationv1.UnimplementedStationServiceServer
	stationv1.UnimplementedStationReadServiceServer
	Service *station.Service
}

// CreateStation creates the station that a signed message describes, once for each message. Errors: not_found for an invalid
// operator id, and those of station.Service.Create.
func (f *Stations) CreateStation(ctx context.Context, r *stationv1.CreateStationRequest) (*stationv1.CreateStationResponse, error) {
	if err := uuids(r.GetOperatorId()); err != nil {
		return nil, err
	}
	return &stationv1.CreateStationResponse{}, f.Service.Create(ctx, r.GetOperatorId(), r.GetMessageId(), stationDraft(r.GetDraft()))
}

// UpdateStation applies a change of a station that the owner of the station has signed, once for each message. Errors:
// not_found, and those of station.Service.Change.
func (f *Stations) UpdateStation(ctx context.Context, r *stationv1.UpdateStationRequest) (*stationv1.UpdateStationResponse, error) {
	if err := uuids(r.GetOperatorId()); err != nil {
		return nil, err
	}
	return &stationv1.UpdateStationResponse{}, f.Service.Change(ctx, r.GetOperatorId(), r.GetMessageId(), stationDraft(r.GetDraft()))
}

// ListActiveStations returns the active stations, whose data the hub shows. Error: db_unavailable.
func (f *Stations) ListActiveStations(ctx context.Context, _ *stationv1.ListActiveStationsRequest) (*stationv1.ListActiveStationsResponse, error) {
	list, err := f.Service.Active(ctx)
	return &stationv1.ListActiveStationsResponse{Stations: listOf(list, stationTo)}, err
}

// CountStations returns the number of stations of an operator. Errors: not_found for an invalid operator id, db_unavailable.
func (f *Stations) CountStations(ctx context.Context, r *stationv1.CountStationsRequest) (*stationv1.CountStationsResponse, error) {
	if err := uuids(r.GetOperatorId()); err != nil {
		return nil, err
	}
	n, err := f.Service.Owned(ctx, r.GetOperatorId())
	return &stationv1.CountStationsResponse{Stations: n}, err
}

func stationDraft(p *stationv1.Draft) station.Draft {
	d := station.Draft{ID: p.GetStationId()}
	if p == nil {
		return d
	}
	d.Name, d.URL, d.Description, d.TapesURL, d.OperatorsURL = p.Name, p.Url, p.Description, p.TapesUrl, p.OperatorsUrl
	d.Status = (*station.Status)(p.Status)
	if p.GetHasLanes() {
		d.Lanes = wordsOf[protocol.Lane](p.GetLanes())
	}
	if p.GetHasProviders() {
		d.Providers = wordsOf[protocol.Provider](p.GetProviders())
	}
	return d
}

func stationTo(s station.Station) *stationv1.Station {
	return &stationv1.Station{
		StationId: s.ID, Name: s.Name, OwnerHandle: s.OwnerHandle, Url: s.URL, OriginUrl: s.OriginURL, Description: s.Description,
		TapesUrl: s.TapesURL, OperatorsUrl: s.OperatorsURL, Status: string(s.Status), CreatedAt: timestamppb.New(s.CreatedAt),
		Lanes: wordsOf[string](s.Lanes), Providers: wordsOf[string](s.Providers),
	}
}
