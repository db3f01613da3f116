package upstream

import (
	"context"

	"google.golang.org/grpc"

	stationv1 "github.com/signalcast/signalcast/proto/station/v1"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/hub/internal/message"
	"github.com/signalcast/signalcast/services/hub/internal/network"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// Stations is the ledger's register of partner stations.
type Stations struct {
	read  stationv1.StationReadServiceClient
	write stationv1.StationServiceClient
}

// NewStations uses a connection to the ledger.
func NewStations(cc grpc.ClientConnInterface) *Stations {
	return &Stations{stationv1.NewStationReadServiceClient(cc), stationv1.NewStationServiceClient(cc)}
}

// CreateStation implements creation.Stations.
func (s *Stations) CreateStation(ctx context.Context, owner operator.ID, messageID string, d *message.Station) error {
	_, err := s.write.CreateStation(ctx, &stationv1.CreateStationRequest{
		OperatorId: string(owner), MessageId: messageID, Draft: stationDraft(d),
	})
	return err
}

// UpdateStation implements creation.Stations.
func (s *Stations) UpdateStation(ctx context.Context, owner operator.ID, messageID string, d *message.Station) error {
	_, err := s.write.UpdateStation(ctx, &stationv1.UpdateStationRequest{
		OperatorId: string(owner), MessageId: messageID, Draft: stationDraft(d),
	})
	return err
}

func stationDraft(d *message.Station) *stationv1.Draft {
	out := &stationv1.Draft{
		StationId: d.StationID, Name: d.Name, Url: d.URL, Description: d.Description, TapesUrl: d.TapesURL, OperatorsUrl: d.OperatorsURL,
		Status: d.Status, HasLanes: d.Lanes != nil, HasProviders: d.Providers != nil,
	}
	for _, l := range d.Lanes {
		out.Lanes = append(out.Lanes, string(l))
	}
	for _, p := range d.Providers {
		out.Providers = append(out.Providers, string(p))
	}
	return out
}

// Partners implements network.Register.
func (s *Stations) Partners(ctx context.Context) ([]network.Partner, error) {
	list, err := s.Stations(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]network.Partner, 0, len(list))
	for i := range list {
		out = append(out, list[i].Partner)
	}
	return out, nil
}

// Stations implements network.Directory.
func (s *Stations) Stations(ctx context.Context) ([]network.Station, error) {
	ctx, cancel := brief(ctx)
	defer cancel()
	r, err := s.read.ListActiveStations(ctx, &stationv1.ListActiveStationsRequest{})
	if err != nil {
		return nil, err
	}
	out := make([]network.Station, 0, len(r.GetStations()))
	for _, st := range r.GetStations() {
		one := network.Station{
			Partner: network.Partner{
				Origin: st.GetStationId(), OriginURL: st.GetOriginUrl(), TapesURL: st.GetTapesUrl(), OperatorsURL: st.GetOperatorsUrl(),
			},
			Name: st.GetName(), Owner: st.GetOwnerHandle(), URL: st.GetUrl(), Description: st.GetDescription(),
		}
		for _, l := range st.GetLanes() {
			one.Lanes = append(one.Lanes, syntax.Lane(l))
		}
		out = append(out, one)
	}
	return out, nil
}

// StationsOf counts the stations that somebody owns.
func (s *Stations) StationsOf(ctx context.Context, owner operator.ID) (int64, error) {
	ctx, cancel := brief(ctx)
	defer cancel()
	r, err := s.read.CountStations(ctx, &stationv1.CountStationsRequest{OperatorId: string(owner)})
	return r.GetStations(), err
}
