package signalcast

import (
	"context"

	"github.com/signalcast/signalcast/sdk/go/client"
)

// Programme reads the programme: the segments on the air and the next ones.
type Programme struct{ c *Client }

// Now returns the segment on the air in a lane of the default programme or of a preset.
func (p Programme) Now(ctx context.Context, params *client.GetNowParams) (client.SegmentAnswer, error) {
	return read[client.SegmentAnswer](p.c.Clock.GetNow(ctx, params))
}

// Next returns the segment that follows the segment on the air.
func (p Programme) Next(ctx context.Context, params *client.GetNextParams) (client.SegmentAnswer, error) {
	return read[client.SegmentAnswer](p.c.Clock.GetNext(ctx, params))
}

// Timeline returns the segments of the default programme.
func (p Programme) Timeline(ctx context.Context, params *client.GetTimelineParams) (client.ClockProgram, error) {
	return read[client.ClockProgram](p.c.Clock.GetTimeline(ctx, params))
}

// Channel returns the segments of a preset, or of the markets that match the FilterSpec in params.
func (p Programme) Channel(ctx context.Context, params *client.GetChannelParams) (client.ClockProgram, error) {
	return read[client.ClockProgram](p.c.Clock.GetChannel(ctx, params))
}
