package rows

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// spoil is a way in which a venue's answer can be bad.
type spoil string

// The bad answers. Ways of failing without one are those of stack.Fault.
const (
	whole     spoil = ""
	truncated spoil = "half of the JSON"
	endless   spoil = "a body of 100 MB"
	html      spoil = "HTML"
	types     spoil = "wrong types"
	notNumber spoil = "NaN in texts"
	bareNaN   spoil = "NaN for numbers"
	redirect  spoil = "redirects"
	negative  spoil = "negative prices"
	huge      spoil = "prices above one"
)

const endlessBody = 100 << 20

// longBody is the length of a body that nobody should take much more of.
const longBody = 15 << 20

// front stands before the simulated venues, counts what they are asked, and
// spoils what they answer.
type front struct {
	addr   string
	canary string // where redirects lead

	server *http.Server
	listen net.Listener
	mode   atomic.Value // spoil
	moved  atomic.Int64 // redirects that were sent
	taken  atomic.Int64 // most bytes of one endless body
	mu     sync.Mutex
	asked  map[string]int // by path
}

// newFront starts one before the venues' address.
func newFront(venues, canary string) (*front, error) {
	to, err := url.Parse(venues)
	if err != nil {
		return nil, err
	}
	f := &front{canary: canary, asked: map[string]int{}}
	f.mode.Store(whole)
	if f.listen, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return nil, err
	}
	f.addr = f.listen.Addr().String()
	through := &httputil.ReverseProxy{
		Rewrite:        func(r *httputil.ProxyRequest) { r.SetURL(to) },
		ModifyResponse: f.change,
	}
	f.server = &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { f.serve(w, r, through) })}
	go func() { _ = f.server.Serve(f.listen) }()
	return f, nil
}

func (f *front) close() { _ = f.server.Close() }

func (f *front) set(m spoil) { f.mode.Store(m) }

// count is how often paths with this in them were asked for.
func (f *front) count(part string) (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for path, times := range f.asked {
		if strings.Contains(path, part) {
			n += times
		}
	}
	return n
}

func (f *front) serve(w http.ResponseWriter, r *http.Request, through http.Handler) {
	f.mu.Lock()
	f.asked[r.URL.Path]++
	f.mu.Unlock()
	switch f.mode.Load() {
	case redirect:
		f.moved.Add(1)
		http.Redirect(w, r, f.canary+r.URL.Path, http.StatusFound)
	case endless:
		f.flood(r.Context(), w)
	case html:
		w.Header().Set("Content-Type", "text/html; charset=UTF-8")
		_, _ = io.WriteString(w, "<!DOCTYPE html><html><body><h1>502 Bad Gateway</h1></body></html>")
	default:
		r.Header.Del("Accept-Encoding") // what is spoilt must be readable
		through.ServeHTTP(w, r)
	}
}

// flood sends one JSON text that does not end, until nobody takes more of it.
func (f *front) flood(ctx context.Context, w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	sent, _ := io.WriteString(w, `{"id":"`)
	chunk := bytes.Repeat([]byte("x"), 128<<10)
	for sent < endlessBody {
		n, err := w.Write(chunk)
		sent += n
		// Unhurried where it counts, so that what counts as taken does not lie about
		// in the buffers of the machine.
		pause := time.Millisecond
		if sent > longBody {
			pause = 10 * time.Millisecond
		}
		if err != nil || wait(ctx, time.Now().Add(pause)) != nil {
			break
		}
	}
	for old := f.taken.Load(); int64(sent) > old && !f.taken.CompareAndSwap(old, int64(sent)); old = f.taken.Load() {
	}
}

var (
	// decimals are prices and amounts; the seconds of a time end with a letter.
	decimals = regexp.MustCompile(`([\[",:\s])(\d+\.\d+)([\]"\\,}])`)
	inTexts  = regexp.MustCompile(`(")(\d+\.\d+)(\\?")`)
	numbers  = regexp.MustCompile(`([\[,:])(-?\d+(?:\.\d+)?)([\],}])`)
	truths   = regexp.MustCompile(`([\[,:])(true|false)([\],}])`)
)

// change spoils a good answer.
func (f *front) change(r *http.Response) error {
	m := f.mode.Load().(spoil)
	if m == whole {
		return nil
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	_ = r.Body.Close()
	switch m {
	case truncated:
		body = body[:(len(body)+1)/2]
	case types:
		body = numbers.ReplaceAll(body, []byte(`$1{"n":[$2]}$3`))
		body = truths.ReplaceAll(body, []byte(`$1["$2"]$3`))
	case notNumber:
		body = inTexts.ReplaceAll(body, []byte("${1}NaN$3"))
	case bareNaN:
		body = decimals.ReplaceAll(body, []byte("${1}NaN$3"))
	case negative:
		body = decimals.ReplaceAll(body, []byte("$1-$2$3"))
	case huge:
		body = decimals.ReplaceAll(body, []byte("${1}1750.5$3"))
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.ContentLength = int64(len(body))
	r.Header.Set("Content-Length", strconv.Itoa(len(body)))
	return nil
}
