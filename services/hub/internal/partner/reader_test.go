package partner_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalcast/signalcast/services/hub/internal/federation"
	"github.com/signalcast/signalcast/services/hub/internal/partner"
)

var noon = time.Date(2026, 9, 18, 12, 0, 0, 0, time.UTC)

// station is a fake partner whose answer to all requests is say.
type station struct {
	*httptest.Server
	say atomic.Pointer[http.HandlerFunc]
	url atomic.Pointer[url.URL]
}

func newStation(t *testing.T) *station {
	t.Helper()
	s := &station{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.url.Store(r.URL)
		(*s.say.Load())(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *station) answer(h http.HandlerFunc) { s.say.Store(&h) }

func (s *station) text(body string) {
	s.answer(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) })
}

func (s *station) partner() federation.Partner {
	return federation.Partner{Origin: "river", OriginURL: s.URL, TapesURL: s.URL + "/t?x=1", OperatorsURL: s.URL + "/o"}
}

func reader(t *testing.T, private bool) *partner.Reader {
	t.Helper()
	r := partner.NewReader(partner.Options{Private: private, Origin: "https://hub.example", Now: func() time.Time { return noon }})
	t.Cleanup(r.Close)
	return r
}

// row returns a valid entry as JSON with some members changed. The value nil sets null, and gone removes the member.
func row(base map[string]any, change map[string]any) string {
	m := map[string]any{}
	for k, v := range base {
		m[k] = v
	}
	for k, v := range change {
		if m[k] = v; v == gone {
			delete(m, k)
		}
	}
	raw, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

type nothing struct{}

var gone = nothing{}

func (s *station) goodTape() map[string]any {
	return map[string]any{
		"id": "t1", "origin": "hub", "originUrl": s.URL, "handle": "otto", "url": "https://video.example/a.m3u8", "marketId": "701122",
		"href": s.URL + "/u/otto", "durationS": 30, "views": 4, "stance": "YES", "createdAt": "2026-09-18T11:00:00.000Z", "boosted": false,
	}
}

func (s *station) goodOperator() map[string]any {
	return map[string]any{
		"origin": "hub", "originUrl": s.URL, "handle": "otto", "displayName": "Otto", "avatarUrl": nil, "score": 48, "accuracy": 60, "total": 12,
		"won": 6, "lost": 4, "pending": 2, "followers": 3, "href": s.URL + "/u/otto", "tier": "independent", "operatorType": "human", "isAi": false,
		"resolved": 10, "streak": 2, "avgClvBps": -5,
	}
}

// TestTapes checks that a valid entry gets the registered name of the partner. An invalid entry must be skipped without affecting
// others.
func TestTapes(t *testing.T) {
	t.Parallel()
	s, r := newStation(t), reader(t, true)
	deep := strings.Repeat(`{"a":`, 100_000) + "1" + strings.Repeat("}", 100_000)
	tape := s.goodTape()
	tape["id"] = "bad" // an entry with the id of another one would be left out for that
	bad := map[string]string{
		"a text": `"x"`, "a number": `7`, "null": `null`, "a list": `[1,2]`, "deep": deep, "huge": `{"x":"` + strings.Repeat("x", 9000) + `"}`, "broken": `{"id":}`,
	}
	for name, change := range map[string]map[string]any{
		"no id": {"id": gone}, "id of another type": {"id": 7}, "id with spaces": {"id": "a b"}, "long id": {"id": strings.Repeat("x", 129)},
		"foreign origin": {"originUrl": "https://hub.example"}, "no originUrl": {"originUrl": gone}, "originUrl with a user": {"originUrl": strings.Replace(s.URL, "//", "//u@", 1)},
		"script handle": {"handle": "<script>alert(1)</script>"}, "no handle": {"handle": gone}, "handle of an object": {"handle": map[string]any{"a": 1}},
		"script url": {"url": "javascript:alert(1)"}, "http url": {"url": "http://video.example/a.m3u8"}, "url that is no playlist": {"url": "https://video.example/a.exe"},
		"url with quotes":  {"url": "https://video.example/\"><script>.m3u8"},
		"url with a break": {"url": "https://video.example/a\n.m3u8"}, "script href": {"href": "javascript:alert(1)"}, "href elsewhere": {"href": "https://hub.example/u/otto"},
		"href with quotes": {"href": s.URL + `/u/"><script>`}, "market that is none": {"marketId": "../../x"}, "duration as text": {"durationS": "30"},
		"negative duration": {"durationS": -1}, "half a second": {"durationS": 0.5}, "no duration": {"durationS": gone}, "views below": {"views": -1}, "views beyond": {"views": 1e18},
		"views as text": {"views": "4"}, "stance of another kind": {"stance": "MAYBE"}, "boosted as text": {"boosted": "true"}, "boosted null": {"boosted": nil},
		"future": {"createdAt": "2026-09-18T12:02:00.000Z"}, "far past": {"createdAt": "0001-01-01T00:00:00.000Z"}, "no time": {"createdAt": "soon"},
		"members in another case": {"handle": gone, "HANDLE": "otto"},
	} {
		bad[name] = row(tape, change)
	}
	for name, own := range map[string]string{"the hub's own address": "https://hub.example", "another partner": newStation(t).URL, "an unregistered address": "https://evil.example"} {
		bad["originUrl of "+name] = row(tape, map[string]any{"originUrl": own})
		bad["href to "+name] = row(tape, map[string]any{"href": own + "/u/otto"})
		bad["originUrl and href of "+name] = row(tape, map[string]any{"originUrl": own, "href": own + "/u/otto"})
	}
	for member := range s.goodTape() {
		bad["missing "+member] = row(tape, map[string]any{member: gone})
		bad[member+" of an object"] = row(tape, map[string]any{member: map[string]any{"a": []int{1}}})
		if member != "durationS" && member != "stance" && member != "marketId" {
			bad[member+" of null"] = row(tape, map[string]any{member: nil})
		}
		if member != "origin" { // the hub ignores its value
			bad["long "+member] = row(tape, map[string]any{member: strings.Repeat("x", 9000)})
		}
	}
	first, last := row(s.goodTape(), nil), row(s.goodTape(), map[string]any{"id": "t2", "handle": "RITA", "durationS": nil, "stance": nil, "marketId": nil, "boosted": true})
	for name, one := range bad {
		s.text(`{"before":[{"tapes":[1]}],"tapes":[` + first + "," + one + "," + last + "\n],\"fetchedAt\":\"x\"}")
		list, err := r.Tapes(t.Context(), s.partner())
		if err != nil || len(list) != 2 || list[0].ID != "t1" || list[1].ID != "t2" {
			t.Errorf("%s: %d rows, %v", name, len(list), err)
			continue
		}
		if list[0].Origin != "river" || list[0].OriginURL != s.URL || list[1].Handle != "rita" || list[1].DurationS != nil || *list[0].DurationS != 30 {
			t.Errorf("%s: %+v", name, list)
		}
	}
	s.text(`{"tapes":[` + first + "," + row(s.goodTape(), map[string]any{"views": 99}) + `]}`)
	if list, err := r.Tapes(t.Context(), s.partner()); err != nil || len(list) != 1 || list[0].Views != 4 {
		t.Errorf("a repeated id: %+v %v", list, err)
	}
	if q := s.url.Load().Query(); q.Get("exclude") != "https://hub.example" || q.Get("x") != "1" || q.Get("limit") != "48" || q.Get("origin") != "hub" {
		t.Errorf("query parameters %v", q)
	}
}

func TestOperators(t *testing.T) {
	t.Parallel()
	s, r := newStation(t), reader(t, true)
	other, operator := newStation(t).URL, s.goodOperator()
	operator["handle"] = "bad" // an entry with the handle of another one would be left out for that
	for name, change := range map[string]map[string]any{
		"originUrl of another partner": {"originUrl": other}, "href to another partner": {"href": other + "/u/otto"},
		"originUrl and href of another partner": {"originUrl": other, "href": other + "/u/otto"}, "long name": {"displayName": strings.Repeat("x", 65)},
		"inline avatar": {"avatarUrl": "data:image/svg+xml,<svg onload=alert(1)>"}, "no score": {"score": nil}, "pending beyond": {"pending": 99},
		"followers as text": {"followers": "many"}, "a bot": {"operatorType": "system_bot"}, "AI as text": {"isAi": "yes"}, "tier of another kind": {"tier": "gold"},
		"script href": {"href": "javascript:alert(1)"}, "negative accuracy": {"accuracy": -1}, "huge": {"won": 1e12},
		"foreign origin": {"originUrl": "https://hub.example"}, "script handle": {"handle": "\"><img src=x>"}, "a name on two lines": {"displayName": "a\nb"},
		"no name": {"displayName": ""}, "a name of another type": {"displayName": 7}, "avatar script": {"avatarUrl": "javascript:alert(1)"}, "no avatar": {"avatarUrl": gone},
		"avatar of another type": {"avatarUrl": 7}, "score as text": {"score": "48"}, "an impossible score": {"score": 1001}, "below it": {"score": -1001},
		"half a point": {"score": 0.5}, "accuracy": {"accuracy": 101}, "more decided than filed": {"total": 9}, "resolved otherwise": {"resolved": 9},
		"negative": {"followers": -1}, "href elsewhere": {"href": "https://hub.example/u/otto"}, "a machine": {"operatorType": "ai_agent"}, "an AI": {"isAi": true},
		"automated": {"tier": "automated"}, "clv": {"avgClvBps": 10_001}, "streak": {"streak": 11},
	} {
		s.text(`{"operators":[` + row(operator, change) + "," + row(s.goodOperator(), nil) + "," + row(s.goodOperator(), map[string]any{"score": 50}) + `]}`)
		list, err := r.Operators(t.Context(), s.partner())
		if err != nil || len(list) != 1 || list[0].Score != 48 || list[0].Origin != "river" || list[0].ID != "" {
			t.Errorf("%s: %+v %v", name, list, err)
		}
	}
	old := row(s.goodOperator(), map[string]any{"tier": gone, "operatorType": gone, "isAi": gone, "resolved": gone, "streak": gone, "avgClvBps": gone})
	s.text(`{"operators":[` + old + `]}`)
	if list, err := r.Operators(t.Context(), s.partner()); err != nil || len(list) != 1 || list[0].Resolved != 10 || list[0].Tier != "independent" || list[0].AvgClv != nil {
		t.Errorf("a station of an older age: %+v %v", list, err)
	}
}

// TestUnusableAnswers checks that an unusable answer is an error, so that the previous copy remains.
func TestUnusableAnswers(t *testing.T) {
	t.Parallel()
	s, elsewhere := newStation(t), newStation(t)
	var led atomic.Int32
	elsewhere.answer(func(http.ResponseWriter, *http.Request) { led.Add(1) })
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	for range 64 {
		_, _ = z.Write(bytes.Repeat([]byte(" "), 1<<20))
	}
	_ = z.Close()
	for name, h := range map[string]http.HandlerFunc{
		"500":        func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) },
		"redirect":   func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, elsewhere.URL, http.StatusFound) },
		"no object":  func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`[]`)) },
		"no list":    func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"tapes":{}}`)) },
		"other list": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"tapez":[]}`)) },
		"empty":      func(http.ResponseWriter, *http.Request) {},
		"large": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{"tapes":[],"x":"` + strings.Repeat("x", 1<<20) + `"}`))
		},
		"gzip bomb": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(bomb.Bytes())
		},
		"other packing": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "br")
			_, _ = w.Write([]byte(`{"tapes":[]}`))
		},
		"degraded": func(w http.ResponseWriter, _ *http.Request) { // the answer of a hub without its database
			w.Header().Set("X-Degraded", "db")
			_, _ = w.Write([]byte(`{"tapes":[],"fetchedAt":"x"}`))
		},
		"slow": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
	} {
		s.answer(h)
		began := time.Now()
		if list, err := reader(t, true).Tapes(t.Context(), s.partner()); err == nil || strings.Contains(err.Error(), s.URL) || time.Since(began) > 2*partner.Within {
			t.Errorf("%s: %v %v after %s", name, list, err, time.Since(began))
		}
	}
	if led.Load() != 0 {
		t.Error("a redirect was followed")
	}
	s.text(`{"tapes":[` + row(s.goodTape(), nil) + `]}`)
	if list, err := reader(t, false).Tapes(t.Context(), s.partner()); err == nil {
		t.Errorf("http in production: %v", list)
	}
	s.answer(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		_, _ = fmt.Fprintf(z, `{"tapes":[%s]}`, row(s.goodTape(), nil))
		_ = z.Close()
	})
	if list, err := reader(t, true).Tapes(t.Context(), s.partner()); err != nil || len(list) != 1 {
		t.Errorf("compressed: %v %v", list, err)
	}
}

// TestTruncatedAnswers checks that a truncated answer is an error. A complete answer can be empty or contain additional members.
func TestTruncatedAnswers(t *testing.T) {
	t.Parallel()
	s, r := newStation(t), reader(t, true)
	whole := `{"x":["]}"],"tapes":[` + row(s.goodTape(), nil) + `,{"id":[7]}],"y":{"z":["\"}"]}}`
	for n := range len(whole) {
		s.text(whole[:n])
		if list, err := r.Tapes(t.Context(), s.partner()); err == nil {
			t.Fatalf("%s: %v", whole[:n], list)
		}
	}
	for _, behind := range []string{"x", "{}", "}", ","} {
		s.text(whole + behind)
		if list, err := r.Tapes(t.Context(), s.partner()); err == nil {
			t.Errorf("followed by %s: %v", behind, list)
		}
	}
	s.answer(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Degraded", "follows")
		_, _ = w.Write([]byte(whole + "\n"))
	})
	if list, err := r.Tapes(t.Context(), s.partner()); err != nil || len(list) != 1 {
		t.Errorf("complete: %v %v", list, err)
	}
	s.text(`{"tapes":[ ] }`)
	if list, err := r.Tapes(t.Context(), s.partner()); err != nil || len(list) != 0 {
		t.Errorf("empty: %v %v", list, err)
	}
	s.text(`{"tapes":[` + strings.Repeat("7,", 2000) + row(s.goodTape(), nil) + `]`)
	if list, err := r.Tapes(t.Context(), s.partner()); err == nil {
		t.Errorf("truncated after more entries than are read: %v", list)
	}
}

// TestMemory checks that a megabyte of invalid entries uses only a few megabytes of memory.
func TestMemory(t *testing.T) {
	s, r := newStation(t), reader(t, true)
	bodies := map[string]string{
		"zeros": `{"tapes":[` + strings.Repeat("0,", (1<<20)/2-20) + `0]}`, "brackets": `{"tapes":[` + strings.Repeat("[", 1<<20-20),
		"objects": `{"tapes":[` + strings.Repeat(`{},`, (1<<20)/3-20) + `{}]}`,
	}
	for name, body := range bodies {
		s.text(body)
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		list, err := r.Tapes(t.Context(), s.partner())
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > 12<<20 || len(list) != 0 {
			t.Errorf("%s: %d bytes, %d rows, %v", name, used, len(list), err)
		}
	}
}
