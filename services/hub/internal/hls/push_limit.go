package hls

import (
	"net/http"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/httpx"
)

// Limits of the body of a push.
const (
	maxIdle          = 15 * time.Second // time without a byte
	maxBodyTime      = 90 * time.Second // time for the whole body; a live encoder sends a segment while it records it
	maxOpen          = 4                // concurrent pushes of a stream
	openPerRendition = 2                // additional ones for each rendition
)

// errOpen is the error of a push beyond the limit of concurrent pushes.
var errOpen = apperr.New(apperr.Limited, "rate_limited",
	"too many concurrent pushes of this stream; retry in 1 s").With("limit", maxOpen).With("retryAfterMs", int64(1000))

// limitBody sets time limits for reading the body of a request.
func (o *Origin) limitBody(w http.ResponseWriter, r *http.Request) {
	idle := o.o.Idle
	if idle == 0 {
		idle = maxIdle
	}
	httpx.LimitBodyTime(w, r, idle, maxBodyTime)
}

// beginPush counts a push as open until done is called. Error: errOpen.
func (s *stream) beginPush() (done func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	renditions := 0
	for _, l := range s.k.Lists {
		if l.First != "" {
			renditions = max(renditions, len(l.Files))
		}
	}
	if s.open >= maxOpen+openPerRendition*renditions {
		return nil, errOpen
	}
	s.open++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.open--
	}, nil
}
