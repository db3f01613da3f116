package openapi_test

import (
	"testing"

	"github.com/signalcast/signalcast/proto/openapi"
)

func TestServing(t *testing.T) {
	t.Parallel()
	const hub, api, clock = "https://hub.test", "https://api.test", "https://clock.test"
	all := openapi.Hosts{Hub: hub, API: api, Clock: clock}
	for path, want := range map[string]string{
		"/api/v1/webhooks": api, "/api/v1/webhooks/0199": api, "/api/aura/top": api, "/ws": api, "/program/now": clock,
		"/api/predictions": hub, "/api/m/701122/crowd": hub, "/markets": hub,
		"/healthz": "", "/nothing": "", "/api/v1/webhooks/": "", "/api/v1/webhooks/1/2/3": "", "": "", "//": "",
	} {
		if got := all.Serving(path); got != want {
			t.Errorf("%s: served by %q, want %q", path, got, want)
		}
	}
	if got := (openapi.Hosts{Hub: hub}).Serving("/api/v1/webhooks"); got != "" {
		t.Errorf("a host without a URL: %q", got)
	}
}
