package attention

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// week is the window that the history has besides those of the wire.
const week = "7d"

// MostPoints is the longest history.
const MostPoints = 2000

// ParseSpan reads the window of a history: those of the wire and 7d; anything
// unknown is 24h.
func ParseSpan(raw string) time.Duration {
	if raw == week {
		return 7 * 24 * time.Hour
	}
	return protocol.ParseWindow(raw).Duration()
}

// History is how the attention of a market went within a span, oldest first: a
// point where it changed, and for an open market one at the start of the span, if
// it is known what it was then, and one for now. A market that never had any has
// no points. Fault: db_unavailable.
func (s *Service) History(ctx context.Context, id protocol.MarketID, span time.Duration) ([]Point, error) {
	from := s.now().Add(-span)
	points, err := s.store.ListAttentionHistory(ctx, id, from, MostPoints)
	if err != nil {
		return nil, err
	}
	st := s.last.Load()
	var place int
	open := false
	if st != nil {
		place, open = st.places[id]
	}
	if len(points) > 0 && points[0].At.Before(from) {
		if points[0].At = from; !open {
			points = points[1:] // it may have closed before
		}
	}
	if open && (len(points) == 0 || points[len(points)-1].At.Before(st.at)) {
		points = append(points, Point{st.at, st.rows[place].Score})
	}
	return points, nil
}
