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

// Size and time limits of a push of an encoder.
const (
	maxSegment  = 32 << 20
	maxHook     = 4 << 10
	pushTimeout = 2 * time.Minute // longer than an encoder records a segment
	maxAwait    = 2 * time.Second
	beatTimeout = 2 * time.Second
)

var (
	errKey  = apperr.New(apperr.Unauthenticated, "unauthenticated", "no stream has this key")
	errName = apperr.New(apperr.Invalid, "invalid_name",
		"the file name must consist of letters, digits, - and _ and end in .m3u8, .ts, .m4s or .mp4")
	errVideo = apperr.New(apperr.Unsupported, "unsupported_media_type", "a segment must be MPEG-TS or fragmented MP4")
	errLarge = apperr.New(apperr.TooLarge, "payload_too_large", "a segment must have at most 32 MiB and a playlist at most 256 KiB")
	errBroke = apperr.New(apperr.Invalid, "invalid_body", "the body is incomplete")
)

// push stores an upload of an encoder. The key is checked before the body is read, and again before the upload is
// stored, because an encoder sends a segment as slowly as it records it.
func (o *Origin) push(r *http.Request, handle, name, key string) error {
	key = strings.TrimPrefix(key, "key=") // RTMP servers pass on the query of the stream name
	h, err := protocol.ParseHandle(handle)
	if err != nil || h.String() != handle {
		return errKey
	}
	// Many encoders close the connection after the last byte without waiting for the answer. Their upload must be
	// stored nevertheless.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), pushTimeout)
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
		return nil // stored segments expire by age, and clips need segments that an encoder deletes earlier
	case segmental && r.ContentLength > maxSegment, listed && r.ContentLength > maxPlaylist:
		return errLarge
	}
	s, free := o.acquire(handle, true)
	defer free()
	done, err := s.beginPush()
	if err != nil {
		return err
	}
	if segmental {
		defer done()
		return o.pushSegment(ctx, r.Body, s, h, name, key)
	}
	raw, err := io.ReadAll(io.LimitReader(r.Body, maxPlaylist+1))
	done() // a playlist that waits for its segments must not count against them
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
	s.await(name, p, maxAwait)
	if err := s.apply(name, p, o.o.Now(), o.o.Keep); err != nil {
		return err
	}
	if s.beatDue(o.o.Now()) {
		o.beat(ctx, handle)
	}
	return nil
}

func (o *Origin) pushSegment(ctx context.Context, body io.Reader, s *stream, h protocol.Handle, name, key string) error {
	defer s.expect(name)()
	tmp := tmpDir + "/" + uuid.NewString()
	g, err := o.receive(body, tmp, path.Ext(name))
	if err == nil {
		err = o.authorize(ctx, h, key)
	}
	if err != nil {
		_ = o.root.Remove(tmp) // tmpDir is emptied at the next start at the latest
		return err
	}
	g.Name, g.At = name, o.o.Now()
	return s.add(g, tmp, o.o.Keep, o.o.StreamBytes)
}

// receive writes a body to a file and checks its first bytes.
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
	_, _ = seen.Write(first[:n]) // neither writer fails
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

// isVideo reports whether the first bytes of a segment have the format of its extension, so that no other content is
// served.
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

// Time limit and interval of repeated checks of a key while the database is unavailable. Encoders do not repeat a
// refused upload, so a short outage must not lose a segment.
const (
	authorizeWithin = 8 * time.Second
	authorizeRetry  = 200 * time.Millisecond
)

// authorize checks a key and retries while the check is unavailable.
func (o *Origin) authorize(ctx context.Context, h protocol.Handle, key string) error {
	ctx, cancel := context.WithTimeout(ctx, authorizeWithin)
	defer cancel()
	for {
		err := o.o.Admit(ctx, h, key)
		if err == nil || apperr.Of(err).Kind != apperr.Unavailable {
			return err
		}
		if dbtime.Sleep(ctx, authorizeRetry) != nil {
			return err
		}
	}
}

// admit checks a key and limits the number of wrong keys per IP address.
func (o *Origin) admit(ctx context.Context, r *http.Request, h protocol.Handle, key string) error {
	err := o.authorize(ctx, h, key)
	if err != nil && apperr.Of(err).Kind == apperr.Unauthenticated {
		host, _, _ := net.SplitHostPort(r.RemoteAddr)
		if d := o.wrong.Allow(host); !d.Allowed {
			return d.Fault()
		}
	}
	return err
}

// beatEvery is the interval at which pushes are recorded as heartbeats.
const beatEvery = 5 * time.Second

// beatDue reports whether a heartbeat must be recorded now, and notes the time if so.
func (s *stream) beatDue(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now.Sub(s.beaten) < beatEvery {
		return false
	}
	s.beaten = now
	return true
}

// beat records a heartbeat of the operator. The upload remains stored if this fails.
func (o *Origin) beat(ctx context.Context, handle string) {
	if o.o.Beat == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, beatTimeout)
	defer cancel()
	if err := o.o.Beat(ctx, protocol.Handle(handle)); err != nil && ctx.Err() == nil {
		o.o.Log.Warn("heartbeat of push not recorded", "handle", handle, "error", err)
	}
}

// keyOf returns the key of a request header: a bearer token, or the password of basic authentication with any user.
func keyOf(r *http.Request) string {
	if _, password, ok := r.BasicAuth(); ok {
		return password
	}
	key, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return key
}

// publish handles the hook of an RTMP server that checks whether a client may publish. nginx sends a form with the name
// of the stream and its parameters, MediaMTX a JSON object with path and query.
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

// reading is the result for a hook that asks whether a program on the same machine may read.
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
		return "", reading, nil // the program on this machine that pushes the stream to the origin
	}
	if ask.Action != "publish" {
		return "", "", errKey
	}
	// The query is passed on to the program that pushes, so it must contain only the key.
	key, ok := strings.CutPrefix(ask.Query, "key=")
	name, under := strings.CutPrefix(ask.Path, "live/")
	if !ok || !under {
		return "", "", errKey
	}
	return name, key, nil
}
