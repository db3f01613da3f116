package upstream

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/signalcast/signalcast/pkg/outbox"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/reader"
	feedv1 "github.com/signalcast/signalcast/proto/feed/v1"
	operatorv1 "github.com/signalcast/signalcast/proto/operator/v1"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
	stationv1 "github.com/signalcast/signalcast/proto/station/v1"
	"github.com/signalcast/signalcast/services/clock/internal/program"
)

const (
	// requestTimeout is the timeout of a request about calls or stations.
	requestTimeout = 3 * time.Second
	// callPage is the number of calls of a market in one page, the newest first.
	callPage = 500
	// callPages is the maximum number of pages that one count reads. A count therefore covers only the newest 20,000 calls.
	callPages = 40
)

// Ledger reads calls and stations from the api service and publishes to the feed of the api service.
type Ledger struct {
	calls    signalv1.SignalReadServiceClient
	stations stationv1.StationReadServiceClient
	feed     feedv1.FeedServiceClient
	readers  operatorv1.OperatorReadServiceClient
}

// NewLedger returns a Ledger that uses the connection cc to the api service.
func NewLedger(cc grpc.ClientConnInterface) *Ledger {
	return &Ledger{
		signalv1.NewSignalReadServiceClient(cc), stationv1.NewStationReadServiceClient(cc), feedv1.NewFeedServiceClient(cc),
		operatorv1.NewOperatorReadServiceClient(cc),
	}
}

// verifyTimeout is the timeout of the verification of a credential. Without an answer, a public read ignores the credential.
const verifyTimeout = 500 * time.Millisecond

// VerifyReader implements reader.Verify with the api service.
func (l *Ledger) VerifyReader(ctx context.Context, c reader.Credential) (id string, err error) {
	ctx, cancel := context.WithTimeout(ctx, verifyTimeout)
	defer cancel()
	q := &operatorv1.VerifyReaderRequest{}
	switch c.Kind {
	case reader.Key:
		q.Credential = &operatorv1.VerifyReaderRequest_KeyHash{KeyHash: c.Hash[:]}
	case reader.Token:
		q.Credential = &operatorv1.VerifyReaderRequest_TokenHash{TokenHash: c.Hash[:]}
	case reader.Login:
		q.Credential = &operatorv1.VerifyReaderRequest_Login{Login: c.Raw}
	}
	r, err := l.readers.VerifyReader(ctx, q)
	return r.GetLimitId(), err
}

// CountCalls returns the number of calls on a market that were filed between two times: from, which is included, and to,
// which is not. It reads at most the newest 20,000 calls of the market. It returns the errors of the api service.
func (l *Ledger) CountCalls(ctx context.Context, market protocol.MarketID, from, to time.Time) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	var n int64
	cursor := ""
	for range callPages {
		r, err := l.calls.ListLedger(ctx, &signalv1.ListLedgerRequest{MarketId: string(market), Limit: callPage, Cursor: cursor})
		if err != nil {
			return 0, fmt.Errorf("list calls: %w", err)
		}
		for _, s := range r.GetSignals() {
			at := s.GetCreatedAt().AsTime()
			if at.Before(from) {
				return n, nil
			}
			if at.Before(to) {
				n++
			}
		}
		if cursor = r.GetNextCursor(); cursor == "" {
			break
		}
	}
	return n, nil
}

// ActiveStations returns the active partner stations. It returns the errors of the api service.
func (l *Ledger) ActiveStations(ctx context.Context) ([]program.Station, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	r, err := l.stations.ListActiveStations(ctx, &stationv1.ListActiveStationsRequest{})
	if err != nil {
		return nil, err
	}
	out := make([]program.Station, 0, len(r.GetStations()))
	for _, st := range r.GetStations() {
		out = append(out, program.Station{ID: st.GetStationId(), Lanes: st.GetLanes(), Providers: st.GetProviders()})
	}
	return out, nil
}

// PublishStation publishes the programme of a station as the current content of the feed channel station:<id>. data is the
// programme, and at is its time.
func (l *Ledger) PublishStation(ctx context.Context, id string, at time.Time, data []byte) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	return l.Publish(ctx, []outbox.Fact{{Type: program.ChannelCopy, Topic: "station:" + id, At: at, Data: string(data)}})
}

// Publish publishes facts and the current contents of channels (copies) to the feed, all in one request. The api service assigns
// sequence numbers to the facts.
func (l *Ledger) Publish(ctx context.Context, facts []outbox.Fact) error {
	r := &feedv1.PublishRequest{}
	for _, one := range facts {
		at := timestamppb.New(one.At)
		if one.Type == program.ChannelCopy {
			r.Copies = append(r.Copies, &feedv1.Copy{Channel: one.Topic, At: at, Data: one.Data})
			continue
		}
		r.Facts = append(r.Facts, &feedv1.Fact{
			Id: one.ID, Type: one.Type, At: at, MarketId: one.MarketID, Handle: one.Handle, Topic: one.Topic, Data: one.Data,
		})
	}
	_, err := l.feed.Publish(ctx, r)
	return err
}
