package telemetry_test

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/telemetry"
	"github.com/signalcast/signalcast/pkg/version"
)

func TestMetrics(t *testing.T) {
	t.Parallel()
	m := telemetry.NewMetrics("hub", version.Build{Version: "v1.2.3", Commit: "0123", Go: "go1.26.8"})
	m.ObserveHTTP("GET", "/api/m/:id", 200, 3*time.Millisecond)
	m.ObserveHTTP("GET", "/api/m/:id", 200, 30*time.Millisecond)
	m.ObserveHTTP("GET", "", 404, time.Millisecond)
	m.CountPage("GET", "/api/feed", 304)()
	m.Degraded("/api/wire", "db")
	m.Counter("keys_total", "Keys.", "kind").WithLabelValues("dk").Add(2)
	m.GaugeFunc("lag_seconds", "Lag.", func() float64 { return 1.5 })
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	for _, want := range []string{
		`sc_http_request_seconds_bucket{method="GET",route="/api/m/:id",status="200",le="0.005"} 1`,
		`sc_http_request_seconds_count{method="GET",route="/api/m/:id",status="200"} 2`,
		`sc_http_request_seconds_count{method="GET",route="none",status="404"} 1`,
		`sc_http_page_hits_total{method="GET",route="/api/feed",status="304"} 1`,
		`sc_http_degraded_total{route="/api/wire",source="db"} 1`,
		`sc_keys_total{kind="dk"} 2`, `sc_lag_seconds 1.5`,
		`sc_build_info{commit="0123",goversion="go1.26.8",service="hub",version="v1.2.3"} 1`, "go_goroutines ", "process_open_fds ",
	} {
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("the metrics do not contain %s", want)
		}
	}
}
