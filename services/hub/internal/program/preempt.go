package program

import (
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/protocol"
	programv1 "github.com/signalcast/signalcast/proto/program/v1"
)

// Limits of an administrator's request to change the programme: number of slots, and characters of the reason.
const (
	MaxSlots  = 6
	MaxReason = 180
)

// Draft is an administrator's request to air a market in slots of a lane of the default programme. The clock chooses the value of
// a zero field. The audit log stores the draft as JSON.
type Draft struct {
	MarketID protocol.MarketID
	Lane     string
	StartsAt time.Time
	Slots    int32
	Reason   string
}

// Request returns the CreatePreempt request that the hub sends to the clock for this draft.
func (d *Draft) Request() *programv1.CreatePreemptRequest {
	return &programv1.CreatePreemptRequest{
		MarketId: string(d.MarketID), Lane: d.Lane, Slots: d.Slots, Reason: d.Reason, StartsAt: ledgerclient.Timestamp(d.StartsAt),
	}
}

// ErrUnavailable is the error of a programme change if the clock does not answer or if no clock is configured.
var ErrUnavailable = apperr.New(apperr.Unavailable, "signal_service_unavailable",
	"the programme service is unavailable; retry in 1 s").With("retryAfterMs", 1000)

// ClockError returns ErrUnavailable if err means that the clock is unavailable. It returns any other error unchanged,
// including db_unavailable.
func ClockError(err error) error {
	if f := apperr.Of(err); f != nil && f.Kind == apperr.Unavailable && f.Code != "db_unavailable" {
		return ErrUnavailable.Wrap(err)
	}
	return err
}
