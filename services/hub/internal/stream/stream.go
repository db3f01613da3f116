package stream

import (
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// Bounds of a stream binding.
const (
	MaxURL     = 500
	MaxLabel   = 80
	MaxStreams = 100 // of one market that are shown
)

// playlist is how the path of an HLS playback address ends.
const playlist = ".m3u8"

// Stream is a playback address that an operator has bound to a market.
type Stream struct {
	MarketID  protocol.MarketID
	Handle    protocol.Handle
	URL       string
	Label     string
	UpdatedAt time.Time
}

// Store stores one binding for each market and handle, and clips. Error of all methods: db_unavailable.
type Store interface {
	// Bind replaces the binding. Error: not_approved for a suspended operator.
	Bind(ctx context.Context, s Stream) error
	// Unbind reports whether there was a binding.
	Unbind(ctx context.Context, market protocol.MarketID, by protocol.Handle, at time.Time) (bool, error)
	// Streams lists the bindings of a market, the newest first, MaxStreams at most, without those of suspended operators
	// and hidden profiles.
	Streams(ctx context.Context, market protocol.MarketID) ([]Stream, error)
	// Clips lists the ready clips of a market, the newest first.
	Clips(ctx context.Context, market protocol.MarketID, limit int) ([]Clip, error)
}

// Playable reports an https address of a playlist that viewers may be sent to. With
// hosts it must be on one of them, by the name, and the port where it is not 443.
func Playable(raw string, hosts []string) bool {
	if len(raw) > MaxURL || strings.ContainsFunc(raw, func(r rune) bool { return r <= ' ' || r > '~' || r == '\\' }) {
		return false
	}
	u, err := url.Parse(raw)
	if err != nil || !strings.HasPrefix(raw, "https://") || u.Opaque != "" || u.User != nil || u.Hostname() == "" {
		return false
	}
	if strings.Contains(raw, "#") || !strings.HasSuffix(u.EscapedPath(), playlist) {
		return false
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return false
		}
	}
	return len(hosts) == 0 || slices.Contains(hosts, hostOf(u))
}

// hostOf is the host as a setting writes it.
func hostOf(u *url.URL) string {
	return strings.TrimSuffix(strings.ToLower(u.Host), ":443")
}

// Sizes of the list of clips.
const (
	DefaultClips = 20
	MaxClips     = 50
)

// Clip is a short piece of a stream that can be watched.
type Clip struct {
	ID           string
	Handle       protocol.Handle // whose stream it was
	MarketID     protocol.MarketID
	Title        string // may be empty
	URL          string
	ThumbnailURL *string
	Duration     *int32 // seconds
	Status       string
	Stance       *string // the operator's own call on the market
	Views        int64
	Boosted      bool
	CreatedBy    protocol.Handle
	CreatedAt    time.Time
	ReadyAt      time.Time
}
