package httpcache_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/signalcast/signalcast/pkg/httpcache"
)

// feed returns a JSON body with n calls, like a page of the feed.
func feed(n int) []byte {
	return []byte(`{"signals":[` + strings.TrimSuffix(strings.Repeat(`{"marketId":"701122","direction":"YES"},`, n), ",") + `]}`)
}

func get(p *httpcache.Page, method string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "/", nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	p.WriteTo(w, r)
	return w
}

func TestPageForms(t *testing.T) {
	t.Parallel()
	body := feed(500)
	p := httpcache.Make(body)
	w := get(p, "GET")
	if w.Code != 200 || !bytes.Equal(w.Body.Bytes(), body) || w.Header().Get("Content-Encoding") != "" ||
		w.Header().Get("Vary") != "Accept-Encoding" || w.Header().Get("Content-Type") != "application/json; charset=utf-8" {
		t.Errorf("plain: status %d, header %v", w.Code, w.Header())
	}
	w = get(p, "GET", "Accept-Encoding", "br, gzip;q=0.5")
	r, err := gzip.NewReader(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, body) {
		t.Errorf("gzip: %v", err)
	}
	if w.Header().Get("Content-Encoding") != "gzip" || w.Header().Get("Etag") != p.ETag() {
		t.Errorf("gzip: %v", w.Header())
	}
	if w = get(p, "HEAD"); w.Code != 200 || w.Body.Len() != 0 || w.Header().Get("Content-Length") == "" {
		t.Errorf("head: %d %d %v", w.Code, w.Body.Len(), w.Header())
	}
	if w = get(p, "GET", "If-None-Match", p.ETag()); w.Code != 304 || w.Body.Len() != 0 || w.Header().Get("Etag") != p.ETag() {
		t.Errorf("304: %d %v", w.Code, w.Header())
	}
	small := httpcache.Make([]byte(`{}`))
	if w = get(small, "GET", "Accept-Encoding", "gzip"); w.Body.String() != `{}` || w.Header().Get("Vary") != "" {
		t.Errorf("small: %v", w.Header())
	}
	if httpcache.Make(feed(1)).ETag() == httpcache.Make(feed(2)).ETag() {
		t.Error("two different bodies have the same tag")
	}
}

func TestIfNoneMatch(t *testing.T) {
	t.Parallel()
	p := httpcache.Make([]byte(`{}`))
	tag := strings.TrimPrefix(p.ETag(), "W/")
	for value, hit := range map[string]bool{
		p.ETag(): true, tag: true, "*": true, " * ": true,
		`"x", ` + tag: true, `W/"x",W/"y", ` + p.ETag() + `, "z"`: true, `"a,b", ` + tag: true,
		`"x"`: false, "": false, "junk": false, strings.Trim(tag, `"`): false, `"unclosed`: false,
		`junk, ` + tag: false, `"` + tag: false, `*, "x"`: false, `W/`: false,
	} {
		if got := get(p, "GET", "If-None-Match", value).Code == 304; got != hit {
			t.Errorf("If-None-Match: %s: %v, want %v", value, got, hit)
		}
	}
	if get(p, "GET", "If-None-Match", `"x"`, "If-None-Match", tag).Code != 304 {
		t.Error("the second If-None-Match line was ignored")
	}
}

func TestAcceptEncoding(t *testing.T) {
	t.Parallel()
	p := httpcache.Make(feed(500))
	for value, want := range map[string]bool{
		"gzip": true, "gzip, deflate, br": true, "br,GZIP": true, "x-gzip": true, "*": true, "gzip;q=0.001": true, "gzip; q=1.0": true,
		"": false, "br": false, "gzip;q=0": false, "gzip; q=0.000": false, "identity": false, "*;q=0": false,
		"gzip;q=0, *": false, "*;q=0, gzip": true, "gzipped": false, "gzip;q=x": false, "identity;q=0.5, *;q=0.1": true,
	} {
		if got := get(p, "GET", "Accept-Encoding", value).Header().Get("Content-Encoding") == "gzip"; got != want {
			t.Errorf("Accept-Encoding: %s: %v, want %v", value, got, want)
		}
	}
}

func TestQuery(t *testing.T) {
	t.Parallel()
	params := []httpcache.Param{
		{Name: "type", Clean: func(s string) string {
			if s != "open" {
				return "recent"
			}
			return s
		}},
		{Name: "q", Clean: strings.ToLower},
	}
	same := func(want string, raws ...string) {
		t.Helper()
		for _, raw := range raws {
			if got := strings.Join(httpcache.Query(raw, params), "&"); got != want {
				t.Errorf("Query(%q) = %q, want %q", raw, got, want)
			}
		}
	}
	same("recent&", "", "type=", "type=nope", "x=1&y=2", "&&&=", "%zz=1", "type=%zz", strings.Repeat("a", 5000), "type=recent&type=open")
	same("open&", "type=open", "x=1&type=open&type=recent", "t%79pe=op%65n")
	same("recent&a b", "q=A+B", "q=a%20b&type=x")
	same("recent&a&b", "q=a%26b")
	same("recent&a%26b", "q=a%2526b")
	if got := httpcache.Query("x=1", nil); len(got) != 0 {
		t.Errorf("Query without parameters returned %q", got)
	}
}
