package hls

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/protocol"
)

// Values of the header Cache-Control, by kind of content.
const (
	cacheLive    = "public, max-age=1"
	cacheSegment = "public, max-age=86400, immutable" // the content under a name never changes
	cacheClip    = "public, max-age=10"               // short, because a clip can become hidden
	cacheNever   = "no-store"
)

var errNotFound = apperr.New(apperr.NotFound, "not_found", "there is no such file, or it has expired")

// kinds maps the file extensions of served files to media types.
var kinds = map[string]string{
	".m3u8": "application/vnd.apple.mpegurl", ".ts": "video/mp2t", ".m4s": "video/iso.segment", ".mp4": "video/mp4", ".jpg": "image/jpeg",
}

var (
	fileName = regexp.MustCompile(`^[a-z0-9]{1,40}\.(ts|m4s|mp4)$`)
	clipFile = regexp.MustCompile(`^(index\.m3u8|t\.jpg|[a-z0-9]{1,40}\.(ts|m4s|mp4))$`)
	clipID   = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
)

// ServeHTTP implements http.Handler. It never logs a path, because some paths contain keys.
func (o *Origin) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header()["X-Content-Type-Options"] = []string{"nosniff"}
	parts := strings.Split(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if r.URL.RawPath != "" || len(parts) > 4 {
		fail(w, errNotFound)
		return
	}
	switch at := parts[0]; {
	case at == "live" && len(parts) == 3:
		o.live(w, r, parts[1], parts[2])
	case at == "ingest" && len(parts) == 4:
		if r.Method == http.MethodOptions { // the studio of another origin sends a test signal
			preflight(w, "PUT", "Content-Type")
			return
		}
		o.handleWrite(w, r, func() error {
			err := o.push(r, parts[2], parts[3], parts[1])
			if err == nil { // pages of other sites cannot read why a key is refused
				w.Header()["Access-Control-Allow-Origin"] = []string{"*"}
			}
			return err
		}, http.MethodPut, http.MethodPost, http.MethodDelete)
	case at == "clips" && len(parts) == 3:
		o.handleRead(w, r, func() { o.clip(w, r, parts[1], parts[2]) })
	case at == "hooks" && len(parts) == 2 && parts[1] == "publish":
		o.handleWrite(w, r, func() error { return o.publish(r) }, http.MethodPost)
	case at == "healthz" && len(parts) == 1:
		o.handleRead(w, r, func() { w.WriteHeader(http.StatusNoContent) })
	default:
		fail(w, errNotFound)
	}
}

func (o *Origin) live(w http.ResponseWriter, r *http.Request, handle, name string) {
	switch r.Method {
	case http.MethodPut, http.MethodPost, http.MethodDelete:
		o.handleWrite(w, r, func() error { return o.push(r, handle, name, keyOf(r)) }, r.Method)
	default:
		o.handleRead(w, r, func() { o.serveLive(w, r, handle, name) })
	}
}

// handleWrite runs the function do and responds with status 204 or with its error. If the method of the request is not one of
// methods, it responds with httpx.ErrNotAllowed instead.
func (o *Origin) handleWrite(w http.ResponseWriter, r *http.Request, do func() error, methods ...string) {
	for _, m := range methods {
		if m != r.Method {
			continue
		}
		w.Header()["Cache-Control"] = []string{cacheNever}
		o.limitBody(w, r)
		err := do()
		if err != nil {
			o.logRefusal(r, err)
			fail(w, err)
			return
		}
		w.WriteHeader(http.StatusNoContent)
		return
	}
	w.Header()["Allow"] = []string{strings.Join(methods, ", ")}
	fail(w, httpx.ErrNotAllowed)
}

// logRefusal logs a refused or failed upload with the method of the request. It does not log wrong keys and rate limits, so that
// guessing keys does not fill the log.
func (o *Origin) logRefusal(r *http.Request, err error) {
	switch f := apperr.Of(err); {
	case f.Kind == apperr.Unauthenticated, f.Kind == apperr.Limited:
	case f.Kind == apperr.Internal, f.Kind == apperr.Unavailable:
		o.o.Log.Error("push failed", "method", r.Method, "error", err)
	default:
		o.o.Log.Info("push refused", "method", r.Method, "error", err)
	}
}

// handleRead runs the function do for a GET or HEAD request. It also responds to OPTIONS and refuses all other methods. By
// CORS, it permits requests from pages of all sites.
func (o *Origin) handleRead(w http.ResponseWriter, r *http.Request, do func()) {
	h := w.Header()
	h["Access-Control-Allow-Origin"] = []string{"*"}
	h["Access-Control-Expose-Headers"] = []string{"Content-Length, Content-Range, Accept-Ranges"}
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		do()
	case http.MethodOptions:
		preflight(w, "GET, HEAD, OPTIONS", "Range")
	default:
		h["Allow"] = []string{"GET, HEAD, OPTIONS"}
		fail(w, httpx.ErrNotAllowed)
	}
}

// preflight responds to an OPTIONS request of CORS.
func preflight(w http.ResponseWriter, methods, headers string) {
	h := w.Header()
	h["Access-Control-Allow-Origin"] = []string{"*"}
	h["Access-Control-Allow-Methods"], h["Access-Control-Allow-Headers"] = []string{methods}, []string{headers}
	h["Access-Control-Max-Age"] = []string{"86400"}
	w.WriteHeader(http.StatusNoContent)
}

func (o *Origin) serveLive(w http.ResponseWriter, r *http.Request, handle, name string) {
	if h, err := protocol.ParseHandle(handle); err != nil || h.String() != handle || o.hidden(r.Context(), handle) {
		fail(w, errNotFound)
		return
	}
	switch {
	case playlistName.MatchString(name):
		s, free := o.acquire(handle, false)
		defer free()
		if s == nil || !s.shows(name, o.o.Now()) {
			fail(w, errNotFound)
			return
		}
		o.playlist(w, r, s.dir+"/"+name, cacheLive)
	case fileName.MatchString(name):
		o.file(w, r, liveDir+"/"+handle+"/"+name, cacheSegment)
	default:
		fail(w, errNotFound)
	}
}

// shows reports whether a playlist was updated within freshFor. For a master playlist, the first rendition counts.
func (s *stream) shows(name string, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.state.Lists[name]
	if l != nil && l.First != "" {
		l = s.state.Lists[l.First]
	}
	return l != nil && now.Sub(l.At) < freshFor
}

func (o *Origin) clip(w http.ResponseWriter, r *http.Request, id, name string) {
	switch full := clipDir + "/" + id + "/" + name; {
	case !clipID.MatchString(id), !clipFile.MatchString(name), o.hidden(r.Context(), id):
		fail(w, errNotFound)
	case path.Ext(name) == ".m3u8":
		o.playlist(w, r, full, cacheClip)
	default:
		o.file(w, r, full, cacheClip)
	}
}

// playlist serves a playlist file with an ETag that is derived from its content.
func (o *Origin) playlist(w http.ResponseWriter, r *http.Request, name, cache string) {
	raw, err := o.root.ReadFile(name)
	if err != nil {
		fail(w, errNotFound)
		return
	}
	sum := sha256.Sum256(raw)
	h := w.Header()
	h["Etag"] = []string{`"` + hex.EncodeToString(sum[:8]) + `"`}
	h["Content-Type"], h["Cache-Control"] = []string{kinds[".m3u8"]}, []string{cache}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(raw))
}

// file serves a file whose content never changes. It supports range requests.
func (o *Origin) file(w http.ResponseWriter, r *http.Request, name, cache string) {
	f, err := o.root.Open(name)
	if err != nil {
		fail(w, errNotFound)
		return
	}
	defer func() { _ = f.Close() }() // opened for reading only
	var info fs.FileInfo
	if info, err = f.Stat(); err != nil || !info.Mode().IsRegular() {
		fail(w, errNotFound)
		return
	}
	h := w.Header()
	h["Content-Type"], h["Cache-Control"] = []string{kinds[path.Ext(name)]}, []string{cache}
	h["Etag"] = []string{`"` + strconv.FormatInt(info.Size(), 36) + "-" + strings.TrimSuffix(path.Base(name), path.Ext(name)) + `"`}
	http.ServeContent(w, r, "", time.Time{}, f)
}

// fail writes err as a JSON error with its status and headers.
func fail(w http.ResponseWriter, err error) {
	f := apperr.Of(err)
	h := w.Header()
	h["Content-Type"], h["Cache-Control"] = []string{"application/json"}, []string{cacheNever}
	switch f.Kind {
	case apperr.Unauthenticated:
		h["Www-Authenticate"] = []string{`Bearer`, `Basic realm="ingest"`}
	case apperr.Limited, apperr.Unavailable:
		seconds := int64(1)
		if ms, ok := f.Extra["retryAfterMs"].(int64); ok {
			seconds = (ms + 999) / 1000
		}
		h["Retry-After"] = []string{strconv.FormatInt(seconds, 10)}
	}
	w.WriteHeader(httpx.Status(f.Kind))
	_, _ = w.Write(httpx.ErrorBody(f)) // the client may have disconnected
}
