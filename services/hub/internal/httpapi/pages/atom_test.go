package pages_test

import (
	"context"
	"encoding/xml"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	feedv1 "github.com/signalcast/signalcast/proto/feed/v1"
)

// checkAtom checks that a response is a valid Atom feed of the page at the path (RFC 4287 4.1.1 and 4.1.2), and returns the titles and
// contents of its entries.
func checkAtom(t *testing.T, w *httptest.ResponseRecorder, path, feed string) (entries []string) {
	t.Helper()
	type link struct {
		Rel  string `xml:"rel,attr"`
		Href string `xml:"href,attr"`
	}
	type node struct {
		ID      string `xml:"http://www.w3.org/2005/Atom id"`
		Title   string `xml:"http://www.w3.org/2005/Atom title"`
		Updated string `xml:"http://www.w3.org/2005/Atom updated"`
		Author  string `xml:"http://www.w3.org/2005/Atom author>name"`
		Links   []link `xml:"http://www.w3.org/2005/Atom link"`
		Content string `xml:"http://www.w3.org/2005/Atom content"`
	}
	var doc struct {
		XMLName xml.Name `xml:"http://www.w3.org/2005/Atom feed"`
		node
		Entries []node `xml:"http://www.w3.org/2005/Atom entry"`
	}
	if err := xml.Unmarshal(w.Body.Bytes(), &doc); w.Code != 200 || err != nil || w.Header().Get("Content-Type") != "application/atom+xml; charset=utf-8" {
		t.Fatalf("%d %v %v: %.300s", w.Code, err, w.Header(), w.Body)
	}
	if !slices.Equal(doc.Links, []link{{"self", hubURL + feed}, {"alternate", hubURL + path}}) {
		t.Errorf("links %v", doc.Links)
	}
	seen := map[string]bool{}
	for _, n := range append(doc.Entries, doc.node) {
		if _, err := time.Parse(time.RFC3339, n.Updated); err != nil || seen[n.ID] || n.Title == "" || n.Author == "" {
			t.Errorf("%+v", n)
		}
		for _, raw := range append([]string{n.ID}, n.Links[0].Href) {
			if u, err := url.Parse(raw); err != nil || !u.IsAbs() {
				t.Errorf("%q is no absolute IRI", raw)
			}
		}
		seen[n.ID] = true
	}
	for _, e := range doc.Entries {
		entries = append(entries, e.Title+"|"+e.Content)
	}
	return entries
}

// TestAtomFeeds checks the Atom feeds of the whole site, of a forecaster and of a market: their entries, the links to them in the heads
// of the pages, and the answer 304 to a reader that has the current version.
func TestAtomFeeds(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.recorded()
	b.feed.page = &feedv1.ListEventsResponse{Events: []*feedv1.Event{
		{Id: callID, Type: "signal.created", At: timestamppb.New(b.clock.Now()), Handle: "mara_k", MarketId: "1", Data: `{"id":"` + callID + `","marketTitle":"Will it <b>rain</b>?",` +
			`"direction":"NO","priceAtPrediction":6850,"textTake":"]]>\u0007"}`},
		{Id: momentID, Type: "market.resolved", At: timestamppb.New(b.clock.Now()), MarketId: "1", Data: `{"marketTitle":"Will it hail?","outcome":"YES"}`},
	}}
	events := []string{"Call by @mara_k: Will it <b>rain</b>?|NO at 68.5¢\n\n]]>\uFFFD", "Resolved: Will it hail?|YES"}
	for page, want := range map[string][]string{
		"/": events, "/u/mara_k": events, "/m/" + gauge: {"Call by @mara_k: " + question + "|NO at 68.5¢\n\nThe dam opened at noon."},
	} {
		feed := strings.TrimSuffix(page, "/") + "/feed.xml"
		w := b.get(feed)
		if got := checkAtom(t, w, page, feed); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", feed, got, want)
		}
		has(t, b.get(page), 200, `<link rel="alternate" type="application/atom+xml" title="Atom feed" href="`+feed+`">`)
		r := httptest.NewRequest("GET", feed, nil)
		r.Header.Set("If-None-Match", w.Header().Get("ETag"))
		if w := b.serve(r); w.Code != 304 {
			t.Errorf("unchanged %s: %d", feed, w.Code)
		}
	}
	b.get("/u/mara_k/feed.xml")
	if q := b.feed.asked; !slices.Equal(q.GetOperatorIds(), []string{b.mara.GetId()}) {
		t.Errorf("the feed of a forecaster asks for %v", q)
	}
	b.feed.page = &feedv1.ListEventsResponse{}
	if got := checkAtom(t, b.get("/feed.xml"), "/", "/feed.xml"); got != nil {
		t.Errorf("without events: %q", got)
	}
	for _, path := range []string{"/u/no_such_user/feed.xml", "/m/999/feed.xml"} {
		if w := b.get(path); w.Code != 404 {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
	b.feed.err = context.DeadlineExceeded
	if w := b.get("/feed.xml"); w.Code < 500 {
		t.Errorf("without the ledger: %d", w.Code)
	}
}
