package limitless_test

import (
	"testing"

	"github.com/signalcast/signalcast/services/api/internal/venue/venuetest"
)

// Until it was listed, a market may be of a group that its own record does not name.
func TestBeforeItIsListedAnAnswerIsShort(t *testing.T) {
	t.Parallel()
	const id, slug = "lmt-ada-quill-1787000000001", "ada-quill-1787000000001"
	b := setup(t, map[string]string{"/markets/active": venuetest.Sample(t, "markets_active_page1.json"), "/markets/" + slug: venuetest.Sample(t, "market_group_child.json")})
	got, err := b.adapter.Get(t.Context(), id)
	if err != nil || !got.Short || got.Question != "Ada Quill" || got.EventKey != "" {
		t.Errorf("got %+v, %v", got, err)
	}
	listed, _, err := b.adapter.List(t.Context(), "")
	if err != nil || len(listed) == 0 {
		t.Fatal(err)
	}
	for _, m := range listed {
		if m.Short {
			t.Errorf("listed as short: %+v", m)
		}
	}
	if got, err = b.adapter.Get(t.Context(), id); err != nil || got.Short || got.EventKey == "" {
		t.Errorf("got after the list %+v, %v", got, err)
	}
}
