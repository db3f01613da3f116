package httpapi_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode"

	cataloguev1 "github.com/signalcast/signalcast/proto/catalogue/v1"
	recordv1 "github.com/signalcast/signalcast/proto/record/v1"
	"github.com/signalcast/signalcast/services/api/apitest"
	"github.com/signalcast/signalcast/services/hub/internal/livestream"
	"github.com/signalcast/signalcast/services/hub/internal/postgres"
)

// withHostileCall returns a fixture with a database and a call whose texts contain markup and control characters.
func withHostileCall(t *testing.T) (b *fixture, id string) {
	t.Helper()
	b = setup(t)
	b.rename(marketID, `</text><script>alert("1")</script>`)
	w := b.send("POST", "/api/predictions", `{"marketId":"`+marketID+`","direction":"NO","priceAtPrediction":6850}`, b.byKey())
	if w.Code != 200 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	return b, field(w, "id")
}

func TestEmbeds(t *testing.T) {
	t.Parallel()
	b, id := withHostileCall(t)
	codes := map[string]string{}
	for path, leads := range map[string]string{
		"/api/embed/operator/MARA_K": "/u/mara_k", "/api/embed/market/" + marketID: "/m/" + marketID, "/api/embed/signal/" + id: "/receipts/" + id,
	} {
		w := b.send("GET", path, "")
		var got struct {
			Type, HTML, EmbedURL, URL, ShortURL string
			Width, Height                       int
		}
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != 200 {
			t.Fatalf("%s: %d %s", path, w.Code, w.Body)
		}
		if got.URL != hubURL+leads || !strings.HasPrefix(got.ShortURL, hubURL+"/api/c/") || strings.Contains(got.HTML, "<script") || got.Width < 1 {
			t.Errorf("%s: %s", path, w.Body)
		}
		has(t, b.send("GET", path, ""), "shortUrl="+got.ShortURL)
		codes[strings.TrimPrefix(got.ShortURL, hubURL)] = hubURL + leads
	}
	for code, leads := range codes {
		want(t, b.send("GET", code, ""), 200, "", "url="+leads)
		want(t, b.send("GET", code, "", with("Accept", "text/html,*/*")), http.StatusFound, "", "Location: "+leads)
	}
	for _, path := range []string{
		"/api/embed/operator/no_such_user", "/api/embed/market/kalshi-none", "/api/embed/signal/x", "/api/c/1111111", "/api/c/x", "/api/c/00000000",
		"/api/card/signal/x.png", "/api/card/tape/x", "/api/card/operator/no-handle",
	} {
		want(t, b.send("GET", path, ""), 404, "not_found")
	}
}

// TestEmbedWithoutALink checks that without a database an embed has no short link but all other members.
func TestEmbedWithoutALink(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.setDown(true)
	w := b.send("GET", "/api/embed/operator/mara_k", "")
	want(t, w, 200, "", `"shortUrl":null`, "X-Degraded: db", "Cache-Control: no-store")
	want(t, b.send("GET", "/api/c/1111111", ""), 503, "db_unavailable")
}

func TestCards(t *testing.T) {
	t.Parallel()
	b, id := withHostileCall(t)
	for _, path := range []string{"/api/card/signal/" + id, "/api/card/market/" + marketID, "/api/card/operator/mara_k"} {
		w := b.send("GET", path, "")
		if w.Code != 200 || w.Header().Get("Content-Type") != "image/svg+xml" || w.Header().Get("Content-Security-Policy") == "" {
			t.Fatalf("%s: %d %v", path, w.Code, w.Header())
		}
		d := xml.NewDecoder(bytes.NewReader(w.Body.Bytes()))
		for {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			if e, ok := token.(xml.StartElement); ok && e.Name.Local == "script" {
				t.Errorf("%s: text became markup", path)
			}
		}
		for _, accept := range []string{"*/*", "image/png"} {
			want(t, b.send("GET", path, "", with("Accept", accept), with("If-None-Match", "*")), http.StatusNotModified, "", "=")
		}
		tag := w.Header().Get("ETag")
		drawn := b.send("GET", path, "", with("Accept", "image/png"), with("If-None-Match", tag))
		want(t, drawn, 200, "", "!Etag: "+tag, "!Etag: ")
		want(t, b.send("GET", path+".png", "", with("If-None-Match", drawn.Header().Get("ETag"))), http.StatusNotModified, "")
		want(t, b.send("GET", path, "", with("If-None-Match", tag)), http.StatusNotModified, "", "=")
		for _, ask := range []struct {
			path string
			as   header
		}{{path + ".png", with("Accept", "*/*")}, {path, with("Accept", "image/png")}} {
			w := b.send("GET", ask.path, "", ask.as)
			img, err := png.Decode(w.Body)
			if err != nil || w.Header().Get("Content-Type") != "image/png" || img.Bounds().Dx() != 1200 || img.Bounds().Dy() != 630 {
				t.Errorf("%s: %v %v", ask.path, err, w.Header())
			}
		}
		has(t, b.send("GET", path+"?format=json", ""), "!title=", "!url=")
	}
}

// TestCardCharts checks that the cards of a call, a market and an operator have a chart, and that they are served without it if its
// data cannot be read.
func TestCardCharts(t *testing.T) {
	t.Parallel()
	b, id := withHostileCall(t)
	now := b.clock.Now()
	b.ledger.Lock()
	b.ledger.Histories = map[string][]*cataloguev1.HistoryPoint{"7D " + marketID: {
		{T: now.Add(-20 * time.Hour).Unix(), P: 0.4}, {T: now.Add(-10 * time.Hour).Unix(), P: 0.3},
	}}
	b.ledger.Courses = map[string]*recordv1.GetCourseResponse{"mara_k": {Whole: true, Steps: []*recordv1.Step{
		{Score: 50, Calls: 1, Variance: 25e6}, {Score: 0, Calls: 1, Variance: 25e6},
	}}}
	b.ledger.Unlock()
	cards := map[string]string{
		"signal/" + id: "Price of NO and the call", "market/" + marketID: "Price of YES, last 7 days", "operator/mara_k": "Points by call. Grey: luck alone",
	}
	for path, caption := range cards {
		svg := b.send("GET", "/api/card/"+path, "").Body.String()
		if !strings.Contains(svg, caption) || !strings.Contains(svg, "<path") || strings.Contains(svg, "NaN") {
			t.Errorf("%s has no chart: %s", path, svg)
		}
	}
	b.ledger.Fail(apitest.ErrDB, "ListHistory", "GetCourse")
	for path, caption := range cards {
		w := b.send("GET", "/api/card/"+path, "")
		if w.Code != 200 || strings.Contains(w.Body.String(), caption) {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
}

func TestOEmbed(t *testing.T) {
	t.Parallel()
	b, id := withHostileCall(t)
	for address, size := range map[string][2]float64{
		hubURL + "/u/mara_k": {420, 220}, hubURL + "/operator/mara_k/embed&maxwidth=300": {300, 220}, hubURL + "/receipts/" + id: {600, 315},
		hubURL + "/m/" + marketID + "&maxwidth=200&maxheight=50": {95, 50}, hubURL + "/m/" + marketID + "/&maxwidth=x": {600, 315},
	} {
		w := b.send("GET", "/api/embed/oembed?format=json&url="+address, "")
		var got struct {
			Type, Version string
			Width, Height float64
		}
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || got.Type != "rich" || got.Version != "1.0" || [2]float64{got.Width, got.Height} != size {
			t.Errorf("%s: %d %s", address, w.Code, w.Body)
		}
	}
	for _, address := range []string{"", "https://evil.example/u/mara_k", hubURL + ".evil.example/u/mara_k", hubURL + "/dev", hubURL + "//evil.example/u/mara_k", hubURL + "/u/no_such_user"} {
		want(t, b.send("GET", "/api/embed/oembed?url="+address, ""), 404, "not_found")
	}
	want(t, b.send("GET", "/api/embed/oembed?format=xml&url="+hubURL+"/u/mara_k", ""), 501, "not_implemented")
}

// TestDisputedShares checks that cards and embeds of a market are marked as disputed only while its outcome is under review.
func TestDisputedShares(t *testing.T) {
	t.Parallel()
	b, id := withHostileCall(t)
	flag := func(on bool) {
		b.ledger.Exec(`UPDATE markets SET status = 'resolved', resolution_value = 'YES', disputed = $2 WHERE market_id = $1`, marketID, on)
	}
	cards := []string{"/api/card/market/" + marketID, "/api/card/signal/" + id}
	embeds := []string{"/api/embed/market/" + marketID, "/api/embed/signal/" + id}
	for _, on := range []bool{true, false} {
		flag(on)
		for _, path := range cards {
			for _, form := range []string{"", "?format=json"} {
				if w := b.send("GET", path+form, ""); w.Code != 200 || strings.Contains(w.Body.String(), "Disputed: the outcome is under review") != on {
					t.Errorf("%s%s, disputed %v: %s", path, form, on, w.Body)
				}
			}
		}
		for _, path := range embeds {
			if w := b.send("GET", path, ""); w.Code != 200 || strings.Contains(w.Body.String(), `"disputed":true`) != on {
				t.Errorf("%s, disputed %v: %s", path, on, w.Body)
			}
		}
		want := "Resolved: YES"
		if on {
			want += ", disputed"
		}
		has(t, b.send("GET", cards[0]+"?format=json", ""), "subtitle="+want)
	}
}

// TestSharedTextHasNoBidiControls checks that embeds and cards have no bidirectional control characters, which would change the
// direction of other text on the embedding page.
func TestSharedTextHasNoBidiControls(t *testing.T) {
	t.Parallel()
	b := setup(t)
	turned := "\u202eabc\u202c \u2066d\u2069\u200e\u200f\u061c"
	b.rename(marketID, turned)
	body, err := json.Marshal(map[string]any{"marketId": marketID, "direction": "NO", "priceAtPrediction": 6850})
	must(t, err)
	w := b.send("POST", "/api/predictions", string(body), b.byKey())
	if w.Code != 200 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	id := field(w, "id")
	for _, path := range []string{
		"/api/embed/oembed?url=" + hubURL + "/m/" + marketID, "/api/embed/oembed?url=" + hubURL + "/receipts/" + id, "/api/embed/market/" + marketID,
		"/api/embed/signal/" + id, "/api/embed/operator/mara_k", "/api/card/market/" + marketID + "?format=json", "/api/card/signal/" + id + "?format=json",
		"/api/card/market/" + marketID, "/api/card/signal/" + id,
	} {
		w := b.send("GET", path, "")
		if w.Code != 200 || strings.ContainsFunc(w.Body.String(), func(r rune) bool { return unicode.Is(unicode.Bidi_Control, r) }) {
			t.Errorf("%s: %d %+q", path, w.Code, w.Body)
		}
		if !strings.Contains(w.Body.String(), "abc d") && !strings.Contains(path, "operator") {
			t.Errorf("%s: %s", path, w.Body)
		}
	}
}

// TestShortLinkToATape checks that the page of a clip shows the clip, its market and its short link, and that the link leads to the
// page. Clips that are not ready, deleted or of a suspended operator have no page.
func TestShortLinkToATape(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.mountPages()
	const id, waiting, page = "0199f0c0-0000-7000-8000-000000000001", "0199f0c0-0000-7000-8000-000000000002", "/clips/"
	b.ledger.Exec(`INSERT INTO hub.clips (id, handle, market_id, title, url, duration_s, status, stance, created_by, created_at, ready_at) VALUES
		('` + id + `', 'mara_k', '701122', 'The <river> turns', 'https://video-a.example/c.m3u8', 75, 'ready', 'NO', 'tidewatch', now(), now()),
		('` + waiting + `', 'mara_k', '701122', NULL, NULL, NULL, 'processing', NULL, 'tidewatch', now(), NULL)`)
	html := with("Accept", "text/html")
	w := b.send("GET", page+id, "", html)
	want(t, w, 200, "")
	_, rest, _ := strings.Cut(w.Body.String(), `href="`+hubURL+`/api/c/`)
	code, _, _ := strings.Cut(rest, `"`)
	for _, text := range []string{
		"The &lt;river&gt; turns", `href="/u/mara_k"`, `href="/m/701122"`, `href="/u/tidewatch"`, "1:15", `<span class="pill side-no">NO</span>`,
		`data-stream="https://video-a.example/c.m3u8"`,
	} {
		if !strings.Contains(w.Body.String(), text) {
			t.Errorf("the page has no %s", text)
		}
	}
	if policy := w.Header().Get("Content-Security-Policy"); !strings.Contains(policy, "media-src 'self' blob: https://video-a.example;") {
		t.Errorf("policy %s", policy)
	}
	want(t, b.send("GET", "/api/c/"+code, ""), 200, "", "code="+code, "type=tape", "id="+id, "url="+hubURL+page+id)
	if to := b.send("GET", "/api/c/"+code, "", html); to.Code != 302 || to.Header().Get("Location") != hubURL+page+id {
		t.Errorf("redirect: %d %s", to.Code, to.Header().Get("Location"))
	}
	if again := b.send("GET", page+id, "", html); !strings.Contains(again.Body.String(), "/api/c/"+code) {
		t.Error("the second read of the page has another code")
	}
	for _, missing := range []string{waiting, "0199f0c0-0000-7000-8000-000000000003", "x"} {
		want(t, b.send("GET", page+missing, "", html), 404, "")
	}
	must(t, b.deps.Links.(*postgres.Store).OnAir().Decide(t.Context(), "mara_k", livestream.Suspended, b.clock.Now()))
	want(t, b.send("GET", page+id, "", html), 404, "")
	must(t, b.deps.Links.(*postgres.Store).OnAir().Decide(t.Context(), "mara_k", livestream.Approved, b.clock.Now()))
	want(t, b.send("GET", page+id, "", html), 200, "")
	b.ledger.Exec(`UPDATE hub.clips SET status = 'dropped', url = NULL`)
	want(t, b.send("GET", page+id, "", html), 404, "")
}

// TestSharedSidesHaveTheirNames checks that the receipt and the cards of a market whose sides are not Yes and No name the sides.
func TestSharedSidesHaveTheirNames(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.mountPages()
	b.ledger.Exec(`UPDATE markets SET outcome_labels = '{Slate City,"Ochre <Rovers>"}', yes_index = 1 WHERE market_id = '` + marketID + `'`)
	w := b.send("POST", "/api/predictions", `{"marketId":"`+marketID+`","direction":"NO","priceAtPrediction":6850}`, b.byKey())
	want(t, w, 200, "")
	id := field(w, "id")
	page := b.send("GET", "/receipts/"+id, "", with("Accept", "text/html")).Body.String()
	for _, text := range []string{`<div class="side"><span>Slate City</span></div>`, "scoring price of Slate City", "<dt>Market price at the time</dt><dd>Ochre &lt;Rovers&gt; ", "<title>Slate City at "} {
		if !strings.Contains(page, text) {
			t.Errorf("the receipt has no %s", text)
		}
	}
	has(t, b.send("GET", "/api/card/signal/"+id+"?format=json", ""), " called Slate City at ")
	for _, path := range []string{"market/" + marketID, "signal/" + id, "operator/mara_k"} {
		has(t, b.send("GET", "/api/embed/"+path, ""), `"sides":{"yes":"Ochre <Rovers>","no":"Slate City"}`)
	}
	has(t, b.send("GET", "/api/card/market/"+marketID+"?format=json", ""), "Ochre ", " · Slate City ")
}
