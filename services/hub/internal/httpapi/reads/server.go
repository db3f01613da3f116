package reads

import (
	"log/slog"
	"time"

	"github.com/signalcast/signalcast/pkg/httpcache"
	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/services/hub/internal/account"
	"github.com/signalcast/signalcast/services/hub/internal/email"
	"github.com/signalcast/signalcast/services/hub/internal/follow"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
	"github.com/signalcast/signalcast/services/hub/internal/livestream"
	"github.com/signalcast/signalcast/services/hub/internal/market"
	"github.com/signalcast/signalcast/services/hub/internal/picture"
)

// Cache times and maximum numbers of cached responses.
const (
	quickStale   = 2 * time.Second
	quickIfError = 5 * time.Second

	wireLast = 10 * time.Minute
	wireKeys = 128 // few, because the lists are long
	tileKeys = 64  // two heatmap modes, and the lengths of the oracle list
	listKeys = 64  // lists of airable markets

	marketKeys = 256 // lists of all markets

	relatedTTL     = 5 * time.Second
	relatedTimeout = 900 * time.Millisecond // the ledger may read an unknown market from its venue
	relatedKeys    = 1024
)

// Server handles public GET routes: feeds, boards, markets, records and histories. It also returns the field record of an
// authenticated caller. It caches some of the responses.
type Server struct {
	HubURL   string
	VenueA   string
	Ledger   *ledgerclient.Client
	Follows  *follow.Service
	OnAir    *livestream.Service
	Pins     market.Store
	Accounts account.Store
	Email    *email.Service
	Pictures *picture.Service
	Log      *slog.Logger
	Now      func() time.Time

	TilePages                           view.FallbackCache
	movePages, situationPages           view.FallbackCache
	feedPages, boardPages, airingPages  view.FallbackCache // their fallback copies are not used
	marketPages                         view.FallbackCache // its fallback copies are not used
	recordPages, skillPages, pulsePages *httpcache.Cache
	relatedPages                        *httpcache.Cache
	eventLeads                          *eventLeads
	exports                             exportLimiter
}

// New sets up the caches of s and returns s.
func New(s *Server, b *view.Caches) *Server {
	quick := httpcache.Options{TTL: view.QuickTTL, Stale: quickStale, IfError: quickIfError, Timeout: view.BuildTimeout}
	s.feedPages.Pages, s.boardPages.Pages = b.OpenShared("feed", quick), b.OpenShared("board", quick)
	marketLists := quick
	marketLists.MaxKeys = marketKeys
	s.marketPages.Pages = b.OpenShared("markets", marketLists)
	s.recordPages = b.Open(quick) // many, and each has few readers
	s.skillPages = b.OpenShared("skill", httpcache.Options{TTL: skillTTL, Stale: skillTTL, Timeout: SkillTimeout, MaxKeys: skillKeys})
	s.pulsePages = b.OpenShared("pulse", httpcache.Options{TTL: pulseTTL, Timeout: PulseTimeout})
	s.airingPages.Pages = b.OpenShared("airable", view.Every(view.ProgramTTL, view.ProgramStale, listKeys))
	s.relatedPages = b.OpenShared("related", httpcache.Options{
		TTL: relatedTTL, Stale: relatedTTL, Timeout: relatedTimeout, MaxKeys: relatedKeys,
	})
	moving := view.Every(view.MovingTTL, view.MovingStale, wireKeys)
	s.movePages = b.WithFallback("wire", moving, wireLast, wireKeys, "")
	s.situationPages = b.WithFallback("situations", moving, wireLast, wireKeys, "")
	s.TilePages = b.WithFallback("tiles", view.Every(view.MovingTTL, view.MovingStale, tileKeys), view.ProgramLast, tileKeys, "")
	s.eventLeads = newEventLeads(s.Ledger.Wire, s.Now)
	b.OnClose(s.eventLeads.leads.Close)
	return s
}
