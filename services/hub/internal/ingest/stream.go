package ingest

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
)

// MaxLabel is the maximum length of a stream label in characters.
const MaxLabel = 80

// Latency is the requested delay between the encoder and viewers.
type Latency string

// Latencies that an operator can request.
const (
	Standard Latency = "standard"
	Low      Latency = "low"
)

// Errors of provisioning streams and of uploading video.
var (
	// ErrNotApproved is the error of an operator that no administrator has approved.
	ErrNotApproved = apperr.New(apperr.Forbidden, "not_approved",
		"an administrator must approve your application first; apply with POST /api/streamer/register")
	// ErrKey is the error of an upload whose stream key is missing, wrong, replaced, or the key of another stream.
	ErrKey = apperr.ErrCredentialUnknown.WithText("the stream key is missing, unknown or replaced; create one in the studio")
	// ErrUnavailable is the error if the installation receives no video or if the video host does not answer.
	ErrUnavailable = apperr.New(apperr.Unavailable, "ingest_unavailable", "video cannot be received at present; retry later")
)

// Stream is the provisioned stream of an operator. Its fields are in the order of the columns of its database table.
type Stream struct {
	Handle    protocol.Handle
	ID        string
	Provider  string // name of the provider
	RemoteID  string // id at an external host; empty at the hub's own origin
	KeyHash   []byte // SHA-256 hash of the stream key
	HLSURL    string // playback URL at an external host; empty at the hub's own origin
	Label     string
	Latency   Latency
	CreatedAt time.Time
	RotatedAt time.Time // creation time of the current key
	Version   int64     // number of keys that were created so far
}

// Offer is the result of provisioning a stream. It contains the only copy of the key.
type Offer struct {
	Protocol string // hls, rtmp or rtmps
	URL      string // URL without the key
	PushURL  string // URL with the key, for encoders that cannot send headers; may be empty
	Key      string // value of the field "stream key" in an encoder
	Secret   string // secret part of Key; empty: the whole Key
	RemoteID string
	HLSURL   string
}

// Want is a request to a Provider to provision a stream.
type Want struct {
	Handle  protocol.Handle
	Label   string
	Latency Latency
	Before  *Stream // existing stream whose key is replaced; nil: a new stream
}

// Provider is a service that receives video from encoders and serves it to viewers.
type Provider interface {
	Name() string
	// Provision creates a stream, or replaces the key of w.Before. It leaves a stream with another id than that of the offer
	// unchanged. Error: ErrUnavailable.
	Provision(ctx context.Context, w Want) (Offer, error)
	// Withdraw deletes a stream that could not be stored or that another one has replaced. remoteID is the Offer.RemoteID of the
	// stream.
	Withdraw(ctx context.Context, remoteID string) error
	// Playback returns the playback URL of a stream.
	Playback(s Stream) string
}

// Store stores provisioned streams. Error of all methods: db_unavailable.
type Store interface {
	// Approved reports whether an administrator has approved the operator.
	Approved(ctx context.Context, handle protocol.Handle) (bool, error)
	// IngestStream returns the stream of an operator; false if the operator has none.
	IngestStream(ctx context.Context, handle protocol.Handle) (Stream, bool, error)
	// IngestByKey returns the stream whose key has this hash; false if there is none.
	IngestByKey(ctx context.Context, hash []byte) (Stream, bool, error)
	// StoreIngest stores a stream if the stored version is before (0: none). It returns false if a concurrent request
	// has changed the stream.
	StoreIngest(ctx context.Context, s Stream, before int64) (bool, error)
}
