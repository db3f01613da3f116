package edge_test

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
	"unicode"
)

// shared is a bench with a database and a call whose words are hostile.
func shared(t *testing.T) (b *bench, id string) {
	t.Helper()
	option, _ := stored(t)
	b = setup(t, option)
	b.ledger.Lock()
	b.ledger.Markets[marketID].Title = `</text><script>alert("1")</script>`
	b.ledger.Unlock()
	w := b.send("POST", "/api/predictions", `{"marketId":"`+marketID+`","direction":"NO","priceAtPrediction":6850}`, b.byKey())
	if w.Code != 200 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	return b, field(w, "id")
}

func TestEmbeds(t *testing.T) {
	t.Parallel()
	b, id := shared(t)
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
		again := b.send("GET", path, "")
		if field(again, "shortUrl") != got.ShortURL {
			t.Errorf("%s: another short link: %s", path, again.Body)
		}
		codes[strings.TrimPrefix(got.ShortURL, hubURL)] = hubURL + leads
	}
	for code, leads := range codes {
		if w := b.send("GET", code, ""); w.Code != 200 || field(w, "url") != leads {
			t.Errorf("%s: %d %s", code, w.Code, w.Body)
		}
		if w := b.send("GET", code, "", with("Accept", "text/html,*/*")); w.Code != http.StatusFound || w.Header().Get("Location") != leads {
			t.Errorf("%s as a page: %d %v", code, w.Code, w.Header())
		}
	}
	for _, path := range []string{
		"/api/embed/operator/nobody", "/api/embed/market/kalshi-none", "/api/embed/signal/x", "/api/c/1111111", "/api/c/x", "/api/c/00000000",
		"/api/card/signal/x.png", "/api/card/tape/x", "/api/card/operator/no-handle",
	} {
		want(t, b.send("GET", path, ""), 404, "not_found")
	}
}

// Without a database there is no short link, and everything else is there.
func TestEmbedWithoutALink(t *testing.T) {
	t.Parallel()
	b := setup(t, away(t))
	w := b.send("GET", "/api/embed/operator/mara_k", "")
	if w.Code != 200 || !strings.Contains(w.Body.String(), `"shortUrl":null`) || w.Header().Get("X-Degraded") != "db" || w.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
	}
	want(t, b.send("GET", "/api/c/1111111", ""), 503, "db_unavailable")
}

func TestCards(t *testing.T) {
	t.Parallel()
	b, id := shared(t)
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
				t.Errorf("%s: a word became markup", path)
			}
		}
		for _, accept := range []string{"*/*", "image/png"} {
			if any := b.send("GET", path, "", with("Accept", accept), with("If-None-Match", "*")); any.Code != http.StatusNotModified || any.Body.Len() != 0 {
				t.Errorf("%s, whatever it is: %d", path, any.Code)
			}
		}
		tag := w.Header().Get("ETag")
		drawn := b.send("GET", path, "", with("Accept", "image/png"), with("If-None-Match", tag))
		if drawn.Code != 200 || drawn.Header().Get("ETag") == tag || drawn.Header().Get("ETag") == "" {
			t.Errorf("%s: the tag of its SVG, %s, stands for its PNG as well: %d %v", path, tag, drawn.Code, drawn.Header())
		}
		if again := b.send("GET", path+".png", "", with("If-None-Match", drawn.Header().Get("ETag"))); again.Code != http.StatusNotModified {
			t.Errorf("%s.png again: %d", path, again.Code)
		}
		if again := b.send("GET", path, "", with("If-None-Match", tag)); again.Code != http.StatusNotModified || again.Body.Len() != 0 {
			t.Errorf("%s again: %d", path, again.Code)
		}
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
		if w := b.send("GET", path+"?format=json", ""); field(w, "title") == "" || field(w, "url") == "" {
			t.Errorf("%s as words: %s", path, w.Body)
		}
	}
}

func TestOEmbed(t *testing.T) {
	t.Parallel()
	b, id := shared(t)
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
	for _, address := range []string{"", "https://evil.example/u/mara_k", hubURL + ".evil.example/u/mara_k", hubURL + "/dev", hubURL + "//evil.example/u/mara_k", hubURL + "/u/nobody"} {
		want(t, b.send("GET", "/api/embed/oembed?url="+address, ""), 404, "not_found")
	}
	want(t, b.send("GET", "/api/embed/oembed?format=xml&url="+hubURL+"/u/mara_k", ""), 501, "not_implemented")
}

// TestDisputedShares: what is under review says so wherever it is shared, and what is no
// longer does not.
func TestDisputedShares(t *testing.T) {
	t.Parallel()
	b, id := shared(t)
	flag := func(on bool) {
		b.ledger.Lock()
		defer b.ledger.Unlock()
		yes := "YES"
		b.ledger.Markets[marketID].ResolutionValue, b.ledger.Markets[marketID].Disputed = &yes, on
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
		if w := b.send("GET", cards[0]+"?format=json", ""); field(w, "subtitle") != want {
			t.Errorf("disputed %v: %s", on, w.Body)
		}
	}
}

// TestNothingTurns: no character of ours turns what stands behind it on another's page.
func TestNothingTurns(t *testing.T) {
	t.Parallel()
	option, _ := stored(t)
	b := setup(t, option)
	turned := "\u202eabc\u202c \u2066d\u2069\u200e\u200f\u061c"
	b.ledger.Lock()
	b.ledger.Markets[marketID].Title = turned
	b.ledger.Unlock()
	body, err := json.Marshal(map[string]any{"marketId": marketID, "direction": "NO", "priceAtPrediction": 6850})
	if err != nil {
		t.Fatal(err)
	}
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

// A link of a kind that has no page here leads nowhere.
func TestALinkOfATape(t *testing.T) {
	t.Parallel()
	option, owner := stored(t)
	b := setup(t, option)
	if _, err := owner.Exec(t.Context(), "INSERT INTO hub.short_links (code, type, id) VALUES ('3yZe7dQ', 'tape', 'x')"); err != nil {
		t.Fatal(err)
	}
	want(t, b.send("GET", "/api/c/3yZe7dQ", ""), 404, "not_found")
	want(t, b.send("GET", "/api/c/3yZe7dQ", "", with("Accept", "text/html")), 404, "not_found")
}
