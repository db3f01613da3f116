package ingest

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
)

// MaxLabel is how many characters the label of a stream may have.
const MaxLabel = 80

// Latency is how far behind the camera viewers may be.
type Latency string

// The latencies.
const (
	Standard Latency = "standard"
	Low      Latency = "low"
)

// Faults.
var (
	// ErrNotApproved is said to an operator whom no admin has approved.
	ErrNotApproved = apperr.New(apperr.Forbidden, "not_approved", "an admin has to approve you first")
	// ErrKey is said to a push whose key is missing, wrong, of another stream or of old.
	ErrKey = apperr.New(apperr.Unauthenticated, "unauthenticated", "no stream has this key")
	// ErrAway is said where no video is taken, or the host of it does not answer.
	ErrAway = apperr.New(apperr.Unavailable, "ingest_unavailable", "video is not taken at this moment")
)

// Stream is where one operator sends video to. Its fields are the columns of its row, in their order.
type Stream struct {
	Handle    protocol.Handle
	ID        string
	Provider  string // who takes the video
	RemoteID  string // its name at a host of others; empty at ours
	KeyHash   []byte // SHA-256 of the key
	HLSURL    string // where viewers find it at a host of others; empty at ours
	Label     string
	Latency   Latency
	CreatedAt time.Time
	RotatedAt time.Time // when the key was given
	Version   int64     // counts the keys
}

// Offer is what a provider gives for a stream. The key is in it, and nowhere else.
type Offer struct {
	Protocol string // hls, rtmp or rtmps
	URL      string // where to send to
	PushURL  string // the same with the key in it, for encoders that know no headers; may be empty
	Key      string // what an encoder's field for the stream key takes
	Secret   string // the part of Key that proves it; empty: all of it
	RemoteID string
	HLSURL   string
}

// Want is what a provider is asked for.
type Want struct {
	Handle  protocol.Handle
	Label   string
	Latency Latency
	Before  *Stream // whose key the new one replaces; nil: there is none
}

// Provider takes video.
type Provider interface {
	Name() string
	// Provision gives a stream, or the stream of before a new key. Error: ErrAway.
	Provision(ctx context.Context, w Want) (Offer, error)
	// Withdraw ends what an offer gave that nobody can use: somebody else was quicker.
	Withdraw(ctx context.Context, remoteID string) error
	// Playback is where viewers find a stream.
	Playback(s Stream) string
}

// Store keeps streams. Error of all methods: db_unavailable.
type Store interface {
	// Approved reports whether an administrator has approved the operator.
	Approved(ctx context.Context, handle protocol.Handle) (bool, error)
	// IngestStream tells whether the operator has one.
	IngestStream(ctx context.Context, handle protocol.Handle) (Stream, bool, error)
	// IngestByKey finds the stream of a key by its hash.
	IngestByKey(ctx context.Context, hash []byte) (Stream, bool, error)
	// KeepIngest puts a stream in the place of the version before (0: none); false
	// says that somebody else was quicker.
	KeepIngest(ctx context.Context, s Stream, before int64) (bool, error)
}
