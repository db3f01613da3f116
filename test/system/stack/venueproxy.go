package stack

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// VenueAnswer is the kind of response that a VenueProxy sends: the response of the venue, or a malformed one.
type VenueAnswer string

// Kinds of responses of a VenueProxy. Unchanged forwards the response of the venue.
const (
	Unchanged      VenueAnswer = "unchanged"
	Truncated      VenueAnswer = "half of the JSON"
	Endless        VenueAnswer = "a body of 100 MB"
	HTML           VenueAnswer = "an HTML page"
	WrongTypes     VenueAnswer = "objects for numbers, lists for booleans"
	NaNTexts       VenueAnswer = "NaN in texts"
	NaNNumbers     VenueAnswer = "NaN for numbers"
	Redirects      VenueAnswer = "redirects"
	NegativePrices VenueAnswer = "negative prices"
	HugePrices     VenueAnswer = "prices above one"
)

const (
	endlessBody = 100 << 20
	// The first fastBytes of an endless body are sent fast and the rest slowly, so that few unread bytes collect in
	// socket buffers.
	fastBytes = 15 << 20
)

// VenueProxy forwards requests to the simulated venues and counts them. It can replace the responses with malformed ones.
type VenueProxy struct {
	Addr      string
	Redirects atomic.Int64 // number of redirects sent
	MostRead  atomic.Int64 // largest number of bytes sent of one endless body

	target string // URL to which redirects lead
	mode   atomic.Value
	mu     sync.Mutex
	paths  map[string]int // number of requests by path
}

// NewVenueProxy starts a proxy for the simulated venues. target is the URL to which its redirects lead. The proxy stops when the
// test ends.
func (s *Stack) NewVenueProxy(t testing.TB, target string) *VenueProxy {
	t.Helper()
	to, err := url.Parse(s.Venues)
	if err != nil {
		t.Fatal(err)
	}
	p := &VenueProxy{target: target, paths: map[string]int{}}
	p.mode.Store(Unchanged)
	venues := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }, ModifyResponse: p.change}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { p.serve(w, r, venues) }))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	p.Addr = strings.TrimPrefix(server.URL, "http://")
	return p
}

// Answer selects the kind of response to all later requests.
func (p *VenueProxy) Answer(how VenueAnswer) { p.mode.Store(how) }

// Requests returns the number of requests whose path contains part.
func (p *VenueProxy) Requests(part string) (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for path, requests := range p.paths {
		if strings.Contains(path, part) {
			n += requests
		}
	}
	return n
}

func (p *VenueProxy) serve(w http.ResponseWriter, r *http.Request, venues http.Handler) {
	p.mu.Lock()
	p.paths[r.URL.Path]++
	p.mu.Unlock()
	switch p.mode.Load() {
	case Redirects:
		p.Redirects.Add(1)
		http.Redirect(w, r, p.target+r.URL.Path, http.StatusFound)
	case Endless:
		p.sendEndless(r.Context(), w)
	case HTML:
		w.Header().Set("Content-Type", "text/html; charset=UTF-8")
		_, _ = io.WriteString(w, "<!DOCTYPE html><html><body><h1>502 Bad Gateway</h1></body></html>")
	default:
		r.Header.Del("Accept-Encoding") // the proxy must be able to read the body
		venues.ServeHTTP(w, r)
	}
}

// sendEndless sends a very long JSON text until the client closes the connection, or until it has sent endlessBody bytes. It
// records the number of sent bytes in p.MostRead if it is the largest so far.
func (p *VenueProxy) sendEndless(ctx context.Context, w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	sent, err := io.WriteString(w, `{"id":"`)
	chunk := bytes.Repeat([]byte("x"), 128<<10)
	for err == nil && sent < endlessBody && ctx.Err() == nil {
		var n int
		n, err = w.Write(chunk)
		sent += n
		pause := time.Millisecond
		if sent > fastBytes {
			pause = 10 * time.Millisecond
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
	for most := p.MostRead.Load(); int64(sent) > most && !p.MostRead.CompareAndSwap(most, int64(sent)); most = p.MostRead.Load() {
	}
}

var (
	// decimals matches prices and amounts. It does not match the seconds of a timestamp, because these are followed by
	// a letter.
	decimals       = regexp.MustCompile(`([\[",:\s])(\d+\.\d+)([\]"\\,}])`)
	decimalsInText = regexp.MustCompile(`(")(\d+\.\d+)(\\?")`)
	numbers        = regexp.MustCompile(`([\[,:])(-?\d+(?:\.\d+)?)([\],}])`)
	booleans       = regexp.MustCompile(`([\[,:])(true|false)([\],}])`)
)

func (p *VenueProxy) change(r *http.Response) error {
	how := p.mode.Load()
	if how == Unchanged {
		return nil
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	_ = r.Body.Close()
	switch how {
	case Truncated:
		body = body[:(len(body)+1)/2]
	case WrongTypes:
		body = booleans.ReplaceAll(numbers.ReplaceAll(body, []byte(`$1{"n":[$2]}$3`)), []byte(`$1["$2"]$3`))
	case NaNTexts:
		body = decimalsInText.ReplaceAll(body, []byte("${1}NaN$3"))
	case NaNNumbers:
		body = decimals.ReplaceAll(body, []byte("${1}NaN$3"))
	case NegativePrices:
		body = decimals.ReplaceAll(body, []byte("$1-$2$3"))
	case HugePrices:
		body = decimals.ReplaceAll(body, []byte("${1}1750.5$3"))
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	r.Header.Set("Content-Length", strconv.Itoa(len(body)))
	return nil
}

// Readable reports whether the proxy changes only numbers and booleans of the response, which remains valid JSON.
func (how VenueAnswer) Readable() bool {
	return how == WrongTypes || how == NaNTexts || how == NegativePrices || how == HugePrices
}
