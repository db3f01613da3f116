package feed

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
)

// Fact is a numbered event that another service has committed. The ledger takes it
// once for each id and gives it its number.
type Fact struct {
	ID       string // uuid, the sender's
	Type     Type
	At       time.Time
	MarketID string // empty: none
	Handle   string // empty: none
	Topic    string // programme channel, of segment types
	Data     []byte // JSON object
}

// Copy is what a channel begins with, as the service that owns it keeps it. The
// newest by At stands.
type Copy struct {
	Channel Channel
	At      time.Time
	Data    []byte // JSON object
}

// Watching is how many watch the stream of an operator at a time.
type Watching struct {
	Handle  string
	Viewers int64
	At      time.Time
}

// Check tells whether the ledger keeps it.
func (w *Watching) Check() error {
	if w.Handle == "" || w.Viewers < 0 || w.At.IsZero() {
		return ErrFact
	}
	return nil
}

// maxData is what one event or copy may carry.
const maxData = 16 << 10

// maxLong is what the programme of a station may be, and the live list.
const maxLong = 256 << 10

// ErrFact says that a service has sent what is no event.
var ErrFact = apperr.New(apperr.Invalid, "invalid_request", "not an event of the feed")

// senders may publish these types: what the ledger itself finds out is not among them.
var senders = map[Type]bool{
	StreamBound: true, StreamUnbound: true, OperatorLive: true, OperatorOffline: true,
	ClipReady: true, SegmentStarted: true, SegmentPreempted: true,
}

// Check tells whether the ledger takes the fact.
func (f *Fact) Check() error {
	switch {
	case !senders[f.Type], f.ID == "", f.At.IsZero():
		return ErrFact
	case (f.Type == SegmentStarted || f.Type == SegmentPreempted) != (Channel(f.Topic).Topic() != ""):
		return ErrFact
	}
	return checkData(f.Data)
}

// Check tells whether the ledger keeps the copy.
func (c *Copy) Check() error {
	if c.Channel == "" || c.At.IsZero() {
		return ErrFact
	}
	if c.Channel == Live || strings.HasPrefix(string(c.Channel), stationPrefix) {
		return checkSize(c.Data, maxLong)
	}
	return checkData(c.Data)
}

// Check tells whether the ledger hands the news on, and takes the spaces out of it.
func (e *Ephemeral) Check() error {
	if e.Channel == "" || !e.Type.Passing() || strings.ContainsRune(e.Subject, '\n') {
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

func checkSize(data []byte, most int) error {
	if len(data) > most || !bytes.HasPrefix(data, []byte("{")) || bytes.ContainsRune(data, '\n') || !json.Valid(data) {
		return ErrFact
	}
	return nil
}
