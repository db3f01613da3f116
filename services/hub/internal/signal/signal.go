package signal

import (
	"github.com/signalcast/signalcast/pkg/apperr"
)

// FeedType selects a feed.
type FeedType string

// The feeds.
const (
	FeedRecent    FeedType = "recent"
	FeedBeatCrowd FeedType = "beat_crowd"
	FeedOpen      FeedType = "open"
)

// Feed limits.
const (
	FeedDefault = 20
	FeedMax     = 50
)

// ParseFeedType reads a `type` query parameter; anything unknown is recent.
func ParseFeedType(raw string) FeedType {
	switch t := FeedType(raw); t {
	case FeedBeatCrowd, FeedOpen:
		return t
	}
	return FeedRecent
}

// ErrUnknown is the answer for a signal that is not there.
var ErrUnknown = apperr.New(apperr.NotFound, "not_found", "")
