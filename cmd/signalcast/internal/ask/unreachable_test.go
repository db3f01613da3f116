package ask

import (
	"context"
	"net/url"
	"strings"
	"testing"
)

// TestUnreachable checks that only a request that its command did not end is reported as one to an unavailable service.
func TestUnreachable(t *testing.T) {
	t.Parallel()
	if err := unreachable(&url.Error{Op: "Get", URL: "http://a.example/x", Err: context.Canceled}); err.Error() != context.Canceled.Error() {
		t.Errorf("an ended command has the error %v; want %v", err, context.Canceled)
	}
	err := unreachable(&url.Error{Op: "Get", URL: "http://a.example/x", Err: context.DeadlineExceeded})
	if !strings.HasPrefix(err.Error(), "http://a.example cannot be reached") {
		t.Errorf("a service that cannot be reached has the error %v", err)
	}
}
