package livestream

import (
	"context"
	_ "embed"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/redisx"
)

// Limits and intervals of counting viewers, and the maximum length of a viewer id.
const (
	// ViewLife is the time for which a viewer counts after its last report.
	ViewLife = 45 * time.Second
	// ViewEvery is the interval at which the player of a viewer reports.
	ViewEvery = 20 * time.Second
	// PerAddress is the maximum number of counted viewers of one stream from one IP address.
	PerAddress  = 20
	MaxViewerID = 64
)

// View records the report of a viewer and returns the number of viewers of the stream. At most PerAddress viewers per IP address
// count. View returns 0 if the operator is not live, and while Redis is unavailable. Viewers are stored only in Redis; if Redis
// loses them, they report again within ViewEvery. viewer and address must be hashes. Error: db_unavailable.
func (s *Service) View(ctx context.Context, handle protocol.Handle, viewer, address string) (int64, error) {
	_, live, err := s.Shown(ctx, handle)
	if err != nil || !live {
		return 0, err
	}
	n, err := s.recordView(ctx, handle, viewer, address, s.Now())
	if err != nil {
		return 0, nil //nolint:nilerr // without Redis viewers are not counted
	}
	return n, nil
}

// Sweep ends sessions without heartbeats and clears expired overlay signals. It returns the total number of ended sessions and
// cleared signals. Only one process at a time should run it. Error: db_unavailable.
func (s *Service) Sweep(ctx context.Context) (int, error) {
	n, err := s.Store.Sweep(ctx, s.Now())
	if n > 0 {
		s.invalidate()
	}
	return n, err
}

//go:embed view.lua
var viewSource string

var viewScript = redis.NewScript(viewSource)

func viewersOf(handle protocol.Handle) string { return redisx.Key("viewers", string(handle)) }

// lastSeen returns a time in Unix milliseconds. A viewer counts if its last report is later.
func lastSeen(now time.Time) int64 { return now.Add(-ViewLife).UnixMilli() }

// recordView stores the report of a viewer in Redis and returns the number of viewers of the stream.
func (s *Service) recordView(ctx context.Context, handle protocol.Handle, viewer, address string, now time.Time) (int64, error) {
	keys := []string{viewersOf(handle), redisx.Key("viewers", string(handle), address)}
	return viewScript.Run(ctx, s.Redis, keys, viewer, now.UnixMilli(), lastSeen(now), PerAddress, ViewLife.Milliseconds()).Int64()
}

// countViewers returns the number of viewers of each operator's stream, in the order of handles.
func (s *Service) countViewers(ctx context.Context, handles []protocol.Handle, now time.Time) ([]int64, error) {
	since := "(" + strconv.FormatInt(lastSeen(now), 10)
	counts := make([]*redis.IntCmd, len(handles))
	_, err := s.Redis.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, h := range handles {
			counts[i] = p.ZCount(ctx, viewersOf(h), since, "+inf")
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	out := make([]int64, len(handles))
	for i := range counts {
		out[i] = counts[i].Val()
	}
	return out, nil
}
