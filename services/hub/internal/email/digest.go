package email

import (
	"time"

	"github.com/signalcast/signalcast/services/hub/internal/notification"
)

// Digest is how often a user gets a digest.
type Digest string

// Choices of a digest.
const (
	Off    Digest = "off"
	Daily  Digest = "daily"  // at 08:00 UTC
	Weekly Digest = "weekly" // on Mondays at 08:00 UTC
)

// digestHour is the hour in UTC at which the period of a digest ends.
const digestHour = 8

// ParseDigest returns the choice with a name. ok is false if there is none.
func ParseDigest(name string) (d Digest, ok bool) {
	d = Digest(name)
	return d, d == Off || d == Daily || d == Weekly
}

// lastEnd returns the last time, not after now, at which the period of a daily or weekly digest ended.
func (d Digest) lastEnd(now time.Time) time.Time {
	y, m, day := now.UTC().Date()
	end := time.Date(y, m, day, digestHour, 0, 0, 0, time.UTC)
	if end.After(now) {
		end = end.AddDate(0, 0, -1)
	}
	if d == Weekly {
		end = end.AddDate(0, 0, -(int(end.Weekday())+6)%7) // days since Monday
	}
	return end
}

// digested lists the kinds of notifications in a digest.
var digested = []notification.Kind{
	notification.CallResolved, notification.CallVoid, notification.MarketDisputed, notification.MarketDisputeCleared,
	notification.Followed, notification.ForecasterCalled,
}
