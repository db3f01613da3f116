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
)

// minGzip is the size below which a body fits one packet anyway.
const minGzip = 1024

// Page is one immutable answer. Header values are ready slices, shared by all
// answers; nothing may append to them.
type Page struct {
	body   []byte
	gz     []byte // nil when compression is not worth it
	tag    string
	etag   []string
	length []string
	gzLen  []string
	kind   []string
}

var (
	contentJSON = []string{"application/json; charset=utf-8"}
	encGzip     = []string{"gzip"}
	varyEnc     = []string{"Accept-Encoding"}
	writers     = sync.Pool{New: func() any { return gzip.NewWriter(nil) }}
)

// Make builds a page from a JSON body, which must not change afterwards.
func Make(body []byte) *Page {
	sum := sha256.Sum256(body)
	p := &Page{
		body:   body,
		tag:    hex.EncodeToString(sum[:12]),
		length: []string{strconv.Itoa(len(body))},
		kind:   contentJSON,
	}
	// Weak, because the plain and the compressed form share it.
	p.etag = []string{`W/"` + p.tag + `"`}
	if len(body) >= minGzip {
		if gz := compress(body); len(gz) < len(body) {
			p.gz, p.gzLen = gz, []string{strconv.Itoa(len(gz))}
		}
	}
	return p
}

// As is the same body under another media type than that of JSON.
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
	// A bytes.Buffer takes every write.
	_, _ = w.Write(body)
	_ = w.Close()
	return bytes.Clone(b.Bytes())
}

// Body is the plain body; it must not be changed.
func (p *Page) Body() []byte { return p.body }

// ETag is the entity tag as it stands in the header.
func (p *Page) ETag() string { return p.etag[0] }

// WriteTo answers one request with the page and returns the status: 304 when
// the caller has it, the stored gzip when the caller takes it, else the body.
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

// matches compares weakly, as RFC 9110 asks for If-None-Match.
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
				break // not a list of tags: nothing matches
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

// takesGzip reads Accept-Encoding: gzip, or * without gzip, with a weight
// above zero.
func takesGzip(lines []string) bool {
	any := false
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
				any = wanted
			}
		}
	}
	return any
}

func zeroWeight(params string) bool {
	name, value, _ := strings.Cut(strings.TrimSpace(params), "=")
	if !strings.EqualFold(strings.TrimSpace(name), "q") {
		return false
	}
	q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	return err != nil || q <= 0
}
