package hls

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/signalcast/signalcast/services/hub/internal/clip"
)

// Parts of a clip.
const (
	clipPlaylist = "index.m3u8"
	clipStill    = "t.jpg"
)

const (
	// lateBy is how long before the moment of a clip its last segment may have come.
	lateBy    = 20 * time.Second
	stillTime = 10 * time.Second
	stillMost = 2 << 20
)

// Cut implements clip.Maker: the segments that had come until then, from the newest
// back until they are long enough, under names of their own. A clip that another
// attempt has finished is found again.
func (o *Origin) Cut(ctx context.Context, id, handle string, end time.Time, length time.Duration) (clip.Film, error) {
	if !clipID.MatchString(id) {
		return clip.Film{}, clip.ErrNoFilm
	}
	if film, err := o.film(id); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return film, err
	}
	tmp := tmpDir + "/" + uuid.NewString()
	if err := o.root.Mkdir(tmp, 0o700); err != nil {
		return clip.Film{}, err
	}
	defer func() { _ = o.root.RemoveAll(tmp) }() // emptied at the next start at the latest
	list, err := o.gather(handle, tmp, end, length)
	if err != nil {
		return clip.Film{}, err
	}
	if err := o.root.WriteFile(tmp+"/"+clipPlaylist, writePlaylist(head{vod: true}, list), 0o600); err != nil {
		return clip.Film{}, err
	}
	if err := o.still(ctx, tmp, list[0]); err != nil && ctx.Err() == nil {
		o.o.Log.Info("a clip has no still picture", "clip", id, "error", err)
	}
	if err := o.root.Rename(tmp, clipDir+"/"+id); err != nil && !errors.Is(err, fs.ErrExist) {
		return clip.Film{}, err
	}
	return o.film(id)
}

// gather links the segments of a clip into a folder, while the window keeps still.
func (o *Origin) gather(handle, into string, end time.Time, length time.Duration) ([]segment, error) {
	s, free := o.hold(handle, false)
	defer free()
	if s == nil {
		return nil, clip.ErrNoFilm
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.last(end, length)
	if len(list) == 0 {
		return nil, clip.ErrNoFilm
	}
	inits := map[string]string{"": ""}
	for i := range list {
		g := &list[i]
		if _, there := inits[g.Init]; !there {
			name := "i" + strconv.Itoa(len(inits)) + path.Ext(g.Init)
			if err := o.link(s.dir+"/"+g.Init, into+"/"+name); err != nil {
				return nil, err
			}
			inits[g.Init] = name
		}
		name := fmt.Sprintf("%03d%s", i, path.Ext(g.File))
		if err := o.link(s.dir+"/"+g.File, into+"/"+name); err != nil {
			return nil, err
		}
		g.File, g.Init, g.Cut = name, inits[g.Init], g.Cut && i > 0
	}
	return list, nil
}

// last gives the segments that end a stream at a time, the oldest first.
func (s *stream) last(end time.Time, length time.Duration) []segment {
	name := clipPlaylist
	if l := s.k.Lists[name]; l != nil && l.First != "" {
		name = l.First
	}
	var list []segment
	for _, g := range s.k.Segments {
		if g.Playlist == name && g.Order > 0 && !g.At.After(end) {
			list = append(list, g)
		}
	}
	slices.SortFunc(list, func(a, b segment) int { return int(a.Order - b.Order) })
	if len(list) == 0 || end.Sub(list[len(list)-1].At) > lateBy {
		return nil
	}
	have, from := 0.0, len(list)
	for from > 0 && have < length.Seconds()-0.05 {
		if from < len(list) && list[from].Order != list[from-1].Order+1 {
			break // a part of it is gone already
		}
		from--
		have += list[from].Seconds
	}
	return slices.Clone(list[from:])
}

// link gives a file a second name, or copies it where the disk cannot do that.
func (o *Origin) link(from, to string) error {
	if o.root.Link(from, to) == nil {
		return nil
	}
	in, err := o.root.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // it was only read
	out, err := o.root.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// film is a clip that is whole. Error: fs.ErrNotExist.
func (o *Origin) film(id string) (clip.Film, error) {
	raw, err := o.root.ReadFile(clipDir + "/" + id + "/" + clipPlaylist)
	if err != nil {
		return clip.Film{}, err
	}
	p, err := parsePlaylist(raw)
	if err != nil {
		return clip.Film{}, err
	}
	base := o.o.Base() + "/clips/" + id + "/"
	film := clip.Film{URL: base + clipPlaylist}
	for _, e := range p.entries {
		film.Length += time.Duration(e.seconds * float64(time.Second))
	}
	if _, err := o.root.Stat(clipDir + "/" + id + "/" + clipStill); err == nil {
		film.Thumbnail = base + clipStill
	}
	return film, nil
}

// still makes a picture of the first key frame. ffmpeg is given the video on its input
// and told its format, so nothing in it can make ffmpeg open anything.
func (o *Origin) still(ctx context.Context, dir string, first segment) error {
	if o.ffmpeg == "" {
		return nil
	}
	format, names := "mpegts", []string{first.File}
	if path.Ext(first.File) != ".ts" {
		format, names = "mp4", []string{first.Init, first.File}
	}
	var in []io.Reader
	for _, n := range names {
		f, err := o.root.Open(dir + "/" + n)
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }() // it was only read
		in = append(in, f)
	}
	ctx, cancel := context.WithTimeout(ctx, stillTime)
	defer cancel()
	var picture, said bytes.Buffer
	cmd := exec.CommandContext(ctx, o.ffmpeg, "-nostdin", "-hide_banner", "-v", "error", "-threads", "1", "-protocol_whitelist", "pipe",
		"-f", format, "-skip_frame", "nokey", "-i", "pipe:0", "-an", "-frames:v", "1", "-vf", "scale='min(640,iw)':-2",
		"-c:v", "mjpeg", "-q:v", "5", "-f", "image2pipe", "pipe:1")
	cmd.Env = []string{} // it needs to know nothing
	cmd.Stdin, cmd.Stdout, cmd.Stderr = io.MultiReader(in...), &picture, &said
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("ffmpeg: %w: %.200s", err, strings.TrimSpace(said.String()))
	}
	if picture.Len() == 0 || picture.Len() > stillMost {
		return fmt.Errorf("ffmpeg: a picture of %d bytes", picture.Len())
	}
	return o.root.WriteFile(dir+"/"+clipStill, picture.Bytes(), 0o600)
}

// Trim implements clip.Maker.
func (o *Origin) Trim(ctx context.Context, drop func(ctx context.Context, id string) error) error {
	dirs, err := readDir(o.root, clipDir)
	if err != nil {
		return err
	}
	sizes := make([]int64, len(dirs))
	// Ids begin with their time.
	slices.SortFunc(dirs, func(a, b os.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	var total int64
	for i, d := range dirs {
		if sizes[i], err = o.size(clipDir + "/" + d.Name()); err != nil {
			return err
		}
		total += sizes[i]
	}
	for i, d := range dirs {
		if total <= o.o.ClipBytes {
			return nil
		}
		if clipID.MatchString(d.Name()) {
			if err := drop(ctx, d.Name()); err != nil {
				return err
			}
		}
		if err := o.root.RemoveAll(clipDir + "/" + d.Name()); err != nil {
			return err
		}
		total -= sizes[i]
	}
	return nil
}

func (o *Origin) size(dir string) (int64, error) {
	files, err := readDir(o.root, dir)
	if err != nil {
		return 0, err
	}
	var n int64
	for _, f := range files {
		info, err := f.Info()
		if err != nil {
			return 0, err
		}
		n += info.Size()
	}
	return n, nil
}
