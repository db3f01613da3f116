package httpcache

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// minGzip is the minimum size in bytes of a body that is compressed. A smaller body fits into one packet.
const minGzip = 1024

// Page is an immutable response. All responses share the slices of its header values, so no code may append to them.
type Page struct {
	body   []byte
	gz     []byte // nil if compression does not make the body smaller
	tag    string
	etag   []string
	length []string
	gzLen  []string
	kind   []string
	shared bool          // the page is in Redis or comes from it
	life   time.Duration // time for which a shared page is fresh in this process
}

var (
	contentJSON = []string{"application/json; charset=utf-8"}
	encGzip     = []string{"gzip"}
	varyEnc     = []string{"Accept-Encoding"}
	writers     = sync.Pool{New: func() any { return gzip.NewWriter(nil) }}
)

// Make returns a page with a JSON body. The caller must not change body afterwards.
func Make(body []byte) *Page {
	sum := sha256.Sum256(body)
	var gz []byte
	if len(body) >= minGzip {
		if gz = compress(body); len(gz) >= len(body) {
			gz = nil
		}
	}
	return newPage(hex.EncodeToString(sum[:12]), body, gz)
}

// newPage returns a page with a JSON body, its tag, and its gzip, which may be nil.
func newPage(tag string, body, gz []byte) *Page {
	p := &Page{body: body, tag: tag, length: []string{strconv.Itoa(len(body))}, kind: contentJSON}
	// The tag is weak because the plain and the compressed body share it.
	p.etag = []string{`W/"` + p.tag + `"`}
	if gz != nil {
		p.gz, p.gzLen = gz, []string{strconv.Itoa(len(gz))}
	}
	return p
}

// As returns a copy of the page with kind as its media type, instead of that of JSON.
func (p *Page) As(kind string) *Page {
	c := *p
	c.kind = []string{kind}
	return &c
}

func compress(body []byte) []byte {
	var b bytes.Buffer
	w := writers.Get().(*gzip.Writer)
	defer writers.Put(w)
	w.Reset(&b)
	// Writes to a bytes.Buffer do not fail.
	_, _ = w.Write(body)
	_ = w.Close()
	return bytes.Clone(b.Bytes())
}

// Gzip returns the gzip of body for the response to r. It returns nil if the client does not accept gzip, or if the body fits into
// one packet.
func Gzip(r *http.Request, body []byte) []byte {
	if len(body) < minGzip || !takesGzip(r.Header["Accept-Encoding"]) {
		return nil
	}
	return compress(body)
}

// Body returns the uncompressed body. The caller must not change it.
func (p *Page) Body() []byte { return p.body }

// ETag returns the weak entity tag of the page as the value of an ETag header: W/ and 24 hexadecimal digits in quotes.
func (p *Page) ETag() string { return p.etag[0] }

// WriteTo writes the page as the response to r and returns the status. If the client has the page, the status is 304. Otherwise
// it is 200, with the stored gzip if the client accepts it, or else with the plain body. The response to HEAD has no body.
func (p *Page) WriteTo(w http.ResponseWriter, r *http.Request) int {
	h := w.Header()
	h["Etag"] = p.etag
	if p.gz != nil {
		h["Vary"] = varyEnc
	}
	if inm := r.Header["If-None-Match"]; len(inm) > 0 && p.matches(inm) {
		w.WriteHeader(http.StatusNotModified)
		return http.StatusNotModified
	}
	body, length := p.body, p.length
	if p.gz != nil {
		if ae := r.Header["Accept-Encoding"]; len(ae) > 0 && takesGzip(ae) {
			body, length = p.gz, p.gzLen
			h["Content-Encoding"] = encGzip
		}
	}
	h["Content-Type"] = p.kind
	h["Content-Length"] = length
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		writeJoined(w, r, body)
	}
	return http.StatusOK
}

// matches reports whether If-None-Match is "*" or contains the tag of the page, by weak comparison (RFC 9110 13.1.2). lines
// contains the values of the header.
func (p *Page) matches(lines []string) bool {
	for _, line := range lines {
		if line == p.etag[0] {
			return true
		}
		for line != "" {
			line = strings.TrimLeft(line, " \t,")
			if strings.HasPrefix(line, "*") {
				return strings.TrimSpace(line) == "*" && len(lines) == 1
			}
			line = strings.TrimPrefix(line, "W/")
			if !strings.HasPrefix(line, `"`) {
				break // not a list of tags: no match
			}
			tag, rest, closed := strings.Cut(line[1:], `"`)
			if !closed {
				break
			}
			if tag == p.tag {
				return true
			}
			line = rest
		}
	}
	return false
}

// takesGzip reports whether the Accept-Encoding header accepts gzip, that is, lists gzip with a weight above zero. If gzip is not
// listed, the weight of * applies. lines contains the values of the header.
func takesGzip(lines []string) bool {
	wildcard := false
	for _, line := range lines {
		for line != "" {
			var item string
			item, line, _ = strings.Cut(line, ",")
			name, params, weighted := strings.Cut(item, ";")
			name = strings.TrimSpace(name)
			wanted := !weighted || !zeroWeight(params)
			switch {
			case strings.EqualFold(name, "gzip"), strings.EqualFold(name, "x-gzip"):
				return wanted
			case name == "*":
				wildcard = wanted
			}
		}
	}
	return wildcard
}

func zeroWeight(params string) bool {
	name, value, _ := strings.Cut(strings.TrimSpace(params), "=")
	if !strings.EqualFold(strings.TrimSpace(name), "q") {
		return false
	}
	q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	return err != nil || q <= 0
}
