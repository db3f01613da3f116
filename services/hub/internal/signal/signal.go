package signal

import (
	"github.com/signalcast/signalcast/pkg/apperr"
)

// FeedType is the kind of a feed of calls.
type FeedType string

// Kinds of feeds of calls.
const (
	FeedRecent    FeedType = "recent"
	FeedBeatCrowd FeedType = "beat_crowd"
	FeedOpen      FeedType = "open"
)

// Default and maximum number of calls in a feed.
const (
	FeedDefault = 20
	FeedMax     = 50
)

// ParseFeedType parses the kind of a feed. An unknown value becomes FeedRecent.
func ParseFeedType(raw string) FeedType {
	switch t := FeedType(raw); t {
	case FeedBeatCrowd, FeedOpen:
		return t
	}
	return FeedRecent
}

// ErrUnknown is the error of a request for a call that does not exist.
var ErrUnknown = apperr.New(apperr.NotFound, "not_found", "there is no call with this id")
