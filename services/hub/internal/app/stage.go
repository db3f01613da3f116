package app

import (
	"context"

	"github.com/signalcast/signalcast/services/hub/internal/broadcast"
)

// Live implements broadcast.Stage: approved operators only.
func (s stage) Live(ctx context.Context) ([]broadcast.Show, error) {
	live, err := s.air.Live(ctx)
	var list []broadcast.Show
	for _, l := range live {
		if l.Signal != nil && l.Approved {
			list = append(list, broadcast.Show{
				ShowID: l.ShowID, Handle: l.Handle, Viewers: l.Viewers, HLSURL: l.HLSURL, MarketID: l.Signal.MarketID, StartedAt: l.StartedAt,
			})
		}
	}
	return list, err
}
