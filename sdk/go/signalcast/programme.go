package signalcast

import (
	"context"

	"github.com/signalcast/signalcast/sdk/go/client"
)

// Programme is what is on the air and what comes next.
type Programme struct{ c *Client }

// Now reads what is on a lane of the default programme, or of a preset.
func (p Programme) Now(ctx context.Context, params *client.GetNowParams) (client.SegmentAnswer, error) {
	return read[client.SegmentAnswer](p.c.Clock.GetNow(ctx, params))
}

// Next reads what comes after it.
func (p Programme) Next(ctx context.Context, params *client.GetNextParams) (client.SegmentAnswer, error) {
	return read[client.SegmentAnswer](p.c.Clock.GetNext(ctx, params))
}

// Timeline reads the segments of the default programme.
func (p Programme) Timeline(ctx context.Context, params *client.GetTimelineParams) (client.ClockProgram, error) {
	return read[client.ClockProgram](p.c.Clock.GetTimeline(ctx, params))
}

// Channel reads the segments of a preset, or of a FilterSpec of one's own.
func (p Programme) Channel(ctx context.Context, params *client.GetChannelParams) (client.ClockProgram, error) {
	return read[client.ClockProgram](p.c.Clock.GetChannel(ctx, params))
}
