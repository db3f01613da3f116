package upstream

import (
	"context"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/timestamppb"

	feedv1 "github.com/signalcast/signalcast/proto/feed/v1"
	stationv1 "github.com/signalcast/signalcast/proto/station/v1"
	"github.com/signalcast/signalcast/services/clock/internal/program"
)

// askTime bounds one question about stations.
const askTime = 3 * time.Second

// Stations is the ledger's register of stations, and where their programmes go.
type Stations struct {
	read  stationv1.StationReadServiceClient
	write feedv1.FeedServiceClient
}

// NewStations uses a connection to the ledger.
func NewStations(cc grpc.ClientConnInterface) *Stations {
	return &Stations{stationv1.NewStationReadServiceClient(cc), feedv1.NewFeedServiceClient(cc)}
}

// ActiveStations implements program.Stations.
func (s *Stations) ActiveStations(ctx context.Context) ([]program.Station, error) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	r, err := s.read.ListActiveStations(ctx, &stationv1.ListActiveStationsRequest{})
	if err != nil {
		return nil, err
	}
	out := make([]program.Station, 0, len(r.GetStations()))
	for _, st := range r.GetStations() {
		out = append(out, program.Station{ID: st.GetStationId(), Lanes: st.GetLanes(), Providers: st.GetProviders()})
	}
	return out, nil
}

// PublishStation implements program.Stations.
func (s *Stations) PublishStation(ctx context.Context, id string, at time.Time, data []byte) error {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	_, err := s.write.Publish(ctx, &feedv1.PublishRequest{
		Copies: []*feedv1.Copy{{Channel: "station:" + id, At: timestamppb.New(at), Data: string(data)}},
	})
	return err
}
