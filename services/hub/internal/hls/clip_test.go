package hls_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image/jpeg"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/services/hub/internal/clip"
	"github.com/signalcast/signalcast/services/hub/internal/hls"
)

func clipID(n int) string { return fmt.Sprintf("0199f0c0-0000-7000-8000-%012d", n) }

func files(t *testing.T, dir string) []os.DirEntry {
	t.Helper()
	list, err := os.ReadDir(dir)
	noError(t, err)
	return list
}

// film records a stream with ffmpeg in a directory, uploads it to the origin, and returns its playlist.
func (b *bench) film(dir string, args []string) (playlist []byte) {
	b.t.Helper()
	if out, err := exec.CommandContext(b.t.Context(), "ffmpeg", args...).CombinedOutput(); err != nil {
		b.t.Fatalf("ffmpeg: %v %s", err, out)
	}
	for _, f := range files(b.t, dir) {
		raw, err := os.ReadFile(filepath.Join(dir, f.Name()))
		noError(b.t, err)
		if f.Name() == "index.m3u8" {
			playlist = raw
			continue
		}
		b.want(b.put(f.Name(), raw), 204, "")
	}
	b.want(b.put("index.m3u8", playlist), 204, "")
	return playlist
}

func TestCut(t *testing.T) {
	t.Parallel()
	b := setup(t, func(o *hls.Options) { o.FFmpeg = "" })
	b.run("seg", 1, 40)
	end := b.clock.Now()
	b.clock.Advance(3 * time.Second)
	b.run("late", 41, 42) // segments after the moment are not part of the clip
	film, err := b.o.Cut(t.Context(), clipID(1), "mara_k", end, clip.Length)
	if err != nil || film.Length != 30*time.Second || film.URL != "https://video.example/clips/"+clipID(1)+"/index.m3u8" || film.Thumbnail != "" {
		t.Fatalf("%+v %v", film, err)
	}
	got := b.get("/clips/" + clipID(1) + "/index.m3u8")
	if !strings.HasPrefix(got, "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:2\n#EXT-X-MEDIA-SEQUENCE:0\n#EXT-X-PLAYLIST-TYPE:VOD\n#EXTINF:2.000000,\nseg26\n") ||
		!strings.HasSuffix(got, "seg40\n#EXT-X-ENDLIST") || strings.Count(got, "EXTINF") != 15 {
		t.Errorf("%s", got)
	}
	// The clip remains after its segments left the window, and another process finds it.
	b.clock.Advance(10 * time.Minute)
	b.o.Sweep()
	b.reopen()
	if again, err := b.o.Cut(t.Context(), clipID(1), "mara_k", end, clip.Length); err != nil || again != film {
		t.Errorf("%+v %v", again, err)
	}
	if again := b.get("/clips/" + clipID(1) + "/index.m3u8"); again != got {
		t.Errorf("%s", again)
	}
	for name, ask := range map[string][2]any{"gone": {"mara_k", end}, "no video": {"tidewatch", end}} {
		if _, err := b.o.Cut(t.Context(), clipID(2), ask[0].(string), ask[1].(time.Time), clip.Length); !errors.Is(err, clip.ErrNoVideo) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := len(files(t, b.opt.Dir+"/tmp")); n != 0 {
		t.Errorf("%d temporary directories remain", n)
	}
}

// TestCutOfShortStreams checks that a clip of a short stream contains the whole stream. A gap must be marked as a discontinuity.
func TestCutOfShortStreams(t *testing.T) {
	t.Parallel()
	b := setup(t, func(o *hls.Options) { o.FFmpeg = "" })
	b.run("seg", 1, 3)
	b.clock.Advance(5 * time.Second)
	b.run("again", 1, 2)
	film, err := b.o.Cut(t.Context(), clipID(1), "mara_k", b.clock.Now(), clip.Length)
	if err != nil || film.Length != 10*time.Second {
		t.Fatalf("%+v %v", film, err)
	}
	if got := b.get("/clips/" + clipID(1) + "/index.m3u8"); !strings.Contains(got, "seg3\n#EXT-X-DISCONTINUITY\n#EXTINF:2.000000,\nagain1") {
		t.Errorf("%s", got)
	}
	b.clock.Advance(30 * time.Second) // longer than maxClipDelay without a segment
	if _, err := b.o.Cut(t.Context(), clipID(2), "mara_k", b.clock.Now(), clip.Length); !errors.Is(err, clip.ErrNoVideo) {
		t.Error(err)
	}
}

// TestTrim checks that the oldest clips are deleted, and that a clip is marked as deleted before its files are deleted.
func TestTrim(t *testing.T) {
	t.Parallel()
	b := setup(t, func(o *hls.Options) { o.FFmpeg, o.ClipBytes = "", 1200 }) // a clip is about 600 bytes
	b.run("seg", 1, 2)
	for i := range 4 {
		if _, err := b.o.Cut(t.Context(), clipID(i), "mara_k", b.clock.Now(), clip.Length); err != nil {
			t.Fatal(err)
		}
	}
	errUnavailable := errors.New("unavailable")
	if err := b.o.Trim(t.Context(), func(context.Context, string) error { return errUnavailable }); !errors.Is(err, errUnavailable) || len(files(t, b.opt.Dir+"/clips")) != 4 {
		t.Errorf("deletion although the row remains: %v", err)
	}
	var dropped []string
	err := b.o.Trim(t.Context(), func(_ context.Context, id string) error { dropped = append(dropped, id); return nil })
	if err != nil || fmt.Sprint(dropped) != fmt.Sprint([]string{clipID(0), clipID(1)}) || len(files(t, b.opt.Dir+"/clips")) != 2 {
		t.Errorf("%v %v", dropped, err)
	}
	b.want(b.do("GET", "/clips/"+clipID(0)+"/index.m3u8", nil), 404, "not_found")
	b.want(b.do("GET", "/clips/"+clipID(3)+"/index.m3u8", nil), 200, "")
}

// TestStill checks that the thumbnail of a clip is its first key frame, for both formats of segments. A clip of unreadable video
// must only lack the thumbnail.
func TestStill(t *testing.T) {
	t.Parallel()
	for kind, flags := range map[string][]string{"ts": nil, "m4s": {"-hls_segment_type", "fmp4"}} {
		b := setup(t)
		dir := t.TempDir()
		args := append([]string{
			"-v", "error", "-f", "lavfi", "-i", "color=red:size=320x180:rate=10:duration=4", "-c:v", "libx264", "-preset", "ultrafast", "-g", "20", "-pix_fmt", "yuv420p",
			"-f", "hls", "-hls_time", "2", "-hls_list_size", "0",
		}, append(flags, "-hls_segment_filename", filepath.Join(dir, "seg%d."+kind), filepath.Join(dir, "index.m3u8"))...)
		b.film(dir, args)
		film, err := b.o.Cut(t.Context(), clipID(1), "mara_k", b.clock.Now(), clip.Length)
		if err != nil || film.Thumbnail != "https://video.example/clips/"+clipID(1)+"/t.jpg" || film.Length < 3900*time.Millisecond || film.Length > 4100*time.Millisecond {
			t.Fatalf("%s: %+v %v\n%s", kind, film, err, b.log)
		}
		w := b.do("GET", "/clips/"+clipID(1)+"/t.jpg", nil)
		img, err := jpeg.Decode(bytes.NewReader(w.Body.Bytes()))
		if err != nil || w.Header().Get("Content-Type") != "image/jpeg" || img.Bounds().Dx() != 320 {
			t.Fatalf("%s: %v %v", kind, err, w.Header())
		}
		if r, g, _, _ := img.At(160, 90).RGBA(); r < 0xc000 || g > 0x4000 {
			t.Errorf("%s: the picture is not red: %v", kind, img.At(160, 90))
		}
	}
	b := setup(t)
	b.run("seg", 1, 1)
	if film, err := b.o.Cut(t.Context(), clipID(1), "mara_k", b.clock.Now(), clip.Length); err != nil || film.Thumbnail != "" {
		t.Errorf("%+v %v", film, err)
	}
}
