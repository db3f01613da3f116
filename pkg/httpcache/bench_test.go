package httpcache_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/httpcache"
)

// sink discards responses at minimal cost, so that the benchmark measures the page only.
type sink struct{ h http.Header }

func (s sink) Header() http.Header         { return s.h }
func (s sink) WriteHeader(int)             {}
func (s sink) Write(b []byte) (int, error) { return len(b), nil }

// BenchmarkHandler measures cache hits of a 20 kB page without network I/O: whole body, revalidation and stored gzip.
func BenchmarkHandler(b *testing.B) {
	pages := httpcache.New(httpcache.Options{TTL: time.Hour, Now: time.Now})
	defer pages.Close()
	params := []httpcache.Param{{Name: "type", Clean: func(string) string { return "recent" }}}
	key := func(_, raw string) (string, bool) { return httpcache.JoinKey(httpcache.Query(raw, params)...), true }
	p, err := pages.Get(b.Context(), "recent", func(context.Context) ([]byte, error) { return feed(500), nil })
	if err != nil {
		b.Fatal(err)
	}
	f := httpcache.NewHandler(http.NotFoundHandler(), httpcache.HandlerOptions{}, httpcache.Hot{
		Pattern: "/api/signals/feed", Cache: pages, Key: key,
		Header: http.Header{"Access-Control-Allow-Origin": {"*"}, "Cache-Control": {"public, s-maxage=5"}},
	})
	for name, header := range map[string]http.Header{
		"hit":  {},
		"304":  {"If-None-Match": {p.ETag()}},
		"gzip": {"Accept-Encoding": {"gzip, deflate, br"}},
	} {
		b.Run(name, func(b *testing.B) {
			r, err := http.NewRequest(http.MethodGet, "/api/signals/feed?type=recent", nil)
			if err != nil {
				b.Fatal(err)
			}
			r.Header = header
			w := sink{h: make(http.Header)}
			b.ReportAllocs()
			for b.Loop() {
				clear(w.h)
				f.ServeHTTP(w, r)
			}
			if name == "hit" && w.h.Get("Content-Length") == "" {
				b.Fatal("the page was not served from the cache")
			}
		})
	}
}

// BenchmarkMake measures the hash and the gzip compression of a changed page.
func BenchmarkMake(b *testing.B) {
	body := feed(500)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		httpcache.Make(body)
	}
}
