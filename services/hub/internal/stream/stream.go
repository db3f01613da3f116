package stream

import (
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
)

// Limits of bound streams: characters of a URL and of a label, and number of streams.
const (
	MaxURL     = 500
	MaxLabel   = 80
	MaxStreams = 100 // streams shown per market
)

// playlist is the suffix of the URL path of an HLS playlist.
const playlist = ".m3u8"

// Stream is the URL of an HLS playlist that an operator has bound to a market.
type Stream struct {
	MarketID  protocol.MarketID
	Handle    protocol.Handle
	URL       string
	Label     string
	UpdatedAt time.Time
}

// Store stores at most one stream for each market and operator, and lists clips. Error of all methods: db_unavailable.
type Store interface {
	// Bind stores the stream of an operator on a market and replaces an earlier one. It returns not_approved for a suspended
	// operator.
	Bind(ctx context.Context, s Stream) error
	// Unbind deletes the stream of an operator on a market. It reports whether there was one.
	Unbind(ctx context.Context, market protocol.MarketID, by protocol.Handle, at time.Time) (bool, error)
	// Streams lists the streams of a market, newest first, at most MaxStreams. It omits streams of suspended operators and of
	// hidden profiles.
	Streams(ctx context.Context, market protocol.MarketID) ([]Stream, error)
	// Clips lists the ready clips of a market, newest first, at most limit.
	Clips(ctx context.Context, market protocol.MarketID, limit int) ([]Clip, error)
	// SessionClips lists the ready clips of a session of an operator, newest first, at most limit.
	SessionClips(ctx context.Context, handle protocol.Handle, showID string, limit int) ([]Clip, error)
	// Clip returns a ready clip. It returns ErrNoClip for a clip that is not ready or was deleted, and for a clip of a suspended
	// operator or of a hidden profile.
	Clip(ctx context.Context, id string) (Clip, error)
}

// ErrNoClip is the error for a clip that does not exist or is not shown.
var ErrNoClip = apperr.New(apperr.NotFound, "not_found", "there is no clip with this id")

// Playable reports whether raw is an https URL of an HLS playlist that the hub may pass on to viewers. If hosts is not empty, the
// URL must have one of these hosts. A host includes the port unless it is 443.
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

// hostOf returns the host of a URL as the setting VIDEO_HOSTS lists it: in lower case, without port 443.
func hostOf(u *url.URL) string {
	return strings.TrimSuffix(strings.ToLower(u.Host), ":443")
}

// Default and maximum number of clips in a list.
const (
	DefaultClips = 20
	MaxClips     = 50
)

// Clip is a short video that was cut from a stream.
type Clip struct {
	ID           string
	Handle       protocol.Handle   // owner of the stream
	MarketID     protocol.MarketID // empty: none
	Title        string            // may be empty
	URL          string
	ThumbnailURL *string
	Duration     *int32 // seconds
	Status       string
	Stance       *string // call of the owner on the market; nil: none
	Views        int64
	Boosted      bool
	CreatedBy    protocol.Handle
	CreatedAt    time.Time
	ReadyAt      time.Time
}
