package upstream

import (
	"context"

	"google.golang.org/grpc"

	stationv1 "github.com/signalcast/signalcast/proto/station/v1"

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
	ctx, cancel := brief(ctx)
	defer cancel()
	r, err := s.read.ListActiveStations(ctx, &stationv1.ListActiveStationsRequest{})
	if err != nil {
		return nil, err
	}
	out := make([]network.Partner, 0, len(r.GetStations()))
	for _, st := range r.GetStations() {
		out = append(out, network.Partner{
			Origin: st.GetStationId(), OriginURL: st.GetOriginUrl(), TapesURL: st.GetTapesUrl(), OperatorsURL: st.GetOperatorsUrl(),
		})
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
