package httpx_test

import (
	"context"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/telemetry"
)

func TestRequestID(t *testing.T) {
	t.Parallel()
	var inside string
	b := setup(t, httpx.Route{Method: "GET", Path: "/id", Handler: func(c echo.Context) error {
		inside = telemetry.RequestID(c.Request().Context())
		return httpx.OK(c, nil)
	}})
	const made = "0199f0a4-0000-7000-8000-000000000001"
	for given, want := range map[string]string{
		"":                                     made,
		"6ba7b810-9dad-11d1-80b4-00c04fd430c8": "6ba7b810-9dad-11d1-80b4-00c04fd430c8",
		"4BF92F3577B34DA6A3CE929D0E0E4736":     "4BF92F3577B34DA6A3CE929D0E0E4736",
		"6ba7b810-9dad-11d1-80b4-00c04fd430cg": made,
		"6ba7b810x9dad-11d1-80b4-00c04fd430c8": made,
		"dk_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX":  made,
		"x\"} {\"level\":\"ERROR\"":            made,
		strings.Repeat("a", 33):                made,
	} {
		w := b.do("GET", "/id", "X-Request-Id", given)
		if got := w.Header().Get("X-Request-Id"); got != want || inside != want {
			t.Errorf("request id %q: response header %q, context %q", given, got, inside)
		}
	}
	if telemetry.RequestID(context.Background()) != "" {
		t.Error("a context without a request has a request id")
	}
}

func TestAccessLogHidesSecrets(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.do("GET", "/api/private?secret=CANARY1&limit=5&Token=CANARY2&%73ecret=CANARY3&code=CANARY4&client_secret=CANARY5&lane=MUSIC&return_to=%2Fprotocol%2Fauthorize%3Fstate%3DCANARY7&x%zz=CANARY6",
		"Authorization", "Bearer CANARY7", "Cookie", "db_sig=CANARY8", "x-admin-secret", "CANARY9")
	log := b.log.String()
	if strings.Contains(log, "CANARY") {
		t.Errorf("the log contains a secret: %s", log)
	}
	if !strings.Contains(log, "limit=5") || !strings.Contains(log, "lane=MUSIC") || !strings.Contains(log, `"path":"/api/private"`) {
		t.Errorf("the log lacks a parameter or the path: %s", log)
	}
	if !strings.Contains(log, `"level":"DEBUG"`) {
		t.Error("a fast read was not logged at level debug")
	}
	b.do("POST", "/api/network/m/1?q="+strings.Repeat("x", 5000))
	if log := b.log.String(); !strings.Contains(log, `"level":"INFO","msg":"request"`) || len(log) > 3000 {
		t.Errorf("the log of a write has %d bytes or lacks its info record", len(log))
	}
}

func TestPeer(t *testing.T) {
	t.Parallel()
	trusted := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8"), netip.MustParsePrefix("127.0.0.1/32")}
	for _, c := range []struct {
		socket  string
		forward []string
		trusted []netip.Prefix
		want    string
	}{
		{"203.0.113.7:5000", nil, nil, "203.0.113.7"},
		{"203.0.113.7:5000", []string{"1.2.3.4"}, nil, "203.0.113.7"},
		{"127.0.0.1:5000", []string{"1.2.3.4"}, nil, "127.0.0.1"},
		{"[2001:db8::1]:5000", nil, nil, "2001:db8::1"},
		{"203.0.113.7:5000", []string{"1.2.3.4"}, trusted, "203.0.113.7"},
		{"10.0.0.1:5000", []string{"1.2.3.4"}, trusted, "1.2.3.4"},
		{"10.0.0.1:5000", []string{"9.9.9.9, 1.2.3.4 , 10.0.0.2"}, trusted, "1.2.3.4"},
		{"10.0.0.1:5000", []string{"9.9.9.9", "1.2.3.4"}, trusted, "1.2.3.4"},
		{"10.0.0.1:5000", nil, trusted, "10.0.0.1"},
		{"10.0.0.1:5000", []string{"junk"}, trusted, "10.0.0.1"},
		{"10.0.0.1:5000", []string{"1.2.3.4, junk, 10.0.0.2"}, trusted, "10.0.0.2"},
		{"10.0.0.1:5000", []string{"10.0.0.3, 10.0.0.2"}, trusted, "10.0.0.3"},
		{"[::ffff:10.0.0.1]:5000", []string{"::ffff:1.2.3.4"}, trusted, "1.2.3.4"},
		{"[fd00::1]:5000", []string{"2001:db8::9"}, trusted, "2001:db8::9"},
		{"127.0.0.1:5000", []string{"127.0.0.9"}, trusted, "127.0.0.9"},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = c.socket
		r.Header["X-Forwarded-For"] = c.forward
		if got := httpx.Peer(r, c.trusted); got != c.want {
			t.Errorf("%s %v: %s, want %s", c.socket, c.forward, got, c.want)
		}
	}
}
