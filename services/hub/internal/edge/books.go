package edge

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/signalcast/signalcast/pkg/fault"
	"github.com/signalcast/signalcast/pkg/page"
	"github.com/signalcast/signalcast/pkg/web"
)

// Times of the books. A page of the feed or of a board is built again behind
// its readers once a second. A build that does not come back in time is given
// up, so that no reader waits for a ledger that hangs.
const (
	quickTTL     = time.Second
	quickStale   = 2 * time.Second
	quickIfError = 5 * time.Second
	quickTimeout = 800 * time.Millisecond

	programTTL     = 30 * time.Second
	programStale   = 30 * time.Second
	programLast    = 5 * time.Minute // a copy this young covers for a clock that is away
	programTimeout = 800 * time.Millisecond
	programKeys    = 512

	// What the ledger has in memory: asked for often, so that one that is away is
	// told within half a minute.
	movingTTL   = 10 * time.Second
	movingStale = 20 * time.Second

	reelTTL   = 2 * time.Second // what partners show changes once a minute
	reelStale = 8 * time.Second

	wireLast = 10 * time.Minute
	wireKeys = 128 // the lists are long, and few of them are asked for
	airKeys  = 64
	castKeys = 512 // pages of the feed of the air
	tileKeys = 64  // two modes, and the lengths of the oracle's list
)

func (s *server) openBooks() {
	failed := func(key string, err error) {
		s.Log.Warn("page not built", "key", strings.ReplaceAll(key, "\x00", " "), "error", err)
	}
	quick := page.Options{
		TTL: quickTTL, Stale: quickStale, IfError: quickIfError, Timeout: quickTimeout, Now: s.Now, Failed: failed,
	}
	s.feeds, s.boardPages = page.New(quick), page.New(quick)
	named := func(o page.Options) *page.Book {
		o.Failed = func(key string, err error) {
			if fault.Of(err).Kind != fault.NotFound { // anybody may ask for nobody
				failed(key, err)
			}
		}
		return page.New(o)
	}
	s.records = named(quick)
	s.skills = named(page.Options{TTL: skillTTL, Stale: skillTTL, Timeout: skillTimeout, MaxKeys: skillKeys, Now: s.Now})
	s.pulses = page.New(page.Options{TTL: pulseTTL, Timeout: pulseTimeout, Now: s.Now, Failed: failed})
	slow := func(keys int) page.Options {
		return page.Options{
			TTL: programTTL, Stale: programStale, Timeout: programTimeout, MaxKeys: keys, Now: s.Now,
			Failed: func(key string, err error) {
				if p := (*passing)(nil); !errors.As(err, &p) { // one that passes is an answer, and counted as one
					failed(key, err)
				}
			},
		}
	}
	moving := func(keys int) page.Options {
		return withTTL(slow(keys), movingTTL, movingStale)
	}
	copies := func(keys int, life time.Duration) page.Options {
		return page.Options{TTL: life, MaxKeys: keys, Now: s.Now}
	}
	s.programs = newCovered(slow(programKeys), copies(programKeys, programLast), "clock")
	s.tiles = newCovered(moving(tileKeys), copies(tileKeys, programLast), "")
	s.moves = newCovered(moving(wireKeys), copies(wireKeys, wireLast), "")
	s.situations = newCovered(moving(wireKeys), copies(wireKeys, wireLast), "")
	s.air = newCovered(withTTL(slow(castKeys), quickTTL, quickTTL), copies(airKeys, programLast), "")
	s.plans = newCovered(moving(airKeys), copies(airKeys, programLast), "")
	s.airing = page.New(slow(airKeys))
	s.reels = page.New(page.Options{TTL: reelTTL, Stale: reelStale, Timeout: programTimeout, MaxKeys: airKeys, Now: s.Now, Failed: failed})
}

func withTTL(o page.Options, ttl, stale time.Duration) page.Options {
	o.TTL, o.Stale = ttl, stale
	return o
}

// closeBooks ends the builds of all books and waits for them.
func (s *server) closeBooks() {
	for _, book := range []*page.Book{s.feeds, s.boardPages, s.airing, s.reels, s.records, s.skills, s.pulses} {
		book.Close()
	}
	for _, book := range []covered{s.programs, s.tiles, s.moves, s.situations, s.air, s.plans} {
		book.close()
	}
}

// front answers hits of the hot reads before the router runs. What it cannot
// answer, and whom it may not, it leaves to the routes.
func (s *server) front(next http.Handler, count func(method, route string, status int) func()) http.Handler {
	allow := func(_ http.ResponseWriter, r *http.Request) bool {
		return !carries(r) && s.Addresses.Allow(addressKey(web.Peer(r, s.Trusted))).Allowed
	}
	hot := func(pattern, cache string, cors web.CORS, book *page.Book, key func(string) string) page.Hot {
		header := cors.Headers()
		header.Set("Cache-Control", cache)
		return page.Hot{
			Pattern: pattern, Book: book, Header: header,
			Key: func(_, rawQuery string) (string, bool) { return key(rawQuery), true },
		}
	}
	return page.NewFront(next, page.FrontOptions{Allow: allow, Count: count},
		hot("/api/signals/feed", cacheShort, web.None, s.feeds, func(raw string) string { return readFeed(raw).key() }),
		hot("/api/operator/leaderboard", cacheBoard, web.None, s.boardPages, func(raw string) string { return readBoard(raw).key() }),
		hot("/api/"+s.VenueA+"/featured", cacheProgram, web.Open, s.tiles.pages, func(raw string) string { return readMode(raw) }),
		hot("/api/oracle/featured", cacheProgram, web.Open, s.tiles.pages, func(raw string) string { return oracleKey(readOracle(raw)) }),
		hot("/api/fashion/signals", cacheShort, web.Open, s.feeds, func(raw string) string { return fashionKey(readFashion(raw)) }),
		hot("/api/wire", cacheWire, web.None, s.moves.pages, func(raw string) string { return wireKey(readMoves(raw)) }),
		hot("/api/situations", cacheWire, web.Open, s.situations.pages, func(raw string) string { return wireKey(readSituations(raw)) }),
		hot("/api/markets/airable", cacheProgram, web.None, s.airing, func(raw string) string { return readAirable(raw).key() }),
		hot("/api/broadcast/spotlight", cacheNow, web.Open, s.air.pages, func(string) string { return spotlightKey }),
		hot("/api/broadcast/feed", cacheShort, web.Open, s.air.pages, func(raw string) string { return airFeedKey(readAirFeed(raw)) }),
		hot("/api/broadcast/bumpers", cacheProgram, web.Open, s.plans.pages, func(string) string { return bumpersKey }),
		hot("/api/broadcast/influence", cacheBoard, web.Open, s.plans.pages, func(raw string) string { return influenceKey(readInfluence(raw)) }),
		hot("/api/broadcast/schedule", cacheProgram, web.Open, s.plans.pages, func(raw string) string { return scheduleKey(readSchedule(raw)) }),
		hot("/api/broadcast/program", cacheProgram, web.Open, s.programs.pages, func(raw string) string { return programKey(readBroadcast(raw)) }),
		hot("/api/network/program", cacheProgram, web.Open, s.programs.pages, func(raw string) string { return programKey(readNetwork(raw)) }),
	)
}

// params makes page parameters that are taken as they come; the reader of the
// query cleans them.
func params(names ...string) []page.Param {
	out := make([]page.Param, len(names))
	for i, name := range names {
		out[i] = page.Param{Name: name, Clean: func(v string) string { return v }}
	}
	return out
}

func joinKey(parts ...string) string { return strings.Join(parts, "\x00") }

func keyOf(n int) string { return strconv.Itoa(n) }
