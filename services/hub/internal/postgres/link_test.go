package postgres_test

import (
	"errors"
	"sync"
	"testing"

	"github.com/signalcast/signalcast/services/hub/internal/share"
)

// TestShortLinks checks that concurrent requests for a short link to the same target get the same code.
func TestShortLinks(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	codes := make([]string, 50)
	var all sync.WaitGroup
	for i := range codes {
		all.Go(func() {
			code, err := share.Mint(t.Context(), s, share.Market, "701122")
			if err != nil {
				t.Error(err)
			}
			codes[i] = code
		})
	}
	all.Wait()
	for _, c := range codes {
		if c != codes[0] {
			t.Fatalf("one target has the codes %q and %q", c, codes[0])
		}
	}
	if l, err := s.Link(t.Context(), codes[0]); err != nil || l != (share.Link{Code: codes[0], Kind: share.Market, ID: "701122"}) {
		t.Errorf("%+v %v", l, err)
	}
	if code, err := s.AddLink(t.Context(), share.Link{Code: codes[0], Kind: share.Signal, ID: "x"}); code != "" || err != nil {
		t.Errorf("a code of another target: %q %v", code, err)
	}
	if _, err := s.Link(t.Context(), "1111111"); !errors.Is(err, share.ErrUnknown) {
		t.Error(err)
	}
}
