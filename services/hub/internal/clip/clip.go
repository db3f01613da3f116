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
	ErrNoMarket = apperr.New(apperr.Invalid, "missing_market_id",
		"marketId is required: the operator shows no market").With("field", "marketId")
)

// Request has the parameters of a new clip.
type Request struct {
	By       operator.Operator
	Handle   protocol.Handle   // owner of the stream
	MarketID protocol.MarketID // empty: the market that the operator shows
	Title    string            // may be empty
}

// Draft is a requested clip that has not been cut yet.
type Draft struct {
	ID       string
	Handle   protocol.Handle
	MarketID protocol.MarketID
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
}

// Video is the video of a finished clip.
type Video struct {
	URL       string
	Thumbnail string // empty: none
	Length    time.Duration
}

// ErrNoVideo is the error of Maker.Cut if there is no stored video of the clip. Another attempt would fail too.
var ErrNoVideo = errors.New("no video of the requested time is stored")

// Store stores clips. Error of all methods: db_unavailable.
type Store interface {
	// AddClip stores a clip unless a limit is reached. It enforces the limits also for concurrent requests.
	AddClip(ctx context.Context, d Draft) (Verdict, error)
	// LeaseClip leases the oldest waiting clip until a time. It returns false if no clip waits.
	LeaseClip(ctx context.Context, now, until time.Time) (Job, bool, error)
	// ReadyClip marks a clip as ready, unless it has already ended.
	ReadyClip(ctx context.Context, id string, f Video, now time.Time) error
	// FailClip marks a clip as failed, unless it has already ended.
	FailClip(ctx context.Context, id, reason string) error
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
	// Trim deletes the oldest clips until the storage limit is met. It calls drop before it deletes the files of a
	// clip.
	Trim(ctx context.Context, drop func(ctx context.Context, id string) error) error
}

// Shown returns the clip with the status "processing". A clip has this status until it is cut.
func (d *Draft) Shown() stream.Clip {
	return stream.Clip{
		ID: d.ID, Handle: d.Handle, MarketID: d.MarketID, Title: d.Title, Status: "processing", Stance: d.Stance, CreatedBy: d.By, CreatedAt: d.At,
	}
}
