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

// Figures of viewers.
const (
	// ViewLife is how long one is counted that does not ask again.
	ViewLife = 45 * time.Second
	// ViewEvery is how often a viewer is asked to.
	ViewEvery = 20 * time.Second
	// PerAddress is how many viewers of one stream an address may be.
	PerAddress  = 20
	MaxViewerID = 64
)

// View stores that a viewer watches, one of at most PerAddress at an address, and returns how many do. An operator who
// is not live has no viewers, and without Redis none are counted. Viewers are stored in Redis alone: what is lost is sent
// again within ViewEvery. viewer and address must be hashes. Error: db_unavailable.
func (s *Service) View(ctx context.Context, handle protocol.Handle, viewer, address string) (int64, error) {
	_, live, err := s.Shown(ctx, handle)
	if err != nil || !live {
		return 0, err
	}
	n, err := s.see(ctx, handle, viewer, address, s.Now())
	if err != nil {
		return 0, nil //nolint:nilerr // without Redis viewers are not counted
	}
	return n, nil
}

// Sweep ends what has no heartbeat any more and takes away signals that came to their
// end. One process does it at a time. Error: db_unavailable.
func (s *Service) Sweep(ctx context.Context) (int, error) {
	n, err := s.Store.Sweep(ctx, s.Now())
	if n > 0 {
		s.forget()
	}
	return n, err
}

//go:embed see.lua
var seeSource string

var seeScript = redis.NewScript(seeSource)

func viewersOf(handle protocol.Handle) string { return redisx.Key("viewers", string(handle)) }

// lastSeen returns the time before which a viewer that was not seen again is not counted, in milliseconds.
func lastSeen(now time.Time) int64 { return now.Add(-ViewLife).UnixMilli() }

// see stores that a viewer watches and returns how many viewers do.
func (s *Service) see(ctx context.Context, handle protocol.Handle, viewer, address string, now time.Time) (int64, error) {
	keys := []string{viewersOf(handle), redisx.Key("viewers", string(handle), address)}
	return seeScript.Run(ctx, s.Redis, keys, viewer, now.UnixMilli(), lastSeen(now), PerAddress, ViewLife.Milliseconds()).Int64()
}

// countViewers returns how many watch each operator, in the order of handles.
func (s *Service) countViewers(ctx context.Context, handles []protocol.Handle, now time.Time) ([]int64, error) {
	since := "(" + strconv.FormatInt(lastSeen(now), 10)
	asked := make([]*redis.IntCmd, len(handles))
	_, err := s.Redis.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, h := range handles {
			asked[i] = p.ZCount(ctx, viewersOf(h), since, "+inf")
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	out := make([]int64, len(handles))
	for i := range asked {
		out[i] = asked[i].Val()
	}
	return out, nil
}
