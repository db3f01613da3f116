package httpapi

import (
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/services/api/internal/broker"
	"github.com/signalcast/signalcast/services/api/internal/feed"
)

// A client comes back after a time chosen by chance, so that many do not come at once.
const (
	retryLeast = 500 // ms
	retryMost  = 5000
)

var (
	errNoChannels = apperr.New(apperr.Invalid, "missing_channels", "name the channels, separated by commas")
	errLastEvent  = apperr.New(apperr.Invalid, "invalid_since", "the last event id is none of this stream's").With("field", "since")
)

// stream is GET /api/v1/feed/stream: the feed as server-sent events, with the frames
// of the websocket and the same guarantees. The id of an event holds the place on
// every channel, so that Last-Event-ID resumes all of them.
func (s *sockets) stream(c echo.Context) error {
	r := c.Request()
	if keyInURL(r.URL) {
		return ErrUnauthenticated.Say("a credential never travels in the URL")
	}
	wishes, err := s.wishes(c)
	if err != nil {
		return err
	}
	if !s.Broker.Ready() {
		return errStarting
	}
	header := c.Response().Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("Cache-Control", "no-store")
	header.Set("X-Accel-Buffering", "no") // a proxy that keeps it back makes it no stream
	if r.Method == http.MethodHead {
		return c.NoContent(http.StatusOK)
	}
	address := addressKey(c.RealIP())
	if err := s.reserve(address, ""); err != nil {
		return err
	}
	ctx := r.Context()
	p := newEventPipe(c.Response(), wishes, s.Broker.Head())
	k := newSocket(s, p, holder{}, address)
	k.reader = s.Broker.NewReader(p)
	c.Response().WriteHeader(http.StatusOK)
	p.begin(retryLeast + rand.IntN(retryMost-retryLeast))
	k.greet()
	k.listen(ctx, "", wishes)
	code := broker.Normal // the reader knows better
	select {
	case <-ctx.Done():
		code = broker.Gone
	case <-p.ending:
	}
	k.finish(ctx, code)
	p.finish()
	return nil
}

// wishes reads what a stream is of and where it goes on.
func (s *sockets) wishes(c echo.Context) ([]catchUp, error) {
	var out []catchUp
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
			return nil, errOwn // a stream takes no credential
		case seen[channel]:
			continue
		case len(out) == s.Limits.Subscriptions:
			return nil, errFull.With("limit", s.Limits.Subscriptions)
		}
		seen[channel] = true
		out = append(out, catchUp{channel: channel})
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
	places := strings.Split(last, "-")
	if len(places) != 1 && len(places) != len(out) {
		return nil, errLastEvent
	}
	for i := range out {
		n, err := strconv.ParseInt(places[i%len(places)], 10, 64)
		if err != nil || n < 0 {
			return nil, errLastEvent
		}
		out[i].since, out[i].resumes = n, true
	}
	return out, nil
}
