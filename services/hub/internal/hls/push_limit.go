package hls

import (
	"net/http"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/httpx"
)

// Limits of the duration and the number of uploads. Idle time and body time apply to one upload.
const (
	maxIdle          = 15 * time.Second // maximum time without a byte
	maxBodyTime      = 90 * time.Second // maximum time of a body; a live encoder sends a segment while it records it
	maxOpen          = 4                // concurrent uploads of a stream
	openPerRendition = 2                // additional concurrent uploads for each rendition
)

// errOpen is the error of an upload above the limit of concurrent uploads.
var errOpen = apperr.New(apperr.Limited, "rate_limited",
	"limit of 4 concurrent pushes of a stream, and 2 more for each rendition, reached; retry in 1 s").
	With("limit", maxOpen).With("retryAfterMs", int64(1000))

// limitBody sets the time limits for reading the body of a request: Options.Idle without a byte, and maxBodyTime in total.
func (o *Origin) limitBody(w http.ResponseWriter, r *http.Request) {
	idle := o.o.Idle
	if idle == 0 {
		idle = maxIdle
	}
	httpx.LimitBodyTime(w, r, idle, maxBodyTime)
}

// beginPush counts an upload as open until the function done is called. It returns errOpen if too many uploads of the stream
// are open.
func (s *stream) beginPush() (done func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	renditions := 0
	for _, l := range s.state.Lists {
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
