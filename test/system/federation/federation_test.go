package federation

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/test/system/stack"
)

// TestPartnersShowEachOther checks that two systems show each other's tapes and operators, and never show their own entries
// through the partner. When a partner stops, its entries stay visible for a limited time. Partners that send false entries,
// hang, or send too much data must not affect the entries of the honest partner.
func TestPartnersShowEachOther(t *testing.T) {
	a, b := newSite(t, "alpha"), newSite(t, "bravo")
	a.addPartner(t, "bravo", b.Hub, b.Hub+"/api/network/tapes", b.Hub+"/api/network/operators")
	b.addPartner(t, "alpha", a.Hub, a.Hub+"/api/network/tapes", a.Hub+"/api/network/operators")
	for _, pair := range [][2]*site{{a, b}, {b, a}} {
		requireEntriesOf(t, pair[0], pair[1])
	}
	requireBoostedFirst(t, a, b)
	requireOneViewPerAddress(t, a)
	requireHonestEntries(t, a, b)
	requireProgrammeOfStation(t, a)
	requireEntriesExpire(t, a, b)
}

// requireEntriesOf requires that the site me shows its own entry and the entry of the other site. Each entry must have the
// address of its origin.
func requireEntriesOf(t *testing.T, me, other *site) {
	t.Helper()
	own, theirs := "hub/"+me.operator.Handle, other.name+"/"+other.operator.Handle
	stack.Eventually(t, 40*time.Second, me.name+" to show "+theirs+" in both lists", func() bool {
		return strings.Count(me.both(t), theirs) == 2
	})
	for _, list := range []string{"tapes", "operators"} {
		all, names := me.entries(t, list, "")
		if len(all) != 2 || !slices.Contains(names, own) {
			t.Errorf("%s of %s are %v; want %s and %s", list, me.name, names, own, theirs)
		}
		for _, e := range all {
			want := me.Hub
			if e.Origin == other.name {
				want = other.Hub
			}
			if e.OriginURL != want || e.Href != want+"/u/"+e.Handle {
				t.Errorf("%s: an entry of %s has origin %s and links to %s; want %s", list, e.Origin, e.OriginURL, e.Href, want)
			}
		}
		if _, names := me.entries(t, list, "?exclude="+other.Hub); !slices.Equal(names, []string{own}) {
			t.Errorf("%s with partners excluded are %v; want %s", list, names, own)
		}
		if _, names := me.entries(t, list, "?exclude=hub"); !slices.Equal(names, []string{theirs}) {
			t.Errorf("%s with the own hub excluded are %v; want %s", list, names, theirs)
		}
	}
}

// requireBoostedFirst boosts the clip of a, which is older than that of b. Both sites must then list it first, and second after the
// end of the boost.
func requireBoostedFirst(t *testing.T, a, b *site) {
	t.Helper()
	own, _ := a.entries(t, "tapes", "?exclude="+b.Hub)
	for _, boosted := range []bool{true, false} {
		body := stack.JSON{"id": own[0].ID, "boosted": boosted}
		stack.Post(t, a.Hub+"/api/admin/clips", a.Admin(), stack.Body(body)).Require(http.StatusOK).Expect(body)
		for _, s := range []*site{a, b} {
			stack.Eventually(t, 40*time.Second, fmt.Sprintf("%s to list the clip of alpha first: %v", s.name, boosted), func() bool {
				list, _ := s.entries(t, "tapes", "")
				return len(list) == 2 && (list[0].ID == own[0].ID) == boosted && list[0].Boosted == boosted
			})
		}
	}
	stack.Post(t, a.Hub+"/api/admin/clips", a.Admin(), stack.Body(stack.JSON{"id": a.operator.ID, "boosted": true})).
		RequireError(http.StatusNotFound, "not_found")
}

// requireOneViewPerAddress starts a tape of a partner twice from one IP address, and requires that this counts as one view.
func requireOneViewPerAddress(t *testing.T, a *site) {
	t.Helper()
	tapes, _ := a.entries(t, "tapes", "?exclude=hub")
	viewer := stack.NewClient()
	for _, counted := range []bool{true, false} {
		viewer.Do(t, http.MethodPost, a.Hub+"/api/network/tapes/"+tapes[0].ID+"/view").
			Require(http.StatusOK).Expect(stack.JSON{"counted": counted})
	}
}

// requireProgrammeOfStation waits until the clock publishes the programme of a station.
func requireProgrammeOfStation(t *testing.T, a *site) {
	t.Helper()
	stack.Eventually(t, time.Minute, "the programme of a station", func() bool {
		p := stack.Get(t, a.API+"/api/v1/stations/bravo/program").Require(http.StatusOK)
		return p.Int("total") > 0 && len(p.List("segments")) > 0 && strings.HasPrefix(p.Text("segments.0.segmentId"), "station.bravo:")
	})
}

// requireEntriesExpire stops site b. Site a must continue to show the entries of b until its last copy of them is older than
// keepFor.
func requireEntriesExpire(t *testing.T, a, b *site) {
	t.Helper()
	theirs := "bravo/" + b.operator.Handle
	b.Stop(t)
	for ended := time.Now(); time.Since(ended) < keepFor/2; {
		if both := a.both(t); strings.Count(both, theirs) != 2 {
			t.Fatalf("%v after the end of the partner the lists are %s; want %s in both", time.Since(ended), both, theirs)
		}
	}
	own := "hub/" + a.operator.Handle
	stack.Eventually(t, 2*keepFor+20*time.Second, "lists with the own entries only", func() bool {
		both := a.both(t)
		return !strings.Contains(both, "bravo/") && strings.Count(both, own) == 2
	})
}

// requireHonestEntries adds three bad partners and requires that the entries of b stay unchanged. One bad partner publishes
// entries of other sites, one does not answer, and one sends 256 MiB of compressed data.
func requireHonestEntries(t *testing.T, a, b *site) {
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
		return fmt.Sprintf(`{"id":%q,"origin":"hub","originUrl":%q,"handle":%q,"url":"https://video.example/x.m3u8","marketId":"1",`+
			`"href":%q,"durationS":null,"views":0,"stance":null,"createdAt":"2026-01-01T00:00:00.000Z","boosted":true}`,
			id, originURL, handle, originURL+"/u/"+handle)
	}
	var liar *httptest.Server
	liar = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, `{"tapes":[%s,%s,%s,{"id":7},null],"operators":[]}`, tape("of-hub", a.Hub, a.operator.Handle),
			tape("of-bravo", b.Hub, b.operator.Handle), tape("own", liar.URL, "liar"))
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
	bad := map[string]*httptest.Server{"liar": liar, "slow": slow, "flood": flood}
	for id, s := range bad {
		a.addPartner(t, id, s.URL, s.URL+"/t", s.URL+"/o")
	}
	tapes := func() []string {
		_, names := a.entries(t, "tapes", "")
		return names
	}
	stack.Eventually(t, 40*time.Second, "the only valid entry of the partner liar", func() bool { return slices.Contains(tapes(), "liar/liar") })
	all, names := a.entries(t, "tapes", "")
	want := []string{"bravo/" + b.operator.Handle, "hub/" + a.operator.Handle, "liar/liar"}
	if slices.Sort(names); !slices.Equal(names, want) {
		t.Errorf("with bad partners the tapes are %v; want %v", names, want)
	}
	for _, e := range all {
		if e.ID == "of-hub" || e.ID == "of-bravo" {
			t.Errorf("the entry %[2]s of another site is shown, although only %[1]s published it", e.Origin, e.ID)
		}
	}
	for id := range bad {
		a.setStatus(t, id, "suspended")
	}
	stack.Eventually(t, 40*time.Second, "lists without entries of the suspended station", func() bool { return !slices.Contains(tapes(), "liar/liar") })
}
