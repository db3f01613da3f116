package manifold_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/signalcast/signalcast/services/api/internal/venue"
	"github.com/signalcast/signalcast/services/api/internal/venue/manifold"
	"github.com/signalcast/signalcast/services/api/internal/venue/venuetest"
)

// both are the two sample pages in one answer.
func both(t *testing.T) string {
	t.Helper()
	one, two := strings.TrimSpace(venuetest.Sample(t, "bets_page1_desc.json")), strings.TrimSpace(venuetest.Sample(t, "bets_page2_last_desc.json"))
	return strings.TrimSuffix(one, "]") + "," + strings.TrimPrefix(two, "[")
}

func TestHistorySamples(t *testing.T) {
	t.Parallel()
	closed := time.UnixMilli(1791500000500)
	for name, c := range map[string]struct {
		i      venue.Interval
		closed *time.Time
		want   []venue.Point
	}{
		"all":                 {venue.All, nil, []venue.Point{{T: 1788300000, P: 0.4}, {T: 1791500000, P: 0.41}, {T: 1791632000, P: 0.4035}}},
		"a week":              {venue.Week, nil, []venue.Point{{T: 1791028800, P: 0.4}, {T: 1791500000, P: 0.41}, {T: 1791632000, P: 0.4035}}},
		"an hour":             {venue.Hour, nil, []venue.Point{{T: 1791630000, P: 0.41}, {T: 1791632000, P: 0.4035}}},
		"the last day of it":  {venue.Day, &closed, []venue.Point{{T: 1791413600, P: 0.4}, {T: 1791500000, P: 0.41}}},
		"an unknown interval": {"2D", nil, nil},
	} {
		b := setup(t, map[string]string{"/bets": both(t)})
		got, err := b.adapter.History(t.Context(), venue.Market{ID: "manifold-q7invented01", ClosedAt: c.closed}, c.i)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v %v, want %v", name, got, err, c.want)
		}
	}
	b := setup(t, map[string]string{"/bets": venuetest.Sample(t, "bet_points_unordered.json")})
	got, err := b.adapter.History(t.Context(), venue.Market{ID: "manifold-x"}, venue.All)
	if want := []venue.Point{{T: 1788300000, P: 0.4}, {T: 1791500000, P: 0.41}, {T: 1791632000, P: 0.4035}}; err != nil || !slices.Equal(got, want) {
		t.Errorf("rows without an id, in no order: %v %v", got, err)
	}
}

func TestBetsArePagedToTheStartOfTheStretch(t *testing.T) {
	t.Parallel()
	// A page of a thousand bets, one a second, ending before a moment.
	page := func(newest int64) string {
		var out []string
		for i := range int64(1000) {
			out = append(out, fmt.Sprintf(`{"id":"b%d","createdTime":%d,"probAfter":0.5}`, newest-i, (newest-i)*1000))
		}
		return "[" + strings.Join(out, ",") + "]"
	}
	base := "/bets?contractId=x&limit=1000&order=desc"
	b := setup(t, map[string]string{
		base: page(1791633600), "/bets?before=b1791632601&contractId=x&limit=1000&order=desc": page(1791632600),
		"/bets?before=b1791631601&contractId=x&limit=1000&order=desc": page(1791631600), "/bets?before=b1791630601&contractId=x&limit=1000&order=desc": page(1791630600),
	})
	got, err := b.adapter.History(t.Context(), venue.Market{ID: "manifold-x"}, venue.Hour)
	if err != nil || len(got) != 3601 || got[0].T != 1791630000 || got[3600].T != 1791633600 || len(b.Paths()) != 4 {
		t.Errorf("%d points after %v, %v", len(got), b.Paths(), err)
	}
	same := setup(t, map[string]string{"/bets": page(1791633600)})
	if got, err = same.adapter.History(t.Context(), venue.Market{ID: "manifold-x"}, venue.All); err != nil || len(got) != 1000 || len(same.Paths()) != 2 {
		t.Errorf("a page that repeats: %d points after %d requests, %v", len(got), len(same.Paths()), err)
	}
	newest, asked := int64(1791633600), 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(page(newest)))
		newest -= 1000
	}))
	defer srv.Close()
	a, err := manifold.New(manifold.Config{URL: srv.URL, RequestsPerSecond: 1e6}, venue.NewMeter(prometheus.NewRegistry()), func() time.Time { return noon })
	if err != nil {
		t.Fatal(err)
	}
	if got, err = a.History(t.Context(), venue.Market{ID: "manifold-x"}, venue.All); err != nil || asked != 10 || len(got) != 6000 || got[5999].T != 1791633600 {
		t.Errorf("bets without end: %d points after %d requests, %v", len(got), asked, err)
	}
}

func TestHistoryOfOddBets(t *testing.T) {
	t.Parallel()
	body := `[{"id":"9","createdTime":1791633700000,"probAfter":0.9},
		{"id":"8","createdTime":1791600000900,"probAfter":0.8},{"id":"7","createdTime":1791600000900,"probAfter":0.7},{"id":"6","createdTime":1791600000100,"probAfter":0.6},
		{"id":"5","createdTime":1791590000000,"probAfter":1.5},{"id":"4","createdTime":1791590000000,"probAfter":"NaN"},{"id":"3","createdTime":"soon","probAfter":0.3},
		{"id":"2","createdTime":1791580000000,"probAfter":0.2,"limitProb":0.2,"fills":[]},{"id":"1","createdTime":1791580000000,"probAfter":0.1,"limitProb":0.2,"fills":[{}]},
		{"id":"0","createdTime":1791570000000,"probAfter":5e-05},{"id":"r","createdTime":1791570001000,"probAfter":0.5,"isRedemption":true},{"id":"z","createdTime":1e300,"probAfter":0.5}]`
	got, err := setup(t, map[string]string{"/bets": body}).adapter.History(t.Context(), venue.Market{ID: "manifold-x"}, venue.All)
	if want := []venue.Point{{T: 1791570000, P: 0.0001}, {T: 1791580000, P: 0.1}, {T: 1791600000, P: 0.8}}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v %v", got, err)
	}
	for _, garbage := range []string{`{}`, `null`, `[`, `[{"id":5}]`, `[{"id":"a","createdTime":{}}]`} {
		if got, err := setup(t, map[string]string{"/bets": garbage}).adapter.History(t.Context(), venue.Market{ID: "manifold-x"}, venue.All); !errors.Is(err, venue.ErrUnavailable) {
			t.Errorf("%s: %v %v", garbage, got, err)
		}
	}
	for _, answers := range []map[string]string{{"/bets": `[]`}, nil} {
		if got, err := setup(t, answers).adapter.History(t.Context(), venue.Market{ID: "manifold-x"}, venue.All); err != nil || len(got) != 0 {
			t.Errorf("no bets: %v %v", got, err)
		}
	}
}
