package reads

import (
	"log/slog"
	"time"

	"github.com/signalcast/signalcast/pkg/httpcache"
	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/services/hub/internal/follow"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
	"github.com/signalcast/signalcast/services/hub/internal/livestream"
	"github.com/signalcast/signalcast/services/hub/internal/market"
)

// Cache times and maximum numbers of cached responses.
const (
	quickStale   = 2 * time.Second
	quickIfError = 5 * time.Second

	wireLast = 10 * time.Minute
	wireKeys = 128 // few, because the lists are long
	tileKeys = 64  // two heatmap modes, and the lengths of the oracle list
	listKeys = 64  // lists of airable markets
)

// Server handles public GET routes: feeds, boards, markets, records and histories. It also returns the field record of an
// authenticated caller. It caches some of the responses.
type Server struct {
	HubURL  string
	VenueA  string
	Ledger  *ledgerclient.Client
	Follows *follow.Service
	OnAir   *livestream.Service
	Pins    market.Store
	Log     *slog.Logger
	Now     func() time.Time

	TilePages                           view.FallbackCache
	movePages, situationPages           view.FallbackCache
	feedPages, boardPages, airingPages  view.FallbackCache // their fallback copies are not used
	recordPages, skillPages, pulsePages *httpcache.Cache
	eventLeads                          *eventLeads
	exports                             exportLimiter
}

// New sets up the caches of s and returns s.
func New(s *Server, b *view.Caches) *Server {
	quick := httpcache.Options{TTL: view.QuickTTL, Stale: quickStale, IfError: quickIfError, Timeout: view.BuildTimeout}
	s.feedPages.Pages, s.boardPages.Pages, s.recordPages = b.Open(quick), b.Open(quick), b.Open(quick)
	s.skillPages = b.Open(httpcache.Options{TTL: skillTTL, Stale: skillTTL, Timeout: SkillTimeout, MaxKeys: skillKeys})
	s.pulsePages = b.Open(httpcache.Options{TTL: pulseTTL, Timeout: PulseTimeout})
	s.airingPages.Pages = b.Open(view.Every(view.ProgramTTL, view.ProgramStale, listKeys))
	moving := view.Every(view.MovingTTL, view.MovingStale, wireKeys)
	s.movePages, s.situationPages = b.WithFallback(moving, wireLast, wireKeys, ""), b.WithFallback(moving, wireLast, wireKeys, "")
	s.TilePages = b.WithFallback(view.Every(view.MovingTTL, view.MovingStale, tileKeys), view.ProgramLast, tileKeys, "")
	s.eventLeads = newEventLeads(s.Ledger.Wire, s.Now)
	b.OnClose(s.eventLeads.leads.Close)
	return s
}
