package hls

import (
	"net/http"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/httpx"
)

// Patience with what comes slowly.
const (
	idleMost = 15 * time.Second // without a byte
	bodyMost = 90 * time.Second // for all of it, which is longer than a segment takes to film
	openMost = 4                // pushes of a stream at once
	openEach = 2                // more for each rendition
)

// errOpen refuses one push too many at once.
var errOpen = apperr.New(apperr.Limited, "rate_limited", "too many pushes of this stream are open at once").With("limit", openMost).With("retryAfterMs", int64(1000))

// patience puts limits on the body of a request.
func (o *Origin) patience(w http.ResponseWriter, r *http.Request) {
	idle := o.o.Idle
	if idle == 0 {
		idle = idleMost
	}
	httpx.LimitBodyTime(w, r, idle, bodyMost)
}

// enter counts a push that is open, until left. Error: errOpen.
func (s *stream) enter() (left func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	renditions := 0
	for _, l := range s.k.Lists {
		if l.First != "" {
			renditions = max(renditions, len(l.Files))
		}
	}
	if s.open >= openMost+openEach*renditions {
		return nil, errOpen
	}
	s.open++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.open--
	}, nil
}
