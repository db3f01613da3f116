package feed

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
)

// Fact is a numbered event that another service has committed. The ledger accepts it once per id and numbers it.
type Fact struct {
	ID       string // UUID made by the sender
	Type     Type
	At       time.Time
	MarketID string // empty: none
	Handle   string // empty: none
	Topic    string // channel of a programme, for segment types
	Data     []byte // JSON object
}

// Copy is the snapshot state of a channel that another service owns. The copy with the newest At is used.
type Copy struct {
	Channel Channel
	At      time.Time
	Data    []byte // JSON object
}

// Watching is the number of viewers of an operator's stream at one time.
type Watching struct {
	Handle  string
	Viewers int64
	At      time.Time
}

// Check returns ErrFact if the report is invalid.
func (w *Watching) Check() error {
	if w.Handle == "" || w.Viewers < 0 || w.At.IsZero() {
		return ErrFact
	}
	return nil
}

// maxData is the maximum size of the data of an event or a copy in bytes.
const maxData = 16 << 10

// maxLong is the maximum size of the programme of a station and of the live list in bytes.
const maxLong = 256 << 10

// ErrFact is returned for an invalid event, copy or report of another service.
var ErrFact = apperr.New(apperr.Invalid, "invalid_request", "not an event of the feed")

// senders contains the event types that other services may publish. The ledger itself creates events of the remaining types.
var senders = map[Type]bool{
	StreamBound: true, StreamUnbound: true, OperatorLive: true, OperatorOffline: true,
	ClipReady: true, SegmentStarted: true, SegmentPreempted: true,
}

// Check returns ErrFact if the ledger does not accept the fact.
func (f *Fact) Check() error {
	switch {
	case !senders[f.Type], f.ID == "", f.At.IsZero():
		return ErrFact
	case (f.Type == SegmentStarted || f.Type == SegmentPreempted) != (Channel(f.Topic).Topic() != ""):
		return ErrFact
	}
	return checkData(f.Data)
}

// Check returns ErrFact if the copy is invalid.
func (c *Copy) Check() error {
	if c.Channel == "" || c.At.IsZero() {
		return ErrFact
	}
	if c.Channel == Live || strings.HasPrefix(string(c.Channel), stationPrefix) {
		return checkSize(c.Data, maxLong)
	}
	return checkData(c.Data)
}

// Check returns ErrFact if the event is invalid. It removes white space from Data.
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
