package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/localdb"
	"github.com/signalcast/signalcast/pkg/testkit"
)

// onePicture is a packet of MPEG-TS with a picture at time 0, which is nothing.
var onePicture = "G\x41\x00\x10\x00\x00\x01\xe0\x00\x00\x80\x80\x05\x21\x00\x01\x00\x01" + strings.Repeat(" ", 170)

// The picture of the tests is a clock: sixteen bars that spell the number of the frame,
// the lowest bit on the left.
const (
	bars      = 16
	barWidth  = 10
	barHeight = 32
	frameRate = 10
	inClip    = 30 * frameRate
)

// onStage makes somebody an approved operator who has a stream and shows a market. Whoever
// pushes is live.
func (s *stack) onStage(t *testing.T, market string) (p *person, key string) {
	t.Helper()
	p = s.person(t)
	cookies, _ := p.signIn(t)
	post(t, s.Hub+"/api/streamer/register", cookies, with("Origin", s.Hub), payload(obj{"displayName": "Of the river"})).is(http.StatusCreated).has(obj{"status": "pending"})
	post(t, s.Hub+"/api/streamer/stream", p.login(), payload(obj{})).fails(http.StatusForbidden, "not_approved")
	s.rule(t, p, "approved")
	a := post(t, s.Hub+"/api/streamer/stream", p.login(), payload(obj{"label": "test"})).is(http.StatusCreated)
	if got := a.str("stream.playback.hlsUrl"); got != s.Origin+"/live/"+p.user+"/index.m3u8" {
		t.Fatal(got)
	}
	post(t, s.Hub+"/api/streamer/signal", p.auth(t), payload(obj{"marketId": market, "name": "The river"})).is(http.StatusOK)
	return p, a.str("stream.ingest.streamKey")
}

// rule is what an admin says of somebody who asked to stream.
func (s *stack) rule(t *testing.T, p *person, status string) {
	t.Helper()
	p.decided(t, status)
}

// pushClock runs ffmpeg until the test ends: the clock, three times as fast as it is.
func pushClock(t *testing.T, out ...string) *localdb.Child {
	t.Helper()
	picture := fmt.Sprintf("color=black:size=%dx%d:rate=%d,geq=lum='235*mod(floor(N/pow(2,floor(X/%d))),2)':cb=128:cr=128", bars*barWidth, barHeight, frameRate, barWidth)
	args := append([]string{
		"-nostdin", "-v", "error", "-readrate", "3", "-f", "lavfi", "-i", picture,
		"-c:v", "libx264", "-preset", "ultrafast", "-tune", "zerolatency", "-g", "20", "-keyint_min", "20", "-sc_threshold", "0", "-pix_fmt", "yuv420p",
	}, out...)
	return program(t, "ffmpeg", args...)
}

// program runs until the test ends; what it says of errors is shown when that fails.
func program(t *testing.T, name string, args ...string) *localdb.Child {
	t.Helper()
	var said lines
	cmd := exec.Command(name, args...)
	cmd.Stderr = &said
	child, err := localdb.StartChild(cmd, syscall.SIGTERM)
	if err != nil {
		t.Fatalf("%s is missing (tools/setup.sh video installs it): %v", name, err)
	}
	t.Cleanup(func() {
		child.Stop(context.Background(), syscall.SIGTERM, 5*time.Second)
		if t.Failed() && said.String() != "" {
			t.Logf("%s: %s", name, said.String())
		}
	})
	return child
}

// frames decodes what is at an address and gives the numbers of its frames.
func frames(t *testing.T, address string) []int {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	raw, err := exec.CommandContext(ctx, "ffmpeg", "-nostdin", "-v", "error", "-i", address, "-f", "rawvideo", "-pix_fmt", "gray", "-fps_mode", "passthrough", "pipe:1").Output()
	const size = bars * barWidth * barHeight
	if err != nil || len(raw) == 0 || len(raw)%size != 0 {
		t.Fatalf("%s: %d bytes, %v", address, len(raw), err)
	}
	out := make([]int, len(raw)/size)
	for i := range out {
		row := raw[i*size+size/2:] // in the middle
		for bit := range bars {
			if row[bit*barWidth+barWidth/2] > 127 {
				out[i] |= 1 << bit
			}
		}
	}
	return out
}

// listedParts are the addresses in a playlist.
func listedParts(t *testing.T, playlist string) []string {
	t.Helper()
	var out []string
	for line := range strings.SplitSeq(string(get(t, playlist).is(http.StatusOK).body), "\n") {
		if line != "" && !strings.HasPrefix(line, "#") {
			out = append(out, playlist[:strings.LastIndexByte(playlist, '/')+1]+line)
		}
	}
	return out
}

// newest is the last frame that viewers could see at this moment.
func newest(t *testing.T, playlist string) int {
	t.Helper()
	list := listedParts(t, playlist)
	all := frames(t, list[len(list)-1])
	return all[len(all)-1]
}

// clipped has a clip cut and waits until it can be watched.
func (s *stack) clipped(t *testing.T, fan *person, of *person, market string) obj {
	t.Helper()
	cookies, _ := fan.signIn(t)
	a := post(t, s.Hub+"/api/live/"+of.user+"/clip", cookies, with("Origin", s.Hub), payload(obj{"title": "The river turns"})).is(http.StatusCreated)
	a.has(obj{"clip.status": "processing", "clip.url": nil, "clip.marketId": market, "clip.handle": of.user, "clip.createdBy": fan.user})
	var clip obj
	testkit.Eventually(t, 30*time.Second, func() bool {
		for _, c := range get(t, s.Hub+"/api/m/"+market+"/clips").is(http.StatusOK).list("clips") {
			if clip = obj(c.(map[string]any)); clip["id"] == a.str("clip.id") {
				return true
			}
		}
		return false
	})
	return clip
}

// TestVideo: an encoder pushes, viewers watch, and the clip is the last half minute
// before it was asked for, frame by frame.
func TestVideo(t *testing.T) {
	t.Parallel()
	s := up(t)
	market := s.native(t, 5000)
	p, key := s.onStage(t, market)
	fan := s.person(t)
	live := s.Origin + "/live/" + p.user + "/index.m3u8"
	get(t, live).is(http.StatusNotFound)
	cookies, _ := fan.signIn(t)
	post(t, s.Hub+"/api/live/"+p.user+"/clip", cookies, with("Origin", s.Hub), payload(obj{})).fails(http.StatusConflict, "not_live") // no video yet
	pushClock(t, "-f", "hls", "-hls_time", "2", "-hls_list_size", "5", "-hls_flags", "delete_segments", "-method", "PUT", s.Origin+"/ingest/"+key+"/"+p.user+"/index.m3u8")
	testkit.Eventually(t, time.Minute, func() bool { // a clip and a bit
		a, err := try(t, http.MethodGet, live)
		return err == nil && a.status == http.StatusOK && newest(t, live) > inClip+5*frameRate
	})
	// The pushes are heartbeats: nobody sent another one.
	testkit.Eventually(t, 30*time.Second, func() bool { // the list is kept for some seconds
		return strings.Contains(string(get(t, s.Hub+"/api/streamers/live").is(http.StatusOK).body), live)
	})
	s.checkClip(t, p, fan, market, live)

	// A new key ends the old one's push, while it runs.
	again := post(t, s.Hub+"/api/streamer/stream", p.login(), payload(obj{})).is(http.StatusCreated).str("stream.ingest.streamKey")
	send(t, http.MethodPut, s.Origin+"/live/"+p.user+"/x.ts", bearer(key), payload(onePicture)).fails(http.StatusUnauthorized, "unauthenticated")
	send(t, http.MethodPut, s.Origin+"/live/"+p.user+"/x.ts", bearer(again), payload(onePicture)).is(http.StatusNoContent)
	// What was under way when the key ended may still come; a push that went on would bring
	// a part every two seconds.
	last, since := "", time.Now()
	testkit.Eventually(t, time.Minute, func() bool {
		if now := listedParts(t, live); now[len(now)-1] != last {
			last, since = now[len(now)-1], time.Now()
		}
		return time.Since(since) > 5*time.Second
	})
	s.rule(t, p, "suspended")
	send(t, http.MethodPut, s.Origin+"/live/"+p.user+"/x.ts", bearer(again), payload(onePicture)).fails(http.StatusForbidden, "not_approved")
	post(t, s.Hub+"/api/streamer/stream", p.login(), payload(obj{})).fails(http.StatusForbidden, "not_approved")
	for _, name := range []string{"hub.log", "api.log"} {
		if log, err := os.ReadFile(filepath.Join(s.dir, "logs", name)); err != nil || strings.Contains(string(log), key) || strings.Contains(string(log), again) {
			t.Errorf("%s holds a key: %v", name, err)
		}
	}
}

// checkClip has a clip cut of a stream that runs, and looks at each of its frames.
func (s *stack) checkClip(t *testing.T, p, fan *person, market, live string) {
	t.Helper()
	before := newest(t, live)
	clip := s.clipped(t, fan, p, market)
	after := newest(t, live)
	address := clip["url"].(string)
	list := frames(t, address)
	first, last := list[0], list[len(list)-1]
	if last < before || last > after {
		t.Errorf("the clip ends with frame %d; viewers saw %d before and %d after", last, before, after)
	}
	if len(list) != inClip || last-first != inClip-1 || fmt.Sprint(clip["durationS"]) != "30" {
		t.Errorf("%d frames, from %d to %d, %v seconds", len(list), first, last, clip["durationS"])
	}
	for i, n := range list {
		if n != first+i {
			t.Errorf("frame %d is number %d, not %d", i, n, first+i)
			break
		}
	}
	if still := frames(t, clip["thumbnailUrl"].(string)); len(still) != 1 || still[0] != first {
		t.Errorf("the picture is of frame %v, the clip begins with %d", still, first)
	}
	// Nothing was encoded: its segments are those that viewers of the stream were given.
	vod := listedParts(t, address)
	if got := get(t, vod[0]).is(http.StatusOK); got.header.Get("Access-Control-Allow-Origin") != "*" || got.header.Get("Content-Type") != "video/mp2t" {
		t.Errorf("%v", got.header)
	}
	// The feed and the tapes hear of it.
	testkit.Eventually(t, 30*time.Second, func() bool {
		return strings.Contains(string(get(t, s.API+"/api/v1/feed?types=clip.ready&handle="+p.user).is(http.StatusOK).body), clip["id"].(string))
	})
	testkit.Eventually(t, 30*time.Second, func() bool { // a page of tapes is kept for a while
		return strings.Contains(string(get(t, s.Hub+"/api/network/tapes?limit=48&exclude="+clip["id"].(string)).is(http.StatusOK).body), clip["id"].(string))
	})
	post(t, s.Hub+"/api/network/tapes/"+clip["id"].(string)+"/view").is(http.StatusOK).has(obj{"counted": true})
	testkit.Eventually(t, 30*time.Second, func() bool {
		return get(t, s.Hub+"/api/m/"+market+"/clips").is(http.StatusOK).at("clips.0.views") == json.Number("1")
	})
}

// TestVideoByRTMP: the same through nginx with its RTMP module, which asks the origin
// about the key.
func TestVideoByRTMP(t *testing.T) {
	t.Parallel()
	s := up(t)
	market := s.native(t, 5000)
	p, key := s.onStage(t, market)
	listen := freeAddress(t)
	run := t.TempDir()
	if err := os.Chmod(run, 0o755); err != nil {
		t.Fatal(err)
	}
	conf, err := os.ReadFile(filepath.Join(repo, "deploy/rtmp/nginx.conf"))
	if err != nil {
		t.Fatal(err)
	}
	own := filepath.Join(run, "nginx.conf")
	text := strings.NewReplacer("${RTMP_LISTEN}", listen, "${ORIGIN}", s.Origin, "${RUN}", run).Replace(string(conf))
	if err := os.WriteFile(own, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	nginx := "nginx"
	if _, err := exec.LookPath(nginx); err != nil {
		nginx = "/usr/sbin/nginx" // not everybody's path leads there
	}
	program(t, nginx, "-e", "stderr", "-p", run, "-c", own)
	testkit.Eventually(t, 10*time.Second, func() bool {
		conn, err := net.Dial("tcp", listen)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
	live := s.Origin + "/live/" + p.user + "/index.m3u8"
	// A wrong key is sent away by the server in front.
	wrong := pushClock(t, "-f", "flv", "rtmp://"+listen+"/live/"+p.user+"?key=sk_"+strings.Repeat("a", 32))
	select {
	case <-wrong.Done():
	case <-time.After(20 * time.Second):
		t.Error("a wrong key may publish")
	}
	get(t, live).is(http.StatusNotFound)
	pushClock(t, "-f", "flv", "rtmp://"+listen+"/live/"+p.user+"?key="+key)
	testkit.Eventually(t, time.Minute, func() bool {
		a, err := try(t, http.MethodGet, live)
		return err == nil && a.status == http.StatusOK && newest(t, live) > inClip+10*frameRate
	})
	s.checkClip(t, p, s.person(t), market, live)
}

// freeAddress is a local address where nobody listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	port, err := localdb.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("127.0.0.1:%d", port)
}
