package hosting_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/services/hub/internal/clip"
)

// answers is a fake of a video host that answers each request, given as method and path, with a status and a body.
type answers struct {
	t     *testing.T
	by    map[string]string // status, a space, and the body
	asked []string
}

func (a *answers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, _ := io.ReadAll(r.Body)
	a.asked = append(a.asked, strings.TrimSpace(r.Method+" "+r.URL.Path+" "+string(raw)))
	said, there := a.by[r.Method+" "+r.URL.Path]
	if _, _, basic := r.BasicAuth(); !there || !basic && r.Header.Get("Authorization") != "Bearer livepeer-secret" {
		w.WriteHeader(404)
		return
	}
	status := 200
	if code, body, ok := strings.Cut(said, " "); ok && code == "400" {
		status, said = 400, body
	}
	w.WriteHeader(status)
	_, _ = io.WriteString(w, said)
}

func answer(t *testing.T, by map[string]string) (*answers, string) {
	t.Helper()
	a := &answers{t: t, by: by}
	s := httptest.NewServer(a)
	t.Cleanup(s.Close)
	return a, s.URL
}

// end is the end of all clips: 2026-09-18T12:00:00.500Z.
var end = time.UnixMilli(1789732800500)

// TestLivepeerClip checks the requests for a clip at Livepeer and the answers while it is created. The answers have the members of
// the interface description of Livepeer Studio.
func TestLivepeerClip(t *testing.T) {
	t.Parallel()
	a, url := answer(t, map[string]string{
		"POST /api/clip": `{"task":{"id":"task-1","type":"clip"},"asset":{"id":"asset-1","playbackId":"pb1","userId":"u","createdAt":1789732801000,
			"status":{"phase":"waiting","updatedAt":1789732801000},"name":"clip","source":{"type":"clip","sessionId":"s"}}}`,
	})
	p := livepeer(url, "livepeer-secret")
	from := clip.Source{Kind: "livepeer", URL: "https://livepeercdn.studio/hls/playstream-1/index.m3u8", RemoteID: "stream-1"}
	id, err := p.Clip(t.Context(), from, end, clip.Length)
	if err != nil || id != "asset-1" {
		t.Fatal(id, err)
	}
	if want := `POST /api/clip {"playbackId":"playstream-1","startTime":1789732770500,"endTime":1789732800500}`; a.asked[0] != want {
		t.Errorf("request %s, want %s", a.asked[0], want)
	}
	for said, want := range map[string]struct {
		url    string
		length time.Duration
		err    error
	}{
		`{"id":"asset-1","status":{"phase":"waiting"}}`:                   {err: clip.ErrUnfinished},
		`{"id":"asset-1","status":{"phase":"processing","progress":0.4}}`: {err: clip.ErrUnfinished},
		`{"id":"asset-1","status":{"phase":"failed","errorMessage":"x"}}`: {err: clip.ErrNoVideo},
		`{"id":"asset-1","playbackId":"pb1","playbackUrl":"https://livepeercdn.studio/asset/pb1/index.m3u8","videoSpec":{"format":"mp4","duration":29.5},"status":{"phase":"ready"}}`: {
			url: "https://livepeercdn.studio/asset/pb1/index.m3u8", length: 29500 * time.Millisecond,
		},
		`{"id":"asset-1","playbackId":"pb1","playbackUrl":"javascript:alert(1)","status":{"phase":"ready"}}`: {
			url: "https://livepeercdn.studio/hls/pb1/index.m3u8", length: clip.Length,
		},
	} {
		a.by["GET /api/asset/asset-1"] = said
		got, err := p.Clipped(t.Context(), "asset-1")
		if got.URL != want.url || got.Length != want.length || !errors.Is(err, want.err) {
			t.Errorf("%s: %+v %v, want %+v", said, got, err, want)
		}
	}
	for name, bad := range map[string]string{"not recorded": `400 {"errors":["Recording must be enabled"]}`, "no id": `{"asset":{}}`, "id with a path": `{"asset":{"id":"../x"}}`} {
		a.by["POST /api/clip"] = bad
		if _, err := p.Clip(t.Context(), from, end, clip.Length); err == nil || errors.Is(err, clip.ErrNoVideo) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v, want a temporary error", name, err)
		}
	}
	delete(a.by, "POST /api/clip")
	for _, s := range []clip.Source{from, {URL: "https://elsewhere.example/hls/x/index.m3u8"}, {URL: "https://livepeercdn.studio/hls/../a/index.m3u8"}} {
		if _, err := p.Clip(t.Context(), s, end, clip.Length); !errors.Is(err, clip.ErrNoVideo) {
			t.Errorf("%s: %v, want ErrNoVideo", s.URL, err)
		}
	}
	if _, err := p.Clipped(t.Context(), "unknown"); !errors.Is(err, clip.ErrNoVideo) {
		t.Error(err)
	}
}

// TestMuxClip checks that the positions of a clip refer to the recording of the stream, also after an interruption, and the answers
// while the clip is created.
func TestMuxClip(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ recording, want string }{
		"one recording": {
			`{"data":{"id":"asset-1","status":"preparing","created_at":"1789732700","recording_times":[{"started_at":{"seconds":1789732701,"nanos":500000000},"type":"content"}]}}`,
			`"start_time":69,"end_time":99`,
		},
		"interrupted": {
			`{"data":{"id":"asset-1","created_at":"1789732000","recording_times":[{"started_at":{"seconds":1789732000,"nanos":0},"duration":20},{"started_at":{"seconds":1789732780,"nanos":0},"duration":20}]}}`,
			`"start_time":10.5,"end_time":40.5`,
		},
		"just begun": {`{"data":{"id":"asset-1","created_at":"1789732790"}}`, `"start_time":0,"end_time":10.5`},
		"delayed":    {`{"data":{"id":"asset-1","created_at":"1789732700","duration":97}}`, `"start_time":67,"end_time":97`},
	} {
		a, url := answer(t, map[string]string{
			"GET /video/v1/live-streams/stream-1": `{"data":{"id":"stream-1","status":"active","active_asset_id":"asset-1","stream_key":"k"}}`,
			"GET /video/v1/assets/asset-1":        c.recording,
			"POST /video/v1/assets":               `{"data":{"id":"clip-1","status":"preparing","created_at":"1789732801","playback_ids":[{"id":"p","policy":"public"}]}}`,
		})
		id, err := mux(url, "mux-secret").Clip(t.Context(), clip.Source{RemoteID: "stream-1"}, end, clip.Length)
		want := `POST /video/v1/assets {"input":[{"url":"mux://assets/asset-1",` + c.want + `}],"playback_policies":["public"]}`
		if err != nil || id != "clip-1" || a.asked[len(a.asked)-1] != want {
			t.Errorf("%s: %s %v\n%s\nwant\n%s", name, id, err, a.asked[len(a.asked)-1], want)
		}
	}
	a, url := answer(t, map[string]string{"GET /video/v1/live-streams/stream-1": `{"data":{"id":"stream-1","status":"idle"}}`})
	p := mux(url, "mux-secret")
	for _, id := range []string{"stream-1", "unknown", "../x", ""} {
		if _, err := p.Clip(t.Context(), clip.Source{RemoteID: id}, end, clip.Length); !errors.Is(err, clip.ErrNoVideo) {
			t.Errorf("a stream that is not live, %q: %v, want ErrNoVideo", id, err)
		}
	}
	for said, want := range map[string]struct {
		url string
		err error
	}{
		`{"data":{"id":"clip-1","status":"preparing"}}`: {err: clip.ErrUnfinished},
		`{"data":{"id":"clip-1","status":"errored"}}`:   {err: clip.ErrNoVideo},
		`{"data":{"id":"clip-1","status":"ready","duration":30.03,"playback_ids":[{"id":"s","policy":"signed"},{"id":"pub1","policy":"public"}]}}`: {url: "https://stream.mux.com/pub1.m3u8"},
	} {
		a.by["GET /video/v1/assets/clip-1"] = said
		if got, err := p.Clipped(t.Context(), "clip-1"); got.URL != want.url || !errors.Is(err, want.err) {
			t.Errorf("%s: %+v %v, want %+v", said, got, err, want)
		}
	}
}
