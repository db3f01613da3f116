package video

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/localdb"
	"github.com/signalcast/signalcast/test/system/stack"
)

// onePicture is an MPEG-TS packet that contains a picture at time 0.
var onePicture = "G\x41\x00\x10\x00\x00\x01\xe0\x00\x00\x80\x80\x05\x21\x00\x01\x00\x01" + strings.Repeat(" ", 170)

// Each frame of the test video shows its number in binary: one vertical bar for each bit, the lowest bit on the left.
const (
	bars      = 16
	barWidth  = 10
	barHeight = 32
	frameRate = 10
	clipSize  = 30 * frameRate // number of frames
)

// streamer is an approved operator with a stream at the video origin and a market on the overlay.
type streamer struct {
	*stack.Operator
	s             *stack.Stack
	key, playlist string // key and playlist URL of the stream
}

// newStreamer registers an operator and approves it, requests a stream, and sets the market on its overlay. Before the
// approval, the request for a stream must be refused.
func newStreamer(t *testing.T, s *stack.Stack, market string) streamer {
	t.Helper()
	o := streamer{Operator: s.NewOperator(t), s: s}
	o.Send(t, "/api/streamer/register", http.StatusCreated, o.Session(t), stack.JSON{"displayName": "Of the river"}).
		Expect(stack.JSON{"status": "pending"})
	o.requestKey(t).RequireError(http.StatusForbidden, "not_approved")
	o.SetStreamer(t, "approved")
	o.key, o.playlist = o.newKey(t), s.Origin+"/live/"+o.Handle+"/index.m3u8"
	setOverlay(t, o.Operator, stack.JSON{"marketId": market, "name": "The river"})
	return o
}

// requestKey requests a stream. The key in the answer replaces the previous key of the stream.
func (o streamer) requestKey(t *testing.T) stack.Answer {
	t.Helper()
	body := stack.Body(stack.JSON{"label": "test"})
	return o.Retry(t, http.MethodPost, o.s.Hub+"/api/streamer/stream", stack.Bearer(o.Login), body)
}

func (o streamer) newKey(t *testing.T) string {
	t.Helper()
	want := stack.JSON{"stream.playback.hlsUrl": o.s.Origin + "/live/" + o.Handle + "/index.m3u8"}
	return o.requestKey(t).Require(http.StatusCreated).Expect(want).Text("stream.ingest.streamKey")
}

// pushFrames runs ffmpeg until the test ends. It sends the numbered frames three times faster than real time.
func pushFrames(t *testing.T, output ...string) *localdb.Child {
	t.Helper()
	picture := fmt.Sprintf("color=black:size=%dx%d:rate=%d,geq=lum='235*mod(floor(N/pow(2,floor(X/%d))),2)':cb=128:cr=128",
		bars*barWidth, barHeight, frameRate, barWidth)
	return run(t, "ffmpeg", append([]string{
		"-nostdin", "-v", "error", "-readrate", "3", "-f", "lavfi", "-i", picture, "-c:v", "libx264", "-preset", "ultrafast",
		"-tune", "zerolatency", "-g", "20", "-keyint_min", "20", "-sc_threshold", "0", "-pix_fmt", "yuv420p",
	}, output...)...)
}

// frames decodes a video and returns the numbers of its frames.
func frames(t *testing.T, address string) []int {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	raw, err := exec.CommandContext(ctx, "ffmpeg", "-nostdin", "-v", "error", "-i", address, "-f", "rawvideo", "-pix_fmt", "gray",
		"-fps_mode", "passthrough", "pipe:1").Output()
	const size = bars * barWidth * barHeight
	if err != nil || len(raw) == 0 || len(raw)%size != 0 {
		t.Fatalf("decode %s: %d bytes, %v", address, len(raw), err)
	}
	out := make([]int, len(raw)/size)
	for i := range out {
		middle := raw[i*size+size/2:]
		for bit := range bars {
			if middle[bit*barWidth+barWidth/2] > 127 {
				out[i] |= 1 << bit
			}
		}
	}
	return out
}

// segmentsOf returns the URLs of the segments that a playlist lists.
func segmentsOf(t *testing.T, playlist string) []string {
	t.Helper()
	var out []string
	for line := range strings.Lines(string(stack.Get(t, playlist).Require(http.StatusOK).Body)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			out = append(out, playlist[:strings.LastIndexByte(playlist, '/')+1]+line)
		}
	}
	return out
}

// newestFrame returns the number of the newest frame that viewers can see.
func newestFrame(t *testing.T, playlist string) int {
	t.Helper()
	list := segmentsOf(t, playlist)
	all := frames(t, list[len(list)-1])
	return all[len(all)-1]
}

// awaitFrame waits until viewers can see the frame with this number.
func awaitFrame(t *testing.T, playlist string, frame int) {
	t.Helper()
	stack.Eventually(t, time.Minute, fmt.Sprintf("frame %d of %s", frame, playlist), func() bool {
		return stack.Get(t, playlist).Status == http.StatusOK && newestFrame(t, playlist) > frame
	})
}

// TestOriginAndClips checks that viewers can watch a pushed stream, and that a clip contains exactly the 30 seconds before its
// request, frame by frame. A new key and a suspension of the operator must end the push.
func TestOriginAndClips(t *testing.T) {
	t.Parallel()
	s := system(t)
	market := s.NewNativeMarket(t, 5000, nil)
	o, fan := newStreamer(t, s, market), s.NewOperator(t)
	stack.Get(t, o.playlist).Require(http.StatusNotFound)
	fan.Do(t, http.MethodPost, s.Hub+"/api/live/"+o.Handle+"/clip", fan.Session(t), stack.Body(stack.JSON{})).
		RequireError(http.StatusConflict, "not_live")
	pushFrames(t, "-f", "hls", "-hls_time", "2", "-hls_list_size", "5", "-hls_flags", "delete_segments", "-method", "PUT",
		s.Origin+"/ingest/"+o.key+"/"+o.Handle+"/index.m3u8")
	awaitFrame(t, o.playlist, clipSize+5*frameRate)
	stack.Eventually(t, 30*time.Second, "the operator in the list of broadcasts, without a heartbeat", func() bool {
		return read(t, s.Hub+"/api/streamers/live").Contains(o.playlist)
	})
	requireClip(t, s, o, fan, market)

	push := func(key string) stack.Answer {
		return stack.Send(t, http.MethodPut, s.Origin+"/live/"+o.Handle+"/x.ts", stack.Bearer(key), stack.Body(onePicture))
	}
	old := o.key
	o.key = o.newKey(t)
	push(old).RequireError(http.StatusUnauthorized, "unauthenticated")
	push(o.key).Require(http.StatusNoContent)
	// Segments that were being sent when the key ended may still arrive. A push that continues sends a segment every
	// two seconds.
	last, since := "", time.Now()
	stack.Eventually(t, time.Minute, "5 s without a segment", func() bool {
		if list := segmentsOf(t, o.playlist); list[len(list)-1] != last {
			last, since = list[len(list)-1], time.Now()
		}
		return time.Since(since) > 5*time.Second
	})
	o.SetStreamer(t, "suspended")
	push(o.key).RequireError(http.StatusForbidden, "not_approved")
	o.requestKey(t).RequireError(http.StatusForbidden, "not_approved")
	for _, name := range []string{"hub", "api"} {
		log, err := os.ReadFile(s.Log(name))
		if err != nil || strings.Contains(string(log), old) || strings.Contains(string(log), o.key) {
			t.Errorf("the log of %s contains a key of the stream: %v", name, err)
		}
	}
}

// requireClip creates a clip of a running stream. It checks each frame, the still image, and the lists that contain the
// clip.
func requireClip(t *testing.T, s *stack.Stack, o streamer, fan *stack.Operator, market string) {
	t.Helper()
	clips := s.Hub + "/api/m/" + market + "/clips"
	before := newestFrame(t, o.playlist)
	made := fan.Send(t, "/api/live/"+o.Handle+"/clip", http.StatusCreated, fan.Session(t), stack.JSON{"title": "The river turns"}).
		Expect(stack.JSON{
			"clip.status": "processing", "clip.url": nil, "clip.marketId": market, "clip.handle": o.Handle, "clip.createdBy": fan.Handle,
		})
	id := made.Text("clip.id")
	var list stack.Answer
	stack.Eventually(t, 30*time.Second, "the clip in the list of its market", func() bool {
		list = read(t, clips)
		return list.Member("clips.0.id") == id
	})
	after := newestFrame(t, o.playlist)
	address := list.Text("clips.0.url")
	got := frames(t, address)
	first, last := got[0], got[len(got)-1]
	if last < before || last > after {
		t.Errorf("the clip ends with frame %d; want a frame between %d and %d, which viewers saw before and after the request", last, before, after)
	}
	if n := list.Int("clips.0.durationS"); len(got) != clipSize || n != 30 {
		t.Errorf("the clip has %d frames and %d seconds; want %d and 30", len(got), n, clipSize)
	}
	for i, n := range got {
		if n != first+i {
			t.Errorf("frame %d of the clip is frame %d of the stream; want %d", i, n, first+i)
			break
		}
	}
	if still := frames(t, list.Text("clips.0.thumbnailUrl")); len(still) != 1 || still[0] != first {
		t.Errorf("the still image shows frame %v; want %d", still, first)
	}
	h := stack.Get(t, segmentsOf(t, address)[0]).Require(http.StatusOK).Header
	if h.Get("Access-Control-Allow-Origin") != "*" || h.Get("Content-Type") != "video/mp2t" {
		t.Errorf("a segment of the clip has wrong headers: %v", h)
	}
	for _, where := range []string{
		s.API + "/api/v1/feed?types=clip.ready&handle=" + o.Handle, s.Hub + "/api/network/tapes?limit=48&exclude=" + id,
	} {
		stack.Eventually(t, 30*time.Second, "the clip in "+where, func() bool { return read(t, where).Contains(id) })
	}
	stack.Eventually(t, 30*time.Second, "one tape of the market in the programme", func() bool { return tapesOf(t, s, market) == 1 })
	stack.Send(t, http.MethodPost, s.Hub+"/api/network/tapes/"+id+"/view").Require(http.StatusOK).Expect(stack.JSON{"counted": true})
	stack.Eventually(t, 30*time.Second, "one view of the clip", func() bool { return read(t, clips).Int("clips.0.views") == 1 })
}

// tapesOf returns the number of tapes of a native market in the segments of the programme. It returns -1 if the programme does not
// contain the market.
func tapesOf(t *testing.T, s *stack.Stack, market string) int {
	t.Helper()
	var channel struct {
		Lanes []struct {
			Segs []struct {
				ID    string
				Tapes int
			}
		}
	}
	spec := url.QueryEscape(`{"minVolume":0}`)
	read(t, s.Clock+"/program/channel?limit=400&preset=close&providers=manual&spec="+spec).Decode(&channel)
	for _, lane := range channel.Lanes {
		for _, segment := range lane.Segs {
			if segment.ID == market {
				return segment.Tapes
			}
		}
	}
	return -1
}

// TestRTMP checks that an encoder can push with RTMP to nginx, which asks the video origin whether the key is valid.
func TestRTMP(t *testing.T) {
	t.Parallel()
	s := system(t)
	market := s.NewNativeMarket(t, 5000, nil)
	o := newStreamer(t, s, market)
	rtmp := "rtmp://" + startNginx(t, s) + "/live/" + o.Handle + "?key="
	wrong := pushFrames(t, "-f", "flv", rtmp+"sk_"+strings.Repeat("a", 32))
	select {
	case <-wrong.Done():
	case <-time.After(20 * time.Second):
		t.Error("a push with a wrong key still runs after 20 s; want it to be refused")
	}
	stack.Get(t, o.playlist).Require(http.StatusNotFound)
	pushFrames(t, "-f", "flv", rtmp+o.key)
	awaitFrame(t, o.playlist, clipSize+10*frameRate)
	requireClip(t, s, o, s.NewOperator(t), market)
}

// startNginx runs nginx with the configuration of deploy/rtmp until the test ends and returns its address.
func startNginx(t *testing.T, s *stack.Stack) string {
	t.Helper()
	root, err := stack.Root()
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(root, "deploy/rtmp/nginx.conf"))
	if err != nil {
		t.Fatal(err)
	}
	dir, listen := t.TempDir(), stack.FreeAddr(t)
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	conf := filepath.Join(dir, "nginx.conf")
	text := strings.NewReplacer("${RTMP_LISTEN}", listen, "${ORIGIN}", s.Origin, "${RUN}", dir).Replace(string(raw))
	if err := os.WriteFile(conf, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	nginx := "nginx"
	if _, err := exec.LookPath(nginx); err != nil {
		nginx = "/usr/sbin/nginx" // the directory may be missing in PATH
	}
	run(t, nginx, "-e", "stderr", "-p", dir, "-c", conf)
	stack.Eventually(t, 10*time.Second, "nginx to listen on "+listen, func() bool {
		conn, err := net.Dial("tcp", listen)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
	return listen
}
