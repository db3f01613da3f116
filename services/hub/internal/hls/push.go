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

// Size and time limits of an upload by an encoder.
const (
	maxSegment  = 32 << 20
	maxHook     = 4 << 10
	pushTimeout = 2 * time.Minute // an encoder can upload a segment while it records it
	maxAwait    = 2 * time.Second
	beatTimeout = 2 * time.Second
)

var (
	errKey = apperr.New(apperr.Unauthenticated, "unauthenticated",
		"the stream key is missing, unknown or replaced; create one in the studio").
		With(apperr.MemberReason, apperr.ReasonMissing)
	errName = apperr.New(apperr.Invalid, "invalid_name",
		"the file name must "+nameForm+".m3u8, .ts, .m4s or .mp4")
	errVideo = apperr.New(apperr.Unsupported, "unsupported_media_type", "a segment must be MPEG-TS or fragmented MP4")
	errLarge = apperr.New(apperr.TooLarge, "payload_too_large", "a segment must have at most 32 MiB and a playlist at most 256 KiB")
	errBroke = apperr.New(apperr.Invalid, "invalid_body", "the body is incomplete; send it again")
	errHook  = apperr.New(apperr.Invalid, "invalid_body", "the body of a publish hook must have at most 4 KiB")
)

// push stores an upload of an encoder. It checks the key before it reads the body, and again before it stores the upload, because
// an encoder sends a segment as slowly as it records it.
func (o *Origin) push(r *http.Request, handle, name, key string) error {
	key = strings.TrimPrefix(key, "key=") // RTMP servers pass on the query of the stream name with the key
	h, err := protocol.ParseHandle(handle)
	if err != nil || h.String() != handle {
		return errKey
	}
	// Many encoders close the connection after the last byte and do not wait for the answer. Their upload must still be stored.
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
		return nil // ignored: segments expire by age, and clips need segments that an encoder deletes
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
	done() // a playlist that waits for segments must not count against the limit of their uploads
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
		_ = o.root.Remove(tmp) // if this fails, the next start empties tmpDir
		return err
	}
	g.Name, g.At = name, o.o.Now()
	return s.add(g, tmp, o.o.Keep, o.o.StreamBytes)
}

// receive writes an uploaded segment to a file and checks its first bytes. g contains its size and hash, and for MPEG-TS also
// its measured times. Errors: errVideo, errBroke, errLarge, those of meter.end, and those of the file system.
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
	_, _ = seen.Write(first[:n]) // both writers never fail
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

// isVideo reports whether the first bytes of a segment have the format of its file extension. The check prevents the origin
// from serving other content.
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

// Time limit and interval of the retries of a key check while the database is unavailable. An encoder does not repeat a refused
// upload, so a short outage would lose a segment.
const (
	authorizeWithin = 8 * time.Second
	authorizeRetry  = 200 * time.Millisecond
)

// authorize checks a stream key. While the database is unavailable, it retries for at most authorizeWithin.
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

// admit checks a stream key. It returns a rate limit error after too many wrong keys from one IP address.
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

// beatEvery is the minimum time between two heartbeats that uploads of a stream record.
const beatEvery = 5 * time.Second

// beatDue reports whether a heartbeat must be recorded now. If so, it stores now as the time of the last heartbeat.
func (s *stream) beatDue(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now.Sub(s.heartbeatAt) < beatEvery {
		return false
	}
	s.heartbeatAt = now
	return true
}

// beat records a heartbeat of the operator. It only logs an error, because the upload is stored already.
func (o *Origin) beat(ctx context.Context, handle string) {
	if o.o.Beat == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, beatTimeout)
	defer cancel()
	if err := o.o.Beat(ctx, protocol.Handle(handle)); err != nil && ctx.Err() == nil {
		o.o.Log.Warn("push heartbeat failed", "handle", handle, "error", err)
	}
}

// keyOf returns the stream key in the Authorization header: a bearer token, or the password of basic authentication with any
// user name. It returns any other header unchanged.
func keyOf(r *http.Request) string {
	if _, password, ok := r.BasicAuth(); ok {
		return password
	}
	key, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return key
}

// publish handles the hook by which an RTMP server asks whether a client may publish a stream. nginx sends a form with the name
// of the stream and its parameters. MediaMTX sends a JSON object with path and query.
func (o *Origin) publish(r *http.Request) error {
	raw, err := io.ReadAll(io.LimitReader(r.Body, maxHook+1))
	switch {
	case err != nil:
		return errBroke
	case len(raw) > maxHook:
		return errHook
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

// reading is the key that readHook returns if a program on the same machine asks to read a stream. Such reads are permitted.
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
		return "", reading, nil // this program pushes the stream to the origin
	}
	if ask.Action != "publish" {
		return "", "", errKey
	}
	// The RTMP server passes the query on to the program that pushes the stream, so it must contain only the key.
	key, ok := strings.CutPrefix(ask.Query, "key=")
	name, under := strings.CutPrefix(ask.Path, "live/")
	if !ok || !under {
		return "", "", errKey
	}
	return name, key, nil
}
