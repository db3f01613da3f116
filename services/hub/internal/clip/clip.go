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

// What a clip is, and how often one may be cut. Both limits hold for who asks and,
// apart from that, for the stream.
const (
	Length   = 30 * time.Second
	Cooldown = 120 * time.Second
	PerDay   = 10 // in a day of UTC
	MaxTitle = 120
)

// Faults.
var (
	ErrNotLive  = apperr.New(apperr.Conflict, "not_live", "the operator is not live")
	ErrCooldown = apperr.New(apperr.Limited, "clip_cooldown", "the last clip is too young")
	ErrDaily    = apperr.New(apperr.Limited, "clip_daily_limit", "no more clips today")
	ErrNoMarket = apperr.New(apperr.Invalid, "missing_market_id", "marketId is required: the operator shows no market").With("field", "marketId")
)

// Ask is what somebody wants.
type Ask struct {
	By       operator.Operator
	Handle   protocol.Handle   // whose stream
	MarketID protocol.MarketID // empty: the market that the operator shows
	Title    string            // may be empty
}

// Draft is a clip that is about to be cut.
type Draft struct {
	ID       string
	Handle   protocol.Handle
	MarketID protocol.MarketID
	ShowID   string
	Title    string
	Stance   *string // the operator's own call on the market
	By       protocol.Handle
	At       time.Time
}

// Verdict tells whether a clip was taken.
type Verdict struct {
	Daily bool          // the day is full
	Wait  time.Duration // until the next one; 0: it was taken
}

// Job is a clip that waits to be cut.
type Job struct {
	ID     string
	Handle protocol.Handle
	At     time.Time // when it was asked for: the end of the clip
	Tries  int       // this one included
}

// Film is a clip that was cut.
type Film struct {
	URL       string
	Thumbnail string // empty: there is none
	Length    time.Duration
}

// ErrNoFilm is what a Maker says when there is nothing to cut, and never will be.
var ErrNoFilm = errors.New("there is no video of that moment")

// Store keeps clips. Error of all methods: db_unavailable.
type Store interface {
	// AddClip takes a clip within the limits, exactly, however many come at once.
	AddClip(ctx context.Context, d Draft) (Verdict, error)
	// TakeClip gives a clip that waits to whoever asks, until a time; false: none waits.
	TakeClip(ctx context.Context, now, until time.Time) (Job, bool, error)
	// ReadyClip and FailClip end a clip that is still being cut.
	ReadyClip(ctx context.Context, id string, f Film, now time.Time) error
	FailClip(ctx context.Context, id, reason string) error
	// DropClip marks a clip whose files are about to go.
	DropClip(ctx context.Context, id string) error
}

// Maker cuts.
type Maker interface {
	// Ready tells whether this process has the video; until then another one cuts.
	Ready() bool
	// Live tells whether there is video of an operator at this moment.
	Live(handle string) bool
	// Cut makes the clip that ends at a time, or finds the one that was made. Fault of
	// nobody; ErrNoFilm is final, everything else may be tried again.
	Cut(ctx context.Context, id, handle string, end time.Time, length time.Duration) (Film, error)
	// Trim deletes the oldest clips beyond the room that there is, each after drop.
	Trim(ctx context.Context, drop func(ctx context.Context, id string) error) error
}

// Shown is a clip that is about to be cut as its maker sees it.
func (d *Draft) Shown() stream.Clip {
	return stream.Clip{
		ID: d.ID, Handle: d.Handle, MarketID: d.MarketID, Title: d.Title, Status: "processing", Stance: d.Stance, CreatedBy: d.By, CreatedAt: d.At,
	}
}
