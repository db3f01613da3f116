package grpcapi

import (
	"testing"

	"github.com/signalcast/signalcast/pkg/apperr"
	feedv1 "github.com/signalcast/signalcast/proto/feed/v1"
	"github.com/signalcast/signalcast/services/api/internal/feed"
)

// TestPublishRequiresTimes checks that an entry without a time is rejected before anything is stored. An absent timestamp must not
// become the time 1970-01-01.
func TestPublishRequiresTimes(t *testing.T) {
	t.Parallel()
	const id = "01920000-0000-7000-8000-000000000001"
	for name, r := range map[string]*feedv1.PublishRequest{
		"fact":          {Facts: []*feedv1.Fact{{Id: id, Type: string(feed.ClipReady), Data: "{}"}}},
		"copy":          {Copies: []*feedv1.Copy{{Channel: string(feed.Live), Data: "{}"}}},
		"watching":      {Watching: []*feedv1.Watching{{Handle: "mara", Viewers: 1}}},
		"viewer report": {ViewerReports: []*feedv1.ViewerReport{{Id: id, Handle: "mara", ViewerSeconds: 60}}},
		"tapes":         {Tapes: []*feedv1.Tapes{{MarketId: "701122", Tapes: 1}}},
	} {
		if _, err := (&Feed{}).Publish(t.Context(), r); apperr.Of(err) == nil || apperr.Of(err).Code != feed.ErrFact.Code {
			t.Errorf("%s without a time: %v; want %v", name, err, feed.ErrFact)
		}
	}
}
