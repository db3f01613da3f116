package edge_test

import (
	"net/http"
	"testing"
	"time"
)

// A crowd that is what it was is not sent again, however late it is asked for.
func TestCrowdThatDidNotChange(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tag := b.send("GET", "/api/m/999/crowd", "").Header().Get("ETag")
	b.clock.Advance(time.Minute)
	w := b.send("GET", "/api/m/999/crowd", "", with("If-None-Match", tag))
	if tag == "" || w.Code != http.StatusNotModified || w.Header().Get("ETag") != tag || w.Body.Len() != 0 {
		t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
	}
}

// A cursor that nobody made starts from the beginning, though the ledger could
// not even be told of it.
func TestForgedCursor(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, cursor := range []string{"%ff", "%00", "a%20b", "%E8%AA%9E", "!", "x", "%22"} {
		w := b.send("GET", "/api/m/999/signals?cursor="+cursor, "")
		if w.Code != http.StatusOK || w.Header().Get("X-Degraded") != "" {
			t.Errorf("%s: %d %v %s", cursor, w.Code, w.Header(), w.Body)
		}
	}
}
