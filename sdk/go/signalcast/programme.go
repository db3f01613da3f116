package signalcast

import (
	"context"

	"github.com/signalcast/signalcast/sdk/go/client"
)

// Programme reads the programme of channels: the segments that air now and the following ones.
type Programme struct{ c *Client }

// Now returns the segment that airs now in a lane of the default programme or of a preset.
func (p Programme) Now(ctx context.Context, params *client.GetNowParams) (client.SegmentAnswer, error) {
	return read[client.SegmentAnswer](p.c.Clock.GetNow(ctx, params))
}

// Next returns the next content segment in the lane that Now selects for the same parameters.
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
