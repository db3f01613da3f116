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

// Numbers of pages, and times of pages with one use.
const (
	quickStale   = 2 * time.Second
	quickIfError = 5 * time.Second

	wireLast = 10 * time.Minute
	wireKeys = 128 // the lists are long, and few of them are read
	tileKeys = 64  // two modes, and the lengths of the oracle's list
	listKeys = 64  // of airable markets
)

// Server handles the GET routes that need no credential: feeds, boards, markets, records and histories. It caches most answers.
type Server struct {
	HubURL  string
	VenueA  string
	Ledger  *ledgerclient.Client
	Follows *follow.Service
	OnAir   *livestream.Service
	Pins    market.Store
	Log     *slog.Logger
	Now     func() time.Time

	TilePages                           view.Covered
	movePages, situationPages           view.Covered
	feedPages, boardPages, airingPages  view.Covered // without copies
	recordPages, skillPages, pulsePages *httpcache.Cache
	stories                             *stories
	leaving                             recordRoom
}

// New returns a server with its caches.
func New(s *Server, b *view.Books) *Server {
	quick := httpcache.Options{TTL: view.QuickTTL, Stale: quickStale, IfError: quickIfError, Timeout: view.BuildTimeout}
	s.feedPages.Pages, s.boardPages.Pages, s.recordPages = b.Open(quick), b.Open(quick), b.Open(quick)
	s.skillPages = b.Open(httpcache.Options{TTL: skillTTL, Stale: skillTTL, Timeout: SkillTimeout, MaxKeys: skillKeys})
	s.pulsePages = b.Open(httpcache.Options{TTL: pulseTTL, Timeout: PulseTimeout})
	s.airingPages.Pages = b.Open(view.Every(view.ProgramTTL, view.ProgramStale, listKeys))
	moving := view.Every(view.MovingTTL, view.MovingStale, wireKeys)
	s.movePages, s.situationPages = b.Covered(moving, wireLast, wireKeys, ""), b.Covered(moving, wireLast, wireKeys, "")
	s.TilePages = b.Covered(view.Every(view.MovingTTL, view.MovingStale, tileKeys), view.ProgramLast, tileKeys, "")
	s.stories = newStories(s.Ledger.Wire, s.Now)
	b.OnClose(s.stories.leads.Close)
	return s
}
