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

// File names in the directory of a clip.
const (
	clipPlaylist = "index.m3u8"
	clipStill    = "t.jpg"
)

const (
	// maxClipDelay is the maximum time between the last segment of a clip and the end of the clip that was requested.
	maxClipDelay  = 20 * time.Second
	stillTimeout  = 10 * time.Second
	maxStillBytes = 2 << 20
)

// Cut implements clip.Maker. It creates the clip from the newest consecutive segments that were received until end. Their
// total length is about the parameter length. If an earlier attempt has finished the clip, Cut returns that clip. Error:
// clip.ErrNoVideo if id is invalid or there are no such segments.
func (o *Origin) Cut(ctx context.Context, id, handle string, end time.Time, length time.Duration) (clip.Video, error) {
	return o.create(ctx, id, func(tmp string) ([]segment, error) { return o.gather(handle, tmp, end, length) })
}

// create creates a clip from the segments that gather stores in a directory, unless an earlier attempt has finished the clip.
func (o *Origin) create(ctx context.Context, id string, gather func(tmp string) ([]segment, error)) (clip.Video, error) {
	if !clipID.MatchString(id) {
		return clip.Video{}, clip.ErrNoVideo
	}
	if film, err := o.readClip(id); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return film, err
	}
	tmp := tmpDir + "/" + uuid.NewString()
	if err := o.root.Mkdir(tmp, 0o700); err != nil {
		return clip.Video{}, err
	}
	defer func() { _ = o.root.RemoveAll(tmp) }() // if this fails, the next start empties tmpDir
	list, err := gather(tmp)
	if err != nil {
		return clip.Video{}, err
	}
	if err := o.root.WriteFile(tmp+"/"+clipPlaylist, writePlaylist(head{vod: true}, list), 0o600); err != nil {
		return clip.Video{}, err
	}
	if err := o.still(ctx, tmp, list[0]); err != nil && ctx.Err() == nil {
		o.o.Log.Info("clip thumbnail failed", "clip", id, "error", err)
	}
	if err := o.root.Rename(tmp, clipDir+"/"+id); err != nil && !errors.Is(err, fs.ErrExist) {
		return clip.Video{}, err
	}
	return o.readClip(id)
}

// gather links the segments of a clip into a directory, the parameter into. It gives them new names and returns the segments
// with these names. The stream is locked during the call. Error: clip.ErrNoVideo if there are no segments for the clip.
func (o *Origin) gather(handle, into string, end time.Time, length time.Duration) ([]segment, error) {
	s, free := o.acquire(handle, false)
	defer free()
	if s == nil {
		return nil, clip.ErrNoVideo
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.last(end, length)
	if len(list) == 0 {
		return nil, clip.ErrNoVideo
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

// last returns the newest consecutive segments that were received until end, oldest first. Their total length is about the
// parameter length, or shorter if there are too few. It returns nil if there are none, or if the newest one was received more
// than maxClipDelay before end.
func (s *stream) last(end time.Time, length time.Duration) []segment {
	name := clipPlaylist
	if l := s.state.Lists[name]; l != nil && l.First != "" {
		name = l.First
	}
	var list []segment
	for _, g := range s.state.Segments {
		if g.Playlist == name && g.Order > 0 && !g.At.After(end) {
			list = append(list, g)
		}
	}
	slices.SortFunc(list, func(a, b segment) int { return int(a.Order - b.Order) })
	if len(list) == 0 || end.Sub(list[len(list)-1].At) > maxClipDelay {
		return nil
	}
	have, from := 0.0, len(list)
	for from > 0 && have < length.Seconds()-0.05 {
		if from < len(list) && list[from].Order != list[from-1].Order+1 {
			break // a segment between them was deleted
		}
		from--
		have += list[from].Seconds
	}
	return slices.Clone(list[from:])
}

// link creates a hard link to a file, or copies it if the file system has no hard links.
func (o *Origin) link(from, to string) error {
	if o.root.Link(from, to) == nil {
		return nil
	}
	in, err := o.root.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // opened for reading only
	out, err := o.root.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// readClip returns a finished clip. Error: fs.ErrNotExist if the clip is not finished or does not exist.
func (o *Origin) readClip(id string) (clip.Video, error) {
	raw, err := o.root.ReadFile(clipDir + "/" + id + "/" + clipPlaylist)
	if err != nil {
		return clip.Video{}, err
	}
	p, err := parsePlaylist(raw)
	if err != nil {
		return clip.Video{}, err
	}
	base := o.o.Base() + "/clips/" + id + "/"
	film := clip.Video{URL: base + clipPlaylist}
	for _, e := range p.entries {
		film.Length += time.Duration(e.seconds * float64(time.Second))
	}
	if _, err := o.root.Stat(clipDir + "/" + id + "/" + clipStill); err == nil {
		film.Thumbnail = base + clipStill
	}
	return film, nil
}

// still creates the thumbnail of a clip from its first key frame. ffmpeg gets the video as standard input and the format as a
// parameter, so the video cannot make ffmpeg open other files or URLs. It does nothing without ffmpeg.
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
		defer func() { _ = f.Close() }() // opened for reading only
		in = append(in, f)
	}
	ctx, cancel := context.WithTimeout(ctx, stillTimeout)
	defer cancel()
	var picture, messages bytes.Buffer
	cmd := exec.CommandContext(ctx, o.ffmpeg, "-nostdin", "-hide_banner", "-v", "error", "-threads", "1", "-protocol_whitelist", "pipe",
		"-f", format, "-skip_frame", "nokey", "-i", "pipe:0", "-an", "-frames:v", "1", "-vf", "scale='min(640,iw)':-2",
		"-c:v", "mjpeg", "-q:v", "5", "-f", "image2pipe", "pipe:1")
	cmd.Env = []string{} // no environment variables
	cmd.Stdin, cmd.Stdout, cmd.Stderr = io.MultiReader(in...), &picture, &messages
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("ffmpeg: %w: %.200s", err, strings.TrimSpace(messages.String()))
	}
	if picture.Len() == 0 || picture.Len() > maxStillBytes {
		return fmt.Errorf("ffmpeg: the picture has %d bytes; it must have 1 to %d", picture.Len(), maxStillBytes)
	}
	return o.root.WriteFile(dir+"/"+clipStill, picture.Bytes(), 0o600)
}

// Trim implements clip.Maker. It deletes the oldest clips until the size of all clips is at most Options.ClipBytes. It calls
// the function drop before it deletes the files of a clip.
func (o *Origin) Trim(ctx context.Context, drop func(ctx context.Context, id string) error) error {
	dirs, err := readDir(o.root, clipDir)
	if err != nil {
		return err
	}
	sizes := make([]int64, len(dirs))
	// Clip ids are UUIDv7, so their alphabetical order is the order of creation.
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
