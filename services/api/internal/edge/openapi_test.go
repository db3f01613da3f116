package edge_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/signalcast/signalcast/pkg/web"
	"github.com/signalcast/signalcast/proto/openapi"
)

// described lists what the description says of this host's operations: openness
// to browsers, callers and the time in shared caches, by "METHOD /path/:param".
func described(t *testing.T, host string) map[string]string {
	t.Helper()
	var doc struct {
		Paths map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal(openapi.JSON, &doc); err != nil {
		t.Fatal(err)
	}
	words := map[string]string{"operatorKey": "key", "identityToken": "jwt", "adminSecret": "admin"}
	out := map[string]string{}
	for path, methods := range doc.Paths {
		path = regexp.MustCompile(`\{(\w+)\}`).ReplaceAllString(strings.ReplaceAll(path, "{rest}", "*"), ":$1")
		for method, raw := range methods {
			var op struct {
				Open     bool `json:"x-signalcast-cors-open"`
				Shared   int  `json:"x-signalcast-shared-cache-seconds"`
				Security []map[string][]string
				Servers  []struct{ URL string }
			}
			if json.Unmarshal(raw, &op) != nil || !slices.ContainsFunc(op.Servers, func(s struct{ URL string }) bool { return s.URL == "https://"+host+".example" }) {
				continue
			}
			var who []string
			for _, scheme := range op.Security {
				for name := range scheme {
					who = append(who, words[name])
				}
				if len(scheme) == 0 {
					who = append(who, "public")
				}
			}
			if len(op.Security) == 0 {
				who = []string{"public"}
			}
			slices.Sort(who)
			open := op.Open || path == "/healthz" || path == "/readyz" // as their description says
			out[strings.ToUpper(method)+" "+path] = fmt.Sprint(open, who, op.Shared)
		}
	}
	return out
}

// TestRoutesAreDescribed: what is served is what is described, no more, no less.
func TestRoutesAreDescribed(t *testing.T) {
	t.Parallel()
	doc := described(t, "api")
	age := regexp.MustCompile(`s-maxage=(\d+)`)
	for _, route := range setup(t, options{memory: 1}).edge.Table() {
		name, shared := route.Method+" "+route.Path, "0"
		if m := age.FindStringSubmatch(route.Cache); m != nil {
			shared = m[1]
		}
		who := slices.Sorted(slices.Values(route.Who))
		if got := fmt.Sprint(route.CORS == web.Open, who, " ", shared); doc[name] == "" {
			t.Errorf("%s is not described", name)
		} else if got != doc[name] {
			t.Errorf("%s is %s, described as %s", name, got, doc[name])
		}
		delete(doc, name)
	}
	for name := range doc {
		t.Errorf("%s is described and not served", name)
	}
}
