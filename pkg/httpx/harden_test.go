package httpx_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/signalcast/signalcast/pkg/httpx"
)

func TestProductionAnswersCarrySecurityHeaders(t *testing.T) {
	t.Parallel()
	names := []string{"Strict-Transport-Security", "Permissions-Policy", "Cross-Origin-Opener-Policy"}
	for _, production := range []bool{true, false} {
		h := httpx.Harden(http.NotFoundHandler(), production)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/anything", nil))
		for _, name := range names {
			if sent := w.Header().Get(name) != ""; sent != production || w.Code != http.StatusNotFound {
				t.Errorf("production %t: header %s is %q", production, name, w.Header().Get(name))
			}
		}
	}
}
