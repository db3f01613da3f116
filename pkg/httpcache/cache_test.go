package httpcache_test

import (
	"context"
	"errors"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/signalcast/signalcast/pkg/httpcache"
	"github.com/signalcast/signalcast/pkg/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

func TestUnchangedPageIsReused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		pages := httpcache.New(httpcache.Options{TTL: time.Second, Now: time.Now})
		defer pages.Close()
		builds := 0
		get := func() *httpcache.Page {
			p, err := pages.Get(t.Context(), "k", func(context.Context) ([]byte, error) { builds++; return feed(500), nil })
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		a := get()
		time.Sleep(2 * time.Second)
		if b := get(); a != b || builds != 2 {
			t.Errorf("%d builds, same page: %v; want 2 builds and the same page", builds, a == b)
		}
	})
}

func TestServe(t *testing.T) {
	t.Parallel()
	pages := httpcache.New(httpcache.Options{TTL: time.Second, Now: time.Now})
	defer pages.Close()
	rec := httptest.NewRecorder()
	r := httptest.NewRequest("GET", "/", nil)
	if err := pages.Serve(rec, r, "a", func(context.Context) ([]byte, error) { return []byte("1"), nil }); err != nil || rec.Body.String() != "1" {
		t.Errorf("error %v, body %s; want body 1", err, rec.Body)
	}
	errDown := errors.New("source is down")
	rec = httptest.NewRecorder()
	err := pages.Serve(rec, r, "b", func(context.Context) ([]byte, error) { return nil, errDown })
	if !errors.Is(err, errDown) || rec.Body.Len() > 0 || len(rec.Header()) > 0 {
		t.Errorf("failed build: error %v, body %q, header %v; want its error and an empty response", err, rec.Body, rec.Header())
	}
}
