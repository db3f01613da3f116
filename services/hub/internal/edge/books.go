package edge

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

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
	programTimeout = 2 * time.Second
	programKeys    = 512
)

func (s *server) openBooks() {
	failed := func(key string, err error) {
		s.log.Warn("page not built", "key", strings.ReplaceAll(key, "\x00", " "), "error", err)
	}
	quick := page.Options{
		TTL: quickTTL, Stale: quickStale, IfError: quickIfError, Timeout: quickTimeout, Now: s.now, Failed: failed,
	}
	s.feeds, s.boardPages = page.New(quick), page.New(quick)
	s.programs = page.New(page.Options{
		TTL: programTTL, Stale: programStale, Timeout: programTimeout, MaxKeys: programKeys, Now: s.now,
		Failed: func(key string, err error) {
			if p := (*passing)(nil); !errors.As(err, &p) { // one that passes is an answer, and counted as one
				failed(key, err)
			}
		},
	})
	s.tiles = page.New(page.Options{TTL: programTTL, Stale: programStale, Timeout: programTimeout, Now: s.now, Failed: failed})
	s.lastTiles = page.New(page.Options{TTL: programLast, Now: s.now})
	s.lastPrograms = page.New(page.Options{TTL: programLast, MaxKeys: programKeys, Now: s.now})
}

// front answers hits of the hot reads before the router runs. What it cannot
// answer, and whom it may not, it leaves to the routes.
func (s *server) front(next http.Handler, count func(method, route string, status int) func()) http.Handler {
	allow := func(_ http.ResponseWriter, r *http.Request) bool {
		return s.addresses.Allow(addressKey(web.Peer(r, s.trusted))).Allowed
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
		hot("/api/"+s.venueA+"/featured", cacheProgram, web.Open, s.tiles, func(raw string) string { return readMode(raw) }),
		hot("/api/broadcast/program", cacheProgram, web.Open, s.programs, func(raw string) string { return programKey(readBroadcast(raw)) }),
		hot("/api/network/program", cacheProgram, web.Open, s.programs, func(raw string) string { return programKey(readNetwork(raw)) }),
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
