package hls

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/dbtime"
	"github.com/signalcast/signalcast/pkg/protocol"
)

// Bounds of a push.
const (
	maxSegment = 32 << 20
	maxHook    = 4 << 10
	pushTime   = 2 * time.Minute // longer than a segment takes to film
	awaitMost  = 2 * time.Second
	beatTime   = 2 * time.Second
)

var (
	errKey   = apperr.New(apperr.Unauthenticated, "unauthenticated", "no stream has this key")
	errName  = apperr.New(apperr.Invalid, "invalid_name", "a plain name of letters, digits, - and _ that ends in .m3u8, .ts, .m4s or .mp4")
	errVideo = apperr.New(apperr.Unsupported, "unsupported_media_type", "a segment is MPEG-TS or fragmented MP4")
	errLarge = apperr.New(apperr.TooLarge, "payload_too_large", "a segment is at most 32 MiB, a playlist 256 KiB")
	errBroke = apperr.New(apperr.Invalid, "invalid_body", "the body ended early")
)

// push takes what an encoder sends. The key is judged before anything is read, and again
// before what came is kept: segments come as slowly as they are filmed.
func (o *Origin) push(r *http.Request, handle, name, key string) error {
	key = strings.TrimPrefix(key, "key=") // as RTMP servers hand on what stood behind a stream's name
	h, err := protocol.ParseHandle(handle)
	if err != nil || h.String() != handle {
		return errKey
	}
	// Encoders hang up when they have sent all, and wait for no answer: what they sent
	// is kept all the same.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), pushTime)
	defer cancel()
	if err := o.admit(ctx, r, h, key); err != nil {
		return err
	}
	if d := o.pushes.Allow(handle); !d.Allowed {
		return d.Fault()
	}
	segmental, listed := segmentName.MatchString(name), playlistName.MatchString(name)
	switch {
	case !segmental && !listed:
		return errName
	case r.Method == http.MethodDelete:
		return nil // the window decides what goes, and clips need more than an encoder keeps
	case segmental && r.ContentLength > maxSegment, listed && r.ContentLength > maxPlaylist:
		return errLarge
	}
	s, free := o.hold(handle, true)
	defer free()
	left, err := s.enter()
	if err != nil {
		return err
	}
	if segmental {
		defer left()
		return o.pushSegment(ctx, r.Body, s, h, name, key)
	}
	raw, err := io.ReadAll(io.LimitReader(r.Body, maxPlaylist+1))
	left() // a playlist that waits for its segments takes no place of theirs
	switch {
	case err != nil:
		return errBroke.Wrap(err)
	case len(raw) > maxPlaylist:
		return errLarge
	}
	p, err := parsePlaylist(raw)
	if err != nil {
		return err
	}
	s.await(name, p, awaitMost)
	if err := s.apply(name, p, o.o.Now(), o.o.Keep); err != nil {
		return err
	}
	if s.due(o.o.Now()) {
		o.beat(ctx, handle)
	}
	return nil
}

func (o *Origin) pushSegment(ctx context.Context, body io.Reader, s *stream, h protocol.Handle, name, key string) error {
	defer s.expect(name)()
	tmp := tmpDir + "/" + uuid.NewString()
	g, err := o.receive(body, tmp, path.Ext(name))
	if err == nil {
		err = o.judge(ctx, h, key)
	}
	if err != nil {
		_ = o.root.Remove(tmp) // emptied at the next start at the latest
		return err
	}
	g.Name, g.At = name, o.o.Now()
	return s.add(g, tmp, o.o.Keep, o.o.StreamBytes)
}

// receive writes a body to a file and looks at its beginning.
func (o *Origin) receive(body io.Reader, name, ext string) (g segment, err error) {
	f, err := o.root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return g, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	first := make([]byte, 12)
	n, err := io.ReadFull(body, first)
	if err != nil || !isVideo(first, ext) {
		return g, errors.Join(errVideo, noEnd(err))
	}
	sum, times := sha256.New(), &meter{}
	seen := io.MultiWriter(sum, times)
	_, _ = seen.Write(first[:n]) // neither ever fails
	if _, err := f.Write(first[:n]); err != nil {
		return g, err
	}
	more, err := io.Copy(io.MultiWriter(f, seen), io.LimitReader(body, maxSegment-int64(n)+1))
	g.Bytes, g.Sum = int64(n)+more, sum.Sum(nil)
	var write *os.PathError
	switch {
	case errors.As(err, &write):
		return g, err
	case err != nil:
		return g, errBroke.Wrap(err)
	case g.Bytes > maxSegment:
		return g, errLarge
	case ext == ".ts":
		g.Measured = true
		g.Span, g.Frame, err = times.end()
		return g, err
	}
	return g, nil
}

func noEnd(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}

// isVideo looks at the first bytes of a segment, so that nothing else is ever served
// under its name.
func isVideo(first []byte, ext string) bool {
	if ext == ".ts" {
		return first[0] == 0x47
	}
	switch string(first[4:8]) {
	case "ftyp", "styp", "moof", "moov", "sidx", "emsg", "prft":
		return true
	}
	return false
}

// Times of asking again while nobody can judge a key. Encoders do not send again what
// was refused, so a database that is slow for a moment must not cost a segment.
const (
	judgeWithin = 8 * time.Second
	judgeAgain  = 200 * time.Millisecond
)

// judge asks the gate until it knows.
func (o *Origin) judge(ctx context.Context, h protocol.Handle, key string) error {
	ctx, cancel := context.WithTimeout(ctx, judgeWithin)
	defer cancel()
	for {
		err := o.o.Admit(ctx, h, key)
		if err == nil || apperr.Of(err).Kind != apperr.Unavailable {
			return err
		}
		if dbtime.Sleep(ctx, judgeAgain) != nil {
			return err
		}
	}
}

// admit judges a key. Who comes with wrong ones again and again is told to wait.
func (o *Origin) admit(ctx context.Context, r *http.Request, h protocol.Handle, key string) error {
	err := o.judge(ctx, h, key)
	if err != nil && apperr.Of(err).Kind == apperr.Unauthenticated {
		host, _, _ := net.SplitHostPort(r.RemoteAddr)
		if d := o.wrong.Allow(host); !d.Allowed {
			return d.Fault()
		}
	}
	return err
}

// beatEvery is how often a push is told as a heartbeat.
const beatEvery = 5 * time.Second

// due tells whether the next heartbeat is.
func (s *stream) due(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now.Sub(s.beaten) < beatEvery {
		return false
	}
	s.beaten = now
	return true
}

// beat says that the operator is there. A push that was kept stays kept without it.
func (o *Origin) beat(ctx context.Context, handle string) {
	if o.o.Beat == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, beatTime)
	defer cancel()
	if err := o.o.Beat(ctx, protocol.Handle(handle)); err != nil && ctx.Err() == nil {
		o.o.Log.Warn("a push was not heard as a heartbeat", "handle", handle, "error", err)
	}
}

// keyOf reads the key in a header: as a bearer, or as the password of any user.
func keyOf(r *http.Request) string {
	if _, password, ok := r.BasicAuth(); ok {
		return password
	}
	key, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return key
}

// publish answers an RTMP server that asks whether somebody may publish. nginx sends a
// form with the stream's name and what stood behind it, MediaMTX an object with path
// and query.
func (o *Origin) publish(r *http.Request) error {
	raw, err := io.ReadAll(io.LimitReader(r.Body, maxHook+1))
	if err != nil || len(raw) > maxHook {
		return errBroke
	}
	name, key, err := readHook(r.Header.Get("Content-Type"), raw)
	if err != nil || key == reading {
		return err
	}
	h, err := protocol.ParseHandle(name)
	if err != nil || h.String() != name {
		return errKey
	}
	return o.admit(r.Context(), r, h, key)
}

// reading stands for a key where a server asks whether its own machine may read.
const reading = "-"

func readHook(contentType string, raw []byte) (name, key string, err error) {
	if kind, _, _ := mime.ParseMediaType(contentType); kind != "application/json" {
		form, err := url.ParseQuery(string(raw))
		if err != nil || form.Get("call") != "publish" {
			return "", "", errKey
		}
		return form.Get("name"), form.Get("key"), nil
	}
	var ask struct{ Action, Path, Query, IP string }
	if err := json.Unmarshal(raw, &ask); err != nil {
		return "", "", errKey
	}
	if ip, err := netip.ParseAddr(ask.IP); ask.Action == "read" && err == nil && ip.IsLoopback() {
		return "", reading, nil // the program beside the server that pushes on to here
	}
	if ask.Action != "publish" {
		return "", "", errKey
	}
	// What stands in the query travels to the program that pushes: nothing else may.
	key, ok := strings.CutPrefix(ask.Query, "key=")
	name, under := strings.CutPrefix(ask.Path, "live/")
	if !ok || !under {
		return "", "", errKey
	}
	return name, key, nil
}
