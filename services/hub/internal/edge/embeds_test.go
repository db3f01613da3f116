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
		tag := w.Header().Get("ETag")
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
