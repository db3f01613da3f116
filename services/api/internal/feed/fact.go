package feed

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
)

// Fact is an event that another service has committed and that has no number yet. The ledger accepts each ID once, and assigns
// the number.
type Fact struct {
	ID       string // UUID that the sender has created
	Type     Type
	At       time.Time
	MarketID string // empty: none
	Handle   string // empty: none
	Topic    string // channel of a programme, for segment types only
	Data     []byte // JSON object
}

// Copy is the state of a channel, as the service that owns the channel has published it. Snapshots of the channel contain its
// data. Of several copies of a channel, the one with the newest At is used.
type Copy struct {
	Channel Channel
	At      time.Time
	Data    []byte // JSON object
}

// Watching is a report of the number of viewers of an operator's stream at one time.
type Watching struct {
	Handle  string
	Viewers int64
	At      time.Time
}

// Check returns ErrFact if a member of the report is missing or negative.
func (w *Watching) Check() error {
	if w.Handle == "" || w.Viewers < 0 || w.At.IsZero() {
		return ErrFact
	}
	return nil
}

// ViewerReport is the time for which viewers watched an operator's streams, in viewer seconds: the sum of the times of all
// viewers. At is the end of the reported time. The ledger accepts each ID once.
type ViewerReport struct {
	ID            string // UUID that the sender has created
	Handle        string
	At            time.Time
	ViewerSeconds int64
}

// Check returns ErrFact if a member of the report is missing, or if the time is not positive.
func (r *ViewerReport) Check() error {
	if r.ID == "" || r.Handle == "" || r.ViewerSeconds < 1 || r.At.IsZero() {
		return ErrFact
	}
	return nil
}

// Tapes is a report of the number of tapes (clips that are shown) of a market at one time.
type Tapes struct {
	MarketID protocol.MarketID
	Tapes    int64
	At       time.Time
}

// maxData is the maximum size, in bytes, of the data of an event or of a copy. Some copies have the higher limit maxLong.
const maxData = 16 << 10

// maxLong is the maximum size, in bytes, of the data of a copy, if the copy is of the channel "live" or contains the
// programme of a station.
const maxLong = 256 << 10

// ErrFact is returned for an invalid event, copy or viewer report of another service.
var ErrFact = apperr.New(apperr.Invalid, "invalid_request",
	"the event, copy or viewer report has a missing or invalid member")

// senders contains the types of numbered events that other services may publish. The ledger creates the events of all other
// types.
var senders = map[Type]bool{
	StreamBound: true, StreamUnbound: true, OperatorLive: true, OperatorOffline: true,
	ClipReady: true, SegmentStarted: true, SegmentPreempted: true,
}

// Check returns ErrFact if the ledger does not accept the fact. Its type must be in senders, its ID and time must be present,
// and its data must be a JSON object of at most maxData bytes. A segment type requires a topic, and other types must not have
// one.
func (f *Fact) Check() error {
	switch {
	case !senders[f.Type], f.ID == "", f.At.IsZero():
		return ErrFact
	case (f.Type == SegmentStarted || f.Type == SegmentPreempted) != (Channel(f.Topic).Topic() != ""):
		return ErrFact
	}
	return checkData(f.Data)
}

// Check returns ErrFact if the channel or the time is missing, or if the data is too large or is not a JSON object.
func (c *Copy) Check() error {
	if c.Channel == "" || c.At.IsZero() {
		return ErrFact
	}
	if c.Channel == Live || strings.HasPrefix(string(c.Channel), stationPrefix) {
		return checkSize(c.Data, maxLong)
	}
	return checkData(c.Data)
}

// Check returns ErrFact for an invalid event: the channel is missing, the type is not ephemeral, or the subject contains a
// line feed. It also returns ErrFact if the data is too large or is not a JSON object. It removes white space from Data.
func (e *Ephemeral) Check() error {
	if e.Channel == "" || !e.Type.Ephemeral() || strings.ContainsRune(e.Subject, '\n') {
		return ErrFact
	}
	if err := checkData(e.Data); err != nil {
		return err
	}
	var b bytes.Buffer
	if err := json.Compact(&b, e.Data); err != nil {
		return ErrFact
	}
	e.Data = b.Bytes()
	return nil
}

func checkData(data []byte) error { return checkSize(data, maxData) }

func checkSize(data []byte, limit int) error {
	if len(data) > limit || !bytes.HasPrefix(data, []byte("{")) || bytes.ContainsRune(data, '\n') || !json.Valid(data) {
		return ErrFact
	}
	return nil
}
