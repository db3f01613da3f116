package attention

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// week is a value of the window parameter of an attention history, in addition to protocol.Windows.
const week = "7d"

// MostPoints is the largest number of points of a history.
const MostPoints = 2000

// ParseSpan returns the length of the window of a history. raw is the name of a window of protocol.Windows or "7d". An
// unknown value means 24 hours.
func ParseSpan(raw string) time.Duration {
	if raw == week {
		return 7 * 24 * time.Hour
	}
	return protocol.ParseWindow(raw).Duration()
}

// History returns the attention score of a market within the last span, oldest point first. It has a point for each change.
// For an open market it also has a point at the start of the span, if the score at that time is known, and a point for the
// newest reading. If there are more than MostPoints, it has the newest of them. A market whose score was always 0 has no points,
// unless it is open. Error: db_unavailable.
func (s *Service) History(ctx context.Context, id protocol.MarketID, span time.Duration) ([]Point, error) {
	from := s.now().Add(-span)
	points, err := s.store.ListAttentionHistory(ctx, id, from, MostPoints)
	if err != nil {
		return nil, err
	}
	st := s.last.Load()
	var index int
	open := false
	if st != nil {
		index, open = st.indexes[id]
	}
	if len(points) > 0 && points[0].At.Before(from) {
		if points[0].At = from; !open {
			points = points[1:] // the market may have closed before from
		}
	}
	if open && (len(points) == 0 || points[len(points)-1].At.Before(st.at)) {
		points = append(points, Point{st.at, st.rows[index].Score})
	}
	return points[max(0, len(points)-MostPoints):], nil
}
