package partner

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/signalcast/signalcast/pkg/safedial"
	"github.com/signalcast/signalcast/services/hub/internal/federation"
)

// Time limit and size limit of one response of a partner.
const (
	Within   = 3 * time.Second
	MaxBytes = 1 << 20 // bytes, both before and after decompression
)

// Options holds the settings of a Reader.
type Options struct {
	Private bool     // permits http and private addresses; for development
	Origin  string   // public origin of this station; partners are asked to exclude its entries
	Videos  []string // permitted hosts of playlists; empty: any host
	Now     func() time.Time
}

// Reader reads lists of partners over HTTP. It implements federation.Reader.
type Reader struct {
	client *http.Client
	o      Options
}

// NewReader returns a Reader with the settings o.
func NewReader(o Options) *Reader {
	return &Reader{client: safedial.Client(safedial.Options{Private: o.Private, Timeout: Within}), o: o}
}

// Close closes the idle connections to partners.
func (r *Reader) Close() { r.client.CloseIdleConnections() }

// Tapes implements federation.Reader.
func (r *Reader) Tapes(ctx context.Context, p federation.Partner) ([]federation.Tape, error) {
	rules, seen := r.rules(), map[string]bool{}
	var out []federation.Tape
	err := r.each(ctx, p.TapesURL, "tapes", federation.MaxTapes, func(raw []byte) {
		t, ok := readTape(raw)
		if !ok || len(out) == federation.MaxRows {
			return
		}
		if t, err := rules.ValidateTape(p, t); err == nil && !seen[t.ID] {
			seen[t.ID] = true
			out = append(out, t)
		}
	})
	return out, err
}

// Operators implements federation.Reader.
func (r *Reader) Operators(ctx context.Context, p federation.Partner) ([]federation.Operator, error) {
	rules, seen := r.rules(), map[string]bool{}
	var out []federation.Operator
	err := r.each(ctx, p.OperatorsURL, "operators", federation.MaxOperators, func(raw []byte) {
		o, ok := readOperator(raw)
		if !ok || len(out) == federation.MaxRows {
			return
		}
		if o, err := rules.ValidateOperator(p, o); err == nil && !seen[o.Handle] {
			seen[o.Handle] = true
			out = append(out, o)
		}
	})
	return out, err
}

func (r *Reader) rules() federation.Rules {
	return federation.Rules{Now: r.o.Now(), Videos: r.o.Videos, Plain: r.o.Private}
}

var (
	errLarge    = errors.New("the response exceeds one megabyte")
	errDegraded = errors.New("the response is empty because its source was unavailable")
)

// buffers reuses the buffers for responses, so that frequent reads do not allocate a megabyte each.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// each reads a list of a partner and calls the function take with the JSON text of each entry. The slice is valid only until
// take returns. If the partner reports an outage with an empty list, each returns errDegraded.
func (r *Reader) each(ctx context.Context, address, member string, limit int, take func(raw []byte)) error {
	ctx, cancel := context.WithTimeout(ctx, Within)
	defer cancel()
	resp, err := r.get(ctx, address, limit)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	b, ok := buffers.Get().(*bytes.Buffer)
	if !ok {
		b = new(bytes.Buffer)
	}
	defer buffers.Put(b)
	b.Reset()
	if err := unpack(b, resp); err != nil {
		return err
	}
	rows, err := elements(b.Bytes(), member)
	if err == nil && len(rows) == 0 && resp.Header.Get("X-Degraded") != "" {
		return errDegraded // with status 200 and this header, a Signalcast station reports an outage
	}
	for _, raw := range rows {
		take(raw)
	}
	return err
}

// get requests a list of a partner. The caller must close the body of the response. It returns an error if the request fails
// or the status is not 200. It also returns an error if the URL is not https, unless Options.Private is set.
func (r *Reader) get(ctx context.Context, address string, limit int) (*http.Response, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" && !r.o.Private {
		return nil, errors.New("the URL must be https")
	}
	q := u.Query()
	q.Set("exclude", r.o.Origin)
	q.Set("origin", federation.Hub) // each station names its own entries hub; only these are accepted
	q.Set("limit", strconv.Itoa(limit))
	u.RawQuery = q.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("Accept-Encoding", "gzip")
	req.Header.Set("User-Agent", "signalcast-federation")
	resp, err := r.client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("no response: %w", errors.Unwrap(err)) // without the URL, which can contain a secret of the partner
	}
	if resp.StatusCode != http.StatusOK {
		_ = resp.Body.Close()
		return nil, fmt.Errorf("unexpected status %d", resp.StatusCode)
	}
	return resp, nil
}

// unpack reads the body of a response into a buffer and decompresses it. It returns errLarge if the result exceeds MaxBytes.
func unpack(into *bytes.Buffer, resp *http.Response) error {
	from := io.LimitReader(resp.Body, MaxBytes+1)
	switch resp.Header.Get("Content-Encoding") {
	case "", "identity":
	case "gzip":
		z, err := gzip.NewReader(from)
		if err != nil {
			return fmt.Errorf("decompress: %w", err)
		}
		from = io.LimitReader(z, MaxBytes+1)
	default:
		return errors.New("unexpected Content-Encoding")
	}
	if _, err := into.ReadFrom(from); err != nil {
		return fmt.Errorf("read: %w", err)
	}
	if into.Len() > MaxBytes {
		return errLarge
	}
	return nil
}
