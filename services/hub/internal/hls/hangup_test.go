package hls_test

import (
	"bytes"
	"context"
	"io"
	"net/http/httptest"
	"strings"
	"testing"
)

// hangsUp is the body of a request whose encoder sends everything and closes the connection before the answer.
type hangsUp struct {
	io.Reader
	leave func()
}

func (h hangsUp) Read(b []byte) (int, error) {
	n, err := h.Reader.Read(b)
	if err != nil {
		h.leave()
	}
	return n, err
}

// TestEncoderHangsUp checks that a complete upload is stored and counts as a heartbeat, even if the encoder closes the connection
// before the answer.
func TestEncoderHangsUp(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for name, body := range map[string][]byte{"a1.ts": packet("a1"), "index.m3u8": media("a", 1, 1)} {
		if name == "index.m3u8" {
			b.put("a1.ts", packet("a1"))
		}
		ctx, leave := context.WithCancel(t.Context())
		r := httptest.NewRequestWithContext(ctx, "PUT", "/ingest/"+key+"/mara_k/"+name, hangsUp{bytes.NewReader(body), leave})
		w := httptest.NewRecorder()
		b.o.ServeHTTP(w, r)
		b.want(w, 204, "")
	}
	if got := b.get("/live/mara_k/index.m3u8"); !strings.HasSuffix(got, "a1") || len(b.pulse.of) != 1 {
		t.Errorf("%s %v", got, b.pulse.of)
	}
}
