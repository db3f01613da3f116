package edge_test

import (
	"strings"
	"testing"

	"github.com/signalcast/signalcast/docs"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/hub/internal/edge"
)

func TestOpenAPI(t *testing.T) {
	t.Parallel()
	b := setup(t)
	one, two := b.send("GET", "/openapi.json", ""), b.send("GET", "/docs/openapi.json", "")
	if one.Body.String() != `{"openapi":"3.1.0"}` || one.Body.String() != two.Body.String() || one.Header().Get("Etag") != two.Header().Get("Etag") {
		t.Errorf("%s and %s", one.Body, two.Body)
	}
	if w := b.send("GET", "/docs/openapi.json", "", with("If-None-Match", one.Header().Get("Etag"))); w.Code != 304 {
		t.Errorf("status %d", w.Code)
	}
}

// TestOverview: what programs read first names the host, every kind of operation and
// where the contract is; it does not grow with the contract.
func TestOverview(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *edge.Config, _ *edge.Deps) { c.OpenAPI, c.Source = openapi.JSON, docs.OpenAPI })
	w := b.send("GET", "/llms.txt", "")
	body := w.Body.String()
	if w.Code != 200 || w.Header().Get("Content-Type") != "text/plain; charset=utf-8" || !strings.HasPrefix(body, "# Signalcast\n\n> ") || len(body) > 8<<10 {
		t.Fatalf("%d %v %d bytes\n%.300s", w.Code, w.Header(), len(body), body)
	}
	for _, want := range []string{"](" + hubURL + "/docs)", "](" + hubURL + "/openapi.json)", "](" + hubURL + "/docs/openapi.yaml)", "- [signals](" + hubURL + "/docs#/signals), ", "- [webhooks]("} {
		if !strings.Contains(body, want) {
			t.Errorf("it lacks %q", want)
		}
	}
	if again := b.send("GET", "/llms.txt", "", with("If-None-Match", w.Header().Get("Etag"))); again.Code != 304 || again.Body.Len() != 0 {
		t.Errorf("again: %d", again.Code)
	}
	source := b.send("GET", "/docs/openapi.yaml", "")
	if source.Code != 200 || source.Header().Get("Content-Type") != "application/yaml" || source.Body.String() != string(docs.OpenAPI) || source.Header().Get("Etag") == "" {
		t.Errorf("%d %v", source.Code, source.Header())
	}
	if bare := setup(t); !strings.HasPrefix(bare.send("GET", "/llms.txt", "").Body.String(), "# ") {
		t.Error("a description of nothing gives no overview")
	}
}
