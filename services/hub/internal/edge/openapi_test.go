package edge_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/signalcast/signalcast/pkg/web"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/hub/internal/edge"
	"github.com/signalcast/signalcast/services/hub/internal/edge/pages"
)

// TestEveryRouteIsDescribed: with pages and health mounted as the service mounts
// them, what is served is what is described, no more, no less.
func TestEveryRouteIsDescribed(t *testing.T) {
	t.Parallel()
	b := setup(t, func(_ *edge.Config, d *edge.Deps) { d.Health = web.NewHealth("nonce", d.Now) })
	if err := pages.Mount(b.server.Edge(), pages.Deps{}); err != nil {
		t.Fatal(err)
	}
	doc := described(t)
	for _, route := range b.server.Table() {
		name := route.Method + " " + route.Path
		if _, ok := doc[name]; !ok {
			t.Errorf("%s is not described", name)
		}
		delete(doc, name)
	}
	for name := range doc {
		t.Errorf("%s is described and not served", name)
	}
}

// TestSharedCachesAreDescribed: the time that caches may keep an answer is the one
// that the description gives.
func TestSharedCachesAreDescribed(t *testing.T) {
	t.Parallel()
	var doc struct {
		Paths map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal(openapi.JSON, &doc); err != nil {
		t.Fatal(err)
	}
	age := regexp.MustCompile(`s-maxage=(\d+)`)
	for _, route := range setup(t).server.Table() {
		path := regexp.MustCompile(`:(\w+)`).ReplaceAllString(route.Path, "{$1}")
		var op struct {
			Shared json.RawMessage `json:"x-signalcast-shared-cache-seconds"`
		}
		if raw, ok := doc.Paths[path]["get"]; !ok || route.Method != "GET" || json.Unmarshal(raw, &op) != nil {
			continue
		}
		var want []int
		var one int
		var several map[string]int
		if json.Unmarshal(op.Shared, &one) == nil {
			want = append(want, one)
		} else if json.Unmarshal(op.Shared, &several) == nil {
			for _, n := range several {
				want = append(want, n)
			}
		}
		m := age.FindStringSubmatch(route.Cache)
		if (m != nil) != (want != nil) {
			t.Errorf("%s: %q, described %v", route.Path, route.Cache, want)
			continue
		}
		if m != nil {
			if n, err := strconv.Atoi(m[1]); err != nil || !slices.Contains(want, n) {
				t.Errorf("%s: %q, described %v", route.Path, route.Cache, want)
			}
		}
	}
}
