package federation

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/test/prove/client"
)

// TestTwoStations: two whole stacks show each other's tapes and operators, nothing goes
// round, and one that is killed is shown for a while and then is missing. Partners that
// lie, hang and flood cost the honest one nothing.
func TestTwoStations(t *testing.T) {
	bin := programs(t)
	a, b := open(t, bin, "alpha"), open(t, bin, "bravo")
	a.partner(t, "bravo", b.Hub, b.Hub+"/api/network/tapes", b.Hub+"/api/network/operators")
	b.partner(t, "alpha", a.Hub, a.Hub+"/api/network/tapes", a.Hub+"/api/network/operators")
	for _, pair := range [][2]*site{{a, b}, {b, a}} {
		me, other := pair[0], pair[1]
		me.sees(t, other.name+"/"+other.handle)
		for _, list := range []string{"tapes", "operators"} {
			all, short := me.rows(t, list, "")
			if len(all) != 2 || !strings.Contains(short, "hub/"+me.handle) {
				t.Errorf("%s shows %s: %s", me.name, list, short)
			}
			for _, r := range all {
				want := me.Hub
				if r.Origin == other.name {
					want = other.Hub
				}
				if r.OriginURL != want || r.Href != want+"/u/"+r.Handle {
					t.Errorf("%s: a row of %s says %s and leads to %s", list, r.Origin, r.OriginURL, r.Href)
				}
			}
			if _, short := me.rows(t, list, "?exclude="+other.Hub); short != "hub/"+me.handle {
				t.Errorf("%s without the other: %s", list, short)
			}
			if _, short := me.rows(t, list, "?exclude=hub"); short != other.name+"/"+other.handle {
				t.Errorf("%s without us: %s", list, short)
			}
		}
	}
	view(t, a)
	liars(t, a, b)
	programme(t, a)
	killed(t, a, b)
}

// view counts a start of a partner's tape here.
func view(t *testing.T, a *site) {
	t.Helper()
	tapes, _ := a.rows(t, "tapes", "?exclude=hub")
	path := a.Hub + "/api/network/tapes/" + tapes[0].ID + "/view"
	one := client.NewAt("127.77.7.7")
	defer one.Close()
	for _, want := range []string{`"counted":true`, `"counted":false`} {
		if r := one.Do(t.Context(), client.Request{Method: http.MethodPost, URL: path}); r.Status != http.StatusOK || !strings.Contains(string(r.Body), want) {
			t.Errorf("a start: %s, want %s", r, want)
		}
	}
}

// programme waits for the clock to tell what a station airs.
func programme(t *testing.T, a *site) {
	t.Helper()
	eventually(t, time.Minute, "the programme of a station", func() bool {
		var p struct {
			Total    int `json:"total"`
			Segments []struct {
				SegmentID string `json:"segmentId"`
			} `json:"segments"`
		}
		a.must(t, a.http.Do(t.Context(), client.Request{URL: a.API + "/api/v1/stations/bravo/program"}).Into(http.StatusOK, &p))
		return p.Total > 0 && len(p.Segments) > 0 && strings.HasPrefix(p.Segments[0].SegmentID, "station.bravo:") // its own rundown
	})
}

// killed ends the other site. Its rows stay while the last copy is young.
func killed(t *testing.T, a, b *site) {
	t.Helper()
	b.Stop()
	gone := time.Now()
	for time.Since(gone) < keep/2 {
		if _, short := a.rows(t, "tapes", ""); !strings.Contains(short, "bravo/"+b.handle) {
			t.Fatalf("missing %s after the end: %s", time.Since(gone), short)
		}
		if _, short := a.rows(t, "operators", ""); !strings.Contains(short, "bravo/"+b.handle) {
			t.Fatalf("missing %s after the end: %s", time.Since(gone), short)
		}
	}
	eventually(t, 2*keep+20*time.Second, "only what is our own", func() bool {
		_, tapes := a.rows(t, "tapes", "")
		_, operators := a.rows(t, "operators", "")
		return !strings.Contains(tapes+operators, "bravo/") && strings.Contains(tapes, "hub/"+a.handle) && strings.Contains(operators, "hub/"+a.handle)
	})
}

// liars are three partners: one speaks for others, one hangs, one sends a bomb.
func liars(t *testing.T, a, b *site) {
	t.Helper()
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	for range 256 {
		if _, err := z.Write(bytes.Repeat([]byte(" "), 1<<20)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	tape := func(id, originURL, handle string) string {
		return fmt.Sprintf(`{"id":%q,"origin":"hub","originUrl":%q,"handle":%q,"url":"https://video.example/x.m3u8","marketId":"1","href":%q,"durationS":null,"views":0,"stance":null,"createdAt":"2026-01-01T00:00:00.000Z","boosted":true}`,
			id, originURL, handle, originURL+"/u/"+handle)
	}
	var liar *httptest.Server
	liar = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprintf(w, `{"tapes":[%s,%s,%s,{"id":7},null],"operators":[]}`, tape("of-hub", a.Hub, a.handle), tape("of-bravo", b.Hub, b.handle), tape("own", liar.URL, "liar"))
	}))
	t.Cleanup(liar.Close)
	over := make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-over:
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(slow.Close)
	t.Cleanup(func() { close(over) })
	flood := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(bomb.Bytes())
	}))
	t.Cleanup(flood.Close)
	for id, s := range map[string]*httptest.Server{"liar": liar, "slow": slow, "flood": flood} {
		a.partner(t, id, s.URL, s.URL+"/t", s.URL+"/o")
	}
	eventually(t, 40*time.Second, "the one honest row of the liar", func() bool {
		_, short := a.rows(t, "tapes", "")
		return strings.Contains(short, "liar/liar")
	})
	all, short := a.rows(t, "tapes", "")
	if len(all) != 3 || !strings.Contains(short, "bravo/"+b.handle) || !strings.Contains(short, "hub/"+a.handle) {
		t.Errorf("beside partners that are none: %s", short)
	}
	for _, r := range all {
		if r.ID == "of-hub" || r.ID == "of-bravo" {
			t.Errorf("%s speaks for %s", r.Origin, r.ID)
		}
	}
	for _, id := range []string{"liar", "slow", "flood"} {
		a.must(t, a.http.Do(t.Context(), client.Request{URL: a.API + "/api/v1/stations/" + id + "/status", As: client.Admin(a.AdminSecret), Body: map[string]any{"status": "suspended"}}).Into(http.StatusOK, nil))
	}
	eventually(t, 40*time.Second, "a suspended station is missing", func() bool {
		_, short := a.rows(t, "tapes", "")
		return !strings.Contains(short, "liar/")
	})
}
