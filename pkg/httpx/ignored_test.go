package httpx_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/signalcast/signalcast/pkg/httpx"
)

const ignoredDoc = `{"paths":{
	"/list":{"get":{"servers":[{"url":"https://hub.example"}],"parameters":[
		{"$ref":"#/components/parameters/Lane"},
		{"name":"q","in":"query","schema":{"type":"string"}},
		{"name":"limit","in":"query","schema":{"type":"integer","minimum":1,"maximum":100}},
		{"name":"volume","in":"query","schema":{"type":"number","minimum":0}},
		{"name":"sort","in":"query","schema":{"type":"string","x-signalcast-values":["volume","closes"]}},
		{"name":"types","in":"query","schema":{"type":"string","x-signalcast-each":["take","move"]}},
		{"name":"after","in":"query","schema":{"type":"string","format":"date-time"}},
		{"name":"ids","in":"query","schema":{"type":"string"}},
		{"name":"cursor","in":"query","schema":{"type":"string"}}]}},
	"/m/{id}/calls":{"get":{"servers":[{"url":"https://hub.example"}]}},
	"/page":{"get":{"tags":["pages"],"servers":[{"url":"https://hub.example"}]}},
	"/other":{"get":{"servers":[{"url":"https://api.example"}]}}},
	"components":{"parameters":{"Lane":{"name":"lane","in":"query","schema":{"type":"string"}}}}}`

func TestNameIgnored(t *testing.T) {
	t.Parallel()
	h := httpx.ParseQueries([]byte(ignoredDoc), "hub").NameIgnored(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	for target, want := range map[string]string{
		"/list": "",
		"/list?lane=sport&q=%ff&limit=100&volume=1e3&sort=closes&types=take,move&after=2026-09-17T18:00:00%2B02:00&ids=1,kalshi-A": "",
		"/list?lane=OTHER":                             "lane",
		"/list?lane=&limit=&sort=":                     "",
		"/list?limit=5000&lane=nope":                   "limit, lane",
		"/list?limit=0":                                "limit",
		"/list?limit=%2B5":                             "limit",
		"/list?limit=abc&limit=5":                      "limit",
		"/list?q=a&q=b":                                "q",
		"/list?lanes=SPORT&LIMIT=5":                    "lanes, LIMIT",
		"/list?volume=-1":                              "volume",
		"/list?volume=NaN":                             "volume",
		"/list?sort=price":                             "sort",
		"/list?types=take,clip":                        "types",
		"/list?after=now":                              "after",
		"/list?ids=1,zzz":                              "ids",
		"/list?ids=" + strings.Repeat("1,", 100) + "1": "ids",
		"/list?cursor=zzz":                             "cursor",
		"/list?cursor=eyJrIjpbXSwiaWQiOiIxIn0":         "",
		"/list?x%0d%0aSet-Cookie:a=1&a,b=1":            "x%0D%0ASet-Cookie%3Aa, a%2Cb",
		"/list?" + strings.Repeat("y", 65) + "=1":      "",
		"/m/7/calls?limit=1":                           "limit",
		"/m/7/8/calls?limit=1":                         "",
		"/page?x=1":                                    "",
		"/other?x=1":                                   "",
		"/unknown?x=1":                                 "",
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, target, nil))
		if got := w.Header().Get("X-Ignored"); got != want {
			t.Errorf("%.60s: X-Ignored is %q, want %q", target, got, want)
		}
		w = httptest.NewRecorder()
		if h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, target, nil)); w.Header().Get("X-Ignored") != "" {
			t.Errorf("POST %.60s has the header X-Ignored", target)
		}
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/list?"+strings.Repeat("a=1&b=1&c=1&d=1&e=1&f=1&g=1&h=1&i=1&j=1&k=1&l=1&m=1&", 5)+"n=1&o=1&p=1&r=1&s=1&t=1&u=1&v=1&w=1&z=1", nil))
	if n := len(strings.Split(w.Header().Get("X-Ignored"), ", ")); n != 20 {
		t.Errorf("%d names, want 20", n)
	}
}
