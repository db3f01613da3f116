package hosting_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/services/hub/internal/hosting"
	"github.com/signalcast/signalcast/services/hub/internal/ingest"
)

// host is a fake of both video hosts. It records the requests.
type host struct {
	mu      sync.Mutex
	asked   []string
	streams map[string]string // id to key
	n       int
	broken  string // answer to all requests if not empty
	status  int
}

func (h *host) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	h.asked = append(h.asked, strings.TrimSpace(r.Method+" "+r.URL.Path+" "+string(body)))
	user, password, _ := r.BasicAuth()
	if r.Header.Get("Authorization") != "Bearer livepeer-secret" && (user != "token" || password != "mux-secret") {
		w.WriteHeader(401)
		return
	}
	if h.status != 0 {
		w.WriteHeader(h.status)
		_, _ = io.WriteString(w, h.broken)
		return
	}
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	last := parts[len(parts)-1]
	switch {
	case r.Method == "DELETE":
		if h.streams[last] == "" {
			w.WriteHeader(404)
			return
		}
		delete(h.streams, last)
		w.WriteHeader(204)
	case r.URL.Path == "/api/stream":
		h.n++
		id := fmt.Sprintf("stream-%d", h.n)
		h.streams[id] = fmt.Sprintf("key-%d", h.n)
		w.WriteHeader(201)
		_ = json.NewEncoder(w).Encode(map[string]any{
			"id": id, "name": "mara_k", "kind": "stream", "createdAt": 1716636000000, "streamKey": h.streams[id], "playbackId": "play" + id, "record": true, "isActive": false,
		})
	case last == "live-streams", last == "reset-stream-key":
		h.n++
		id := fmt.Sprintf("stream-%d", h.n)
		if last == "reset-stream-key" {
			if id = parts[len(parts)-2]; h.streams[id] == "" {
				w.WriteHeader(404)
				return
			}
		}
		h.streams[id] = fmt.Sprintf("key-%d", h.n)
		w.WriteHeader(201)
		_ = json.NewEncoder(w).Encode(map[string]any{"data": map[string]any{
			"stream_key": h.streams[id], "status": "idle", "reconnect_window": 60, "id": id, "created_at": "1609937654", "latency_mode": "standard",
			"playback_ids": []any{map[string]string{"policy": "signed", "id": "signed" + id}, map[string]string{"policy": "public", "id": "play" + id}},
		}})
	default:
		w.WriteHeader(404)
	}
}

func (h *host) want(t *testing.T, asked ...string) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	if got := strings.Join(h.asked, "\n"); got != strings.Join(asked, "\n") {
		t.Errorf("requests:\n%s\nwant:\n%s", got, strings.Join(asked, "\n"))
	}
	h.asked = nil
}

func open(t *testing.T) (*host, string) {
	t.Helper()
	h := &host{streams: map[string]string{}}
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return h, s.URL
}

func livepeer(url, key string) hosting.Livepeer {
	return hosting.NewLivepeer(hosting.LivepeerConfig{API: url, Key: key, Ingest: "rtmp://rtmp.livepeer.com/live", Playback: "https://livepeercdn.studio/hls"})
}

func mux(url, secret string) hosting.Mux {
	return hosting.NewMux(hosting.MuxConfig{API: url + "/", TokenID: "token", TokenSecret: secret, Ingest: "rtmps://global-live.mux.com:443/app", Playback: "https://stream.mux.com"})
}

func before(o ingest.Offer, l ingest.Latency) *ingest.Stream {
	return &ingest.Stream{Handle: "mara_k", RemoteID: o.RemoteID, HLSURL: o.HLSURL, Latency: l}
}

func TestLivepeer(t *testing.T) {
	t.Parallel()
	h, url := open(t)
	p := livepeer(url, "livepeer-secret")
	const create = `POST /api/stream {"name":"mara_k","record":true,"profiles":[]}`
	first, err := p.Provision(t.Context(), ingest.Want{Handle: "mara_k", Latency: ingest.Standard})
	want := ingest.Offer{Protocol: "rtmp", URL: "rtmp://rtmp.livepeer.com/live", Key: "key-1", RemoteID: "stream-1", HLSURL: "https://livepeercdn.studio/hls/playstream-1/index.m3u8"}
	if err != nil || first != want {
		t.Fatalf("%+v %v", first, err)
	}
	h.want(t, create)
	second, err := p.Provision(t.Context(), ingest.Want{Handle: "mara_k", Before: before(first, ingest.Standard)})
	if err != nil || second.Key != "key-2" || h.streams["stream-1"] == "" {
		t.Errorf("the previous stream was deleted before the new one is stored: %+v %v", second, err)
	}
	h.want(t, create)
	for range 2 { // the second time, the host has deleted the stream
		if err := p.Withdraw(t.Context(), first.RemoteID); err != nil || h.streams["stream-1"] != "" {
			t.Errorf("deletion of the previous stream: %v", err)
		}
		h.want(t, "DELETE /api/stream/stream-1")
	}
	if got := p.Playback(*before(second, ingest.Standard)); got != second.HLSURL {
		t.Error(got)
	}
}

func TestMux(t *testing.T) {
	t.Parallel()
	h, url := open(t)
	p := mux(url, "mux-secret")
	const create = `POST /video/v1/live-streams {"playback_policies":["public"],"latency_mode":"standard"}`
	first, err := p.Provision(t.Context(), ingest.Want{Handle: "mara_k", Latency: ingest.Standard})
	want := ingest.Offer{Protocol: "rtmps", URL: "rtmps://global-live.mux.com:443/app", Key: "key-1", RemoteID: "stream-1", HLSURL: "https://stream.mux.com/playstream-1.m3u8"}
	if err != nil || first != want {
		t.Fatalf("%+v %v", first, err)
	}
	h.want(t, create)
	second, err := p.Provision(t.Context(), ingest.Want{Handle: "mara_k", Latency: ingest.Standard, Before: before(first, ingest.Standard)})
	if err != nil || second.Key != "key-2" || second.RemoteID != "stream-1" || second.HLSURL != first.HLSURL {
		t.Errorf("%+v %v", second, err)
	}
	h.want(t, "POST /video/v1/live-streams/stream-1/reset-stream-key")
	low, err := p.Provision(t.Context(), ingest.Want{Handle: "mara_k", Latency: ingest.Low, Before: before(second, ingest.Standard)})
	if err != nil || low.RemoteID == "stream-1" || h.streams["stream-1"] != "" {
		t.Errorf("%+v %v", low, err)
	}
	h.want(t, "DELETE /video/v1/live-streams/stream-1", strings.Replace(create, "standard", "low", 1))
	again, err := p.Provision(t.Context(), ingest.Want{Handle: "mara_k", Latency: ingest.Standard, Before: before(first, ingest.Standard)})
	if err != nil || again.RemoteID == "stream-1" {
		t.Errorf("a stream that the host has deleted: %+v %v", again, err)
	}
}

// TestHostsThatFail checks that each failure of a host causes the same error, and that the error contains no secret.
func TestHostsThatFail(t *testing.T) {
	t.Parallel()
	for name, make := range map[string]func(url, secret string) ingest.Provider{
		"livepeer": func(url, secret string) ingest.Provider { return livepeer(url, secret) },
		"mux":      func(url, secret string) ingest.Provider { return mux(url, secret) },
	} {
		h, url := open(t)
		fails := func(what string, p ingest.Provider) {
			t.Helper()
			_, err := p.Provision(t.Context(), ingest.Want{Handle: "mara_k", Latency: ingest.Standard})
			if err == nil || apperr.Of(err).Code != "ingest_unavailable" || strings.Contains(err.Error(), "secret") {
				t.Errorf("%s, %s: %v", name, what, err)
			}
		}
		fails("a wrong secret", make(url, "wrong-secret"))
		p := make(url, name+"-secret")
		for status, broken := range map[int]string{500: "key secret", 302: "", 200: "not json", 201: "{}", 202: strings.Repeat("x", 1<<20), 203: `{"id":"../x","streamKey":"k","playbackId":"a/b","data":{"id":"../x","stream_key":"k","playback_ids":[{"id":"a/b","policy":"public"}]}}`} {
			h.mu.Lock()
			h.status, h.broken = status, broken
			h.mu.Unlock()
			fails(fmt.Sprint(status), p)
		}
		fails("no connection", make("http://127.0.0.1:1", "x-secret"))
	}
}
