package clip

import (
	"context"
	"errors"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
	"github.com/signalcast/signalcast/services/hub/internal/stream"
)

// Length of a clip and limits of clip requests. Cooldown and PerDay apply to the creator and, separately, to the stream. MaxTitle
// is in characters.
const (
	Length   = 30 * time.Second
	Cooldown = 120 * time.Second
	PerDay   = 10 // clips per day in UTC
	MaxTitle = 120
)

// Errors of a request for a clip.
var (
	ErrNotLive  = apperr.New(apperr.Conflict, "not_live", "the operator is not live")
	ErrCooldown = apperr.New(apperr.Limited, "clip_cooldown",
		"the last clip of the creator or of the stream is less than 120 s old; retry after the time in retryAfterMs")
	ErrDaily = apperr.New(apperr.Limited, "clip_daily_limit",
		"limit of 10 clips of a creator or of a stream per day (UTC) reached; retry after the time in retryAfterMs")
	// ErrNoStorage is the error for video of another server if no hub of the installation stores video.
	ErrNoStorage = apperr.New(apperr.Unavailable, "ingest_unavailable",
		"this installation stores no video, so streams of other servers cannot be clipped")
	ErrNotFound = apperr.New(apperr.NotFound, "not_found", "there is no ready clip with this id")
)

// Request has the parameters of a new clip.
type Request struct {
	By       operator.Operator
	Handle   protocol.Handle   // owner of the stream
	MarketID protocol.MarketID // empty: the market that the operator shows, if any
	Title    string            // may be empty
}

// Kind is the kind of server that has the video of a stream. The other kinds are the names of video hosts.
type Kind string

// Kinds of servers that exist in each installation.
const (
	Origin   Kind = "origin"   // an HLS origin of this installation
	Playlist Kind = "playlist" // any other server, whose HLS playlist the operator has bound
)

// Source is the video from which a clip is cut.
type Source struct {
	Kind     Kind
	URL      string // playlist; empty: Origin
	RemoteID string // id of the stream at a video host; empty: Origin and Playlist
}

// Draft is a requested clip that has not been cut yet.
type Draft struct {
	ID       string
	Handle   protocol.Handle
	MarketID protocol.MarketID // empty: none
	Source   Source
	ShowID   string
	Title    string
	Stance   *string // call of the stream's operator on the market; nil: none
	By       protocol.Handle
	At       time.Time
}

// Verdict is the result of Store.AddClip: the clip was stored or a limit refused it.
type Verdict struct {
	Daily bool          // the daily limit is reached
	Wait  time.Duration // time until the next clip is possible; 0: the clip was stored
}

// Job is a leased clip that must be cut.
type Job struct {
	ID     string
	Handle protocol.Handle
	At     time.Time // time of the request, which is the end of the clip
	Tries  int       // number of attempts, including this one
	Source Source
	HostID string // id of the clip at a video host; empty: not requested yet
}

// Video is the video of a finished clip.
type Video struct {
	URL       string
	Thumbnail string // empty: none
	Length    time.Duration
}

// ErrNoVideo is the error of a Maker or a Host if there is no usable video of the clip. Another attempt would fail too.
var ErrNoVideo = errors.New("no video of the requested time is stored")

// ErrUnfinished is the error of Host.Clipped while the video host still creates the clip.
var ErrUnfinished = errors.New("the video host has not finished the clip")

// Store stores clips. Error of all methods: db_unavailable.
type Store interface {
	// AddClip stores a clip unless a limit is reached. It enforces the limits also for concurrent requests.
	AddClip(ctx context.Context, d Draft) (Verdict, error)
	// LeaseClip leases the oldest waiting clip of these kinds until a time. It returns false if no clip waits.
	LeaseClip(ctx context.Context, kinds []Kind, now, until time.Time) (Job, bool, error)
	// AwaitClip stores the id of a clip at its video host, and lets the clip wait until a time. The attempt does not count.
	AwaitClip(ctx context.Context, id, hostID string, until time.Time) error
	// ReadyClip marks a clip as ready, unless it has already ended.
	ReadyClip(ctx context.Context, id string, f Video, now time.Time) error
	// FailClip marks a clip as failed, unless it has already ended.
	FailClip(ctx context.Context, id, reason string) error
	// BoostClip sets whether a ready clip is boosted. It returns false if there is no such clip.
	BoostClip(ctx context.Context, id string, boosted bool) (bool, error)
	// DropClip marks a clip as deleted. It is called before the files of the clip are deleted.
	DropClip(ctx context.Context, id string) error
}

// Maker cuts clips from stored video.
type Maker interface {
	// Ready reports whether this process has the stored video. If it has not, another hub cuts the clips.
	Ready() bool
	// Live reports whether video of an operator arrives at present.
	Live(handle string) bool
	// Cut creates the clip that ends at a time, or returns it if it exists. ErrNoVideo is final; after any other error
	// Cut can be repeated.
	Cut(ctx context.Context, id, handle string, end time.Time, length time.Duration) (Video, error)
	// Fetch creates the clip like Cut from an HLS playlist of another server.
	Fetch(ctx context.Context, id, playlist string, end time.Time, length time.Duration) (Video, error)
	// Trim deletes the oldest clips until the storage limit is met. It calls drop before it deletes the files of a
	// clip.
	Trim(ctx context.Context, drop func(ctx context.Context, id string) error) error
}

// Host creates clips of the streams at a video host.
type Host interface {
	Name() string
	// Clip requests the clip of a stream that ends at a time. It returns the id of the clip at the host. ErrNoVideo is final;
	// after any other error Clip can be repeated.
	Clip(ctx context.Context, s Source, end time.Time, length time.Duration) (string, error)
	// Clipped returns the video of a requested clip. It returns ErrUnfinished while the host creates the clip. ErrNoVideo is final;
	// after any other error Clipped can be repeated.
	Clipped(ctx context.Context, id string) (Video, error)
}

// Shown returns the clip with the status "processing". A clip has this status until it is cut.
func (d *Draft) Shown() stream.Clip {
	return stream.Clip{
		ID: d.ID, Handle: d.Handle, MarketID: d.MarketID, Title: d.Title, Status: "processing", Stance: d.Stance, CreatedBy: d.By, CreatedAt: d.At,
	}
}
