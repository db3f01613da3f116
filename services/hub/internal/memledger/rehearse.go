package memledger

import (
	"context"

	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
)

// RehearseFile returns the call that File would store. A well-formed id that is not in Markets
// is that of an unconfirmed market if it is in Unconfirmed.
func (l *Ledger) RehearseFile(ctx context.Context, r *signalv1.RehearseFileRequest) (*signalv1.RehearseFileResponse, error) {
	return do(ctx, l, "RehearseFile", func() (*signalv1.RehearseFileResponse, error) {
		if id := r.GetDraft().GetMarketId(); l.Unconfirmed[id] {
			l.Markets[id] = &marketv1.Market{Id: id, Title: id, Status: "unknown"}
			defer delete(l.Markets, id)
		}
		before := len(l.Signals)
		if _, err := l.file(&signalv1.FileRequest{Caller: r.GetCaller(), Draft: r.GetDraft()}, true); err != nil {
			return nil, err
		}
		would := l.Signals[before]
		l.Signals = l.Signals[:before]
		would.Signal.Unconfirmed = l.Unconfirmed[would.Signal.GetMarketId()]
		return &signalv1.RehearseFileResponse{Signal: would.Signal, Filing: would.Filing}, nil
	})
}

// RehearseEvent returns the event that AppendEvent would store.
func (l *Ledger) RehearseEvent(ctx context.Context, r *signalv1.RehearseEventRequest) (*signalv1.RehearseEventResponse, error) {
	return do(ctx, l, "RehearseEvent", func() (*signalv1.RehearseEventResponse, error) {
		appended, err := l.appendEvent(&signalv1.AppendEventRequest{
			Caller: r.GetCaller(), SignalId: r.GetSignalId(), Type: r.GetType(), Payload: r.GetPayload(), EventId: r.GetEventId(),
		})
		if err != nil {
			return nil, err
		}
		f := l.find(r.GetSignalId())
		f.Events = f.Events[:len(f.Events)-1]
		return &signalv1.RehearseEventResponse{Event: appended.GetEvent()}, nil
	})
}
