package pages_test

import (
	"encoding/xml"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	cataloguev1 "github.com/signalcast/signalcast/proto/catalogue/v1"
	"github.com/signalcast/signalcast/services/api/apitest"
)

// locations returns the URLs of a sitemap or of an index of sitemaps.
func locations(t *testing.T, w *httptest.ResponseRecorder, root string) []string {
	t.Helper()
	var doc struct {
		XMLName  xml.Name
		URLs     []string `xml:"url>loc"`
		Sitemaps []string `xml:"sitemap>loc"`
	}
	if err := xml.Unmarshal(w.Body.Bytes(), &doc); w.Code != 200 || err != nil || doc.XMLName.Local != root ||
		doc.XMLName.Space != "http://www.sitemaps.org/schemas/sitemap/0.9" {
		t.Fatalf("%d %v: %.300s", w.Code, err, w.Body)
	}
	return append(doc.URLs, doc.Sitemaps...)
}

// TestSitemap checks the index of the sitemaps, and that a sitemap has the pages of markets and forecasters except hidden
// and suspended ones.
func TestSitemap(t *testing.T) {
	t.Parallel()
	b := setup(t)
	hidden := b.ledger.AddOperator("tide")
	b.addCalls(filedCall{ID: strings.Replace(callID, "aa", "ab", 1), Owner: hidden.GetId(), Market: gauge, Price: 6850, At: b.clock.Now()})
	b.withheld = map[string]bool{"tide": true}
	if got := locations(t, b.get("/sitemap.xml"), "sitemapindex"); !slices.Equal(got, []string{hubURL + "/sitemap.xml?page=1"}) {
		t.Errorf("index: %v", got)
	}
	w := b.get("/sitemap.xml?page=1")
	got := locations(t, w, "urlset")
	for _, path := range []string{"/", "/markets", "/about", "/m/" + gauge, "/m/kalshi-MILL", "/u/mara_k"} {
		if !slices.Contains(got, hubURL+path) {
			t.Errorf("the sitemap lacks %s: %v", path, got)
		}
	}
	if slices.Contains(got, hubURL+"/u/tide") {
		t.Error("the sitemap has a suspended forecaster")
	}
	r := httptest.NewRequest("GET", "/sitemap.xml?page=1", nil)
	r.Header.Set("If-None-Match", w.Header().Get("ETag"))
	if w := b.serve(r); w.Code != 304 {
		t.Errorf("unchanged: %d", w.Code)
	}
	for _, page := range []string{"0", "2", "01", "-1", "x"} {
		if w := b.get("/sitemap.xml?page=" + page); w.Code != 404 {
			t.Errorf("page %s: %d", page, w.Code)
		}
	}
}

// TestSitemapPages checks how the addresses are divided into sitemaps of 50,000 URLs.
func TestSitemapPages(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.edit(nil, nil, nil, func(m proto.Message) {
		if r, ok := m.(*cataloguev1.ListAddressesResponse); ok {
			r.Total = 100_000
		}
	})
	if got := locations(t, b.get("/sitemap.xml"), "sitemapindex"); len(got) != 3 {
		t.Errorf("index: %v", got)
	}
	first := len(locations(t, b.get("/sitemap.xml?page=1"), "urlset")) - 3 // two markets and a forecaster
	if q := apitest.Last[*cataloguev1.ListAddressesRequest](b.ledger); q.GetOffset() != 0 || int(q.GetLimit()) != 50_000-first {
		t.Errorf("first sitemap: %v", q)
	}
	b.get("/sitemap.xml?page=2")
	if q := apitest.Last[*cataloguev1.ListAddressesRequest](b.ledger); int(q.GetOffset()) != 50_000-first || q.GetLimit() != 50_000 {
		t.Errorf("second sitemap: %v", q)
	}
	b.ledger.Fail(apitest.ErrDB, "ListAddresses")
	if w := b.get("/sitemap.xml?page=3"); w.Code != 503 {
		t.Errorf("without the ledger: %d", w.Code)
	}
}

// TestSecurityContact checks security.txt: its members, and that it is not found without a contact.
func TestSecurityContact(t *testing.T) {
	t.Parallel()
	b := setup(t)
	if w := b.get("/.well-known/security.txt"); w.Code != 404 {
		t.Errorf("without a contact: %d", w.Code)
	}
	b = setup(t, "mailto:security@hub.example")
	w := b.get("/.well-known/security.txt")
	has(t, w, 200, "Contact: mailto:security@hub.example\n", "Canonical: https://hub.example/.well-known/security.txt\n")
	has(t, w, 200, "\nExpires: 2027-02-28T00:00:00Z\n") // 180 days after the release
	if kind := w.Header().Get("Content-Type"); kind != "text/plain; charset=utf-8" {
		t.Error(kind)
	}
}
