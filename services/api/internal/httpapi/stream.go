package httpapi

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/ratelimit"
	"github.com/signalcast/signalcast/services/api/internal/broker"
	"github.com/signalcast/signalcast/services/api/internal/feed"
)

// Bounds of the time after which a client reconnects, in milliseconds. Each stream gets a random time between them, so that
// clients do not reconnect all at once.
const (
	retryMin = 500 // ms
	retryMax = 5000
)

var (
	errNoChannels = apperr.New(apperr.Invalid, "missing_channels", "channels is required: channel names separated by commas")
	errLastEvent  = apperr.New(apperr.Invalid, "invalid_since",
		"Last-Event-ID or since must be an event number or an event id of a stream of these channels; "+
			"omit it to start with new events").With("field", "since")
)

// stream handles GET /api/v1/feed/stream: the feed as server-sent events, with the frames and guarantees of the websocket. The
// id of an event contains the position on every channel, so that a client resumes all channels with the header Last-Event-ID.
func (s *sockets) stream(c echo.Context) error {
	r := c.Request()
	if keyInURL(r.URL) {
		return apperr.ErrCredentialUnknown.WithText("the query must be well-formed and without a credential; send a credential in the header Authorization")
	}
	requested, err := s.parseChannels(c)
	if err != nil {
		return err
	}
	if !s.Broker.Ready() {
		return errStarting
	}
	if err := s.checkPositions(r.Context(), requested); err != nil {
		return err
	}
	header := c.Response().Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("Cache-Control", "no-store")
	header.Set("X-Accel-Buffering", "no") // a buffering proxy would delay the events
	if r.Method == http.MethodHead {
		return c.NoContent(http.StatusOK)
	}
	address := ratelimit.AddressKey(c.RealIP())
	if err := s.reserve(address, ""); err != nil {
		return err
	}
	ctx := r.Context()
	p := newEventConn(c.Response(), requested, s.Broker.Head())
	k := newSocket(s, p, holder{}, address)
	k.reader = s.Broker.NewReader(p)
	c.Response().WriteHeader(http.StatusOK)
	p.writeRetry(retryMin + rand.IntN(retryMax-retryMin))
	k.greet()
	k.startSubscriptions(ctx, "", requested)
	code := broker.Normal // used only if the reader has no code yet
	select {
	case <-ctx.Done():
		code = broker.ConnLost
	case <-p.finished:
	}
	k.finish(ctx, code)
	p.finish()
	return nil
}

// checkPositions returns the error future_cursor if a stream would start after a number above the newest event. Another process
// can be ahead of this one, so it reads the newest number from the database. If that fails, the stream reports an invalid start
// in an error frame.
func (s *sockets) checkPositions(ctx context.Context, requested []pendingSub) error {
	var last int64
	for _, p := range requested {
		last = max(last, p.since)
	}
	if last <= s.Broker.Head() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	var head int64
	err := s.lookup(ctx, s.lookups, func(ctx context.Context) (err error) {
		head, err = s.Feed.FeedHead(ctx)
		return err
	})
	if err == nil && last > head {
		return future("since", head)
	}
	return nil
}

// parseChannels returns the channels of a stream request, each with the event number after which it starts. Errors:
// missing_channels, unknown_channel, unauthenticated for the channel "me", limit_reached, invalid_since.
func (s *sockets) parseChannels(c echo.Context) ([]pendingSub, error) {
	var out []pendingSub
	seen := make(map[feed.Channel]bool)
	for name := range strings.SplitSeq(c.QueryParam("channels"), ",") {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		channel, known := feed.ParseChannel(name)
		switch {
		case !known:
			return nil, errChannel.With("channel", name)
		case channel == feed.Me:
			return nil, errOwn // a stream cannot have a key
		case seen[channel]:
			continue
		case len(out) == s.Limits.Subscriptions:
			return nil, errFull.WithText("channels must have at most %d names", s.Limits.Subscriptions).
				With("limit", s.Limits.Subscriptions)
		}
		seen[channel] = true
		out = append(out, pendingSub{channel: channel})
	}
	if len(out) == 0 {
		return nil, errNoChannels
	}
	last := c.Request().Header.Get("Last-Event-ID")
	if last == "" {
		last = c.QueryParam("since")
	}
	if last == "" {
		head := s.Broker.Head()
		for i := range out {
			out[i].since = head
		}
		return out, nil
	}
	positions := strings.Split(last, "-")
	if len(positions) != 1 && len(positions) != len(out) {
		return nil, errLastEvent
	}
	for i := range out {
		n, err := strconv.ParseInt(positions[i%len(positions)], 10, 64)
		if err != nil || n < 0 {
			return nil, errLastEvent
		}
		out[i].since, out[i].resumes = n, true
	}
	return out, nil
}
