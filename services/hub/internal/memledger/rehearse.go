package memledger

import (
	"context"

	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
)

// RehearseFile returns the call that File would store.
func (l *Ledger) RehearseFile(ctx context.Context, r *signalv1.RehearseFileRequest) (*signalv1.RehearseFileResponse, error) {
	return do(ctx, l, "RehearseFile", func() (*signalv1.RehearseFileResponse, error) {
		before := len(l.Signals)
		if _, err := l.file(&signalv1.FileRequest{Caller: r.GetCaller(), Draft: r.GetDraft()}, true); err != nil {
			return nil, err
		}
		would := l.Signals[before]
		l.Signals = l.Signals[:before]
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
