package httpx

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestProbe(t *testing.T) {
	t.Parallel()
	status := http.StatusOK
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/readyz" {
			t.Errorf("requested %s, want /readyz", r.URL.Path)
		}
		w.WriteHeader(status)
	}))
	defer s.Close()
	addr := strings.TrimPrefix(s.URL, "http://")
	everywhere := ":" + addr[strings.LastIndexByte(addr, ':')+1:]
	for _, a := range []string{addr, everywhere, "0.0.0.0" + everywhere} {
		if err := Probe(t.Context(), a); err != nil {
			t.Errorf("%s: %v", a, err)
		}
	}
	status = http.StatusServiceUnavailable
	if err := Probe(t.Context(), addr); err == nil {
		t.Error("Probe accepted a service that is not ready")
	}
	for _, a := range []string{"nonsense", "127.0.0.1:1"} {
		if err := Probe(t.Context(), a); err == nil {
			t.Errorf("Probe accepted %s", a)
		}
	}
}
