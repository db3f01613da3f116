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
	"time"

	"github.com/signalcast/signalcast/pkg/safedial"
	"github.com/signalcast/signalcast/services/hub/internal/network"
)

// Bounds of one answer.
const (
	Within   = 3 * time.Second
	MaxBytes = 1 << 20 // as it comes, and again when it is unpacked
)

// Options say how partners are read.
type Options struct {
	Private bool     // http and private addresses, for development
	Origin  string   // our own address: rows of ours are not wanted back
	Videos  []string // hosts that playlists may be on; empty: any
	Now     func() time.Time
}

// Reader implements network.Reader.
type Reader struct {
	client *http.Client
	o      Options
}

// NewReader makes a Reader.
func NewReader(o Options) *Reader {
	return &Reader{client: safedial.Client(safedial.Options{Private: o.Private, Timeout: Within}), o: o}
}

// Close ends idle connections.
func (r *Reader) Close() { r.client.CloseIdleConnections() }

// Tapes implements network.Reader.
func (r *Reader) Tapes(ctx context.Context, p network.Partner) ([]network.Tape, error) {
	entries, err := r.entries(ctx, p.TapesURL, "tapes", network.MaxTapes)
	if err != nil {
		return nil, err
	}
	rules, seen := r.rules(), map[string]bool{}
	var out []network.Tape
	for _, raw := range entries {
		t, ok := readTape(raw)
		if !ok || len(out) == network.MaxRows {
			continue
		}
		if t, err := rules.TakeTape(p, t); err == nil && !seen[t.ID] {
			seen[t.ID] = true
			out = append(out, t)
		}
	}
	return out, nil
}

// Operators implements network.Reader.
func (r *Reader) Operators(ctx context.Context, p network.Partner) ([]network.Operator, error) {
	entries, err := r.entries(ctx, p.OperatorsURL, "operators", network.MaxOperators)
	if err != nil {
		return nil, err
	}
	rules, seen := r.rules(), map[string]bool{}
	var out []network.Operator
	for _, raw := range entries {
		o, ok := readOperator(raw)
		if !ok || len(out) == network.MaxRows {
			continue
		}
		if o, err := rules.TakeOperator(p, o); err == nil && !seen[o.Handle] {
			seen[o.Handle] = true
			out = append(out, o)
		}
	}
	return out, nil
}

func (r *Reader) rules() network.Rules {
	return network.Rules{Now: r.o.Now(), Videos: r.o.Videos, Plain: r.o.Private}
}

var errLarge = errors.New("the answer is over one megabyte")

// entries gets the rows of one answer, unread.
func (r *Reader) entries(ctx context.Context, address, member string, limit int) ([][]byte, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" && !r.o.Private {
		return nil, errors.New("the address is not https")
	}
	q := u.Query()
	q.Set("exclude", r.o.Origin)
	q.Set("limit", strconv.Itoa(limit))
	u.RawQuery = q.Encode()
	ctx, cancel := context.WithTimeout(ctx, Within)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("Accept-Encoding", "gzip")
	req.Header.Set("User-Agent", "signalcast-federation")
	resp, err := r.client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("no answer: %w", errors.Unwrap(err)) // without the address: it may hold a secret of theirs
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the answer is %d", resp.StatusCode)
	}
	body, err := unpack(resp)
	if err != nil {
		return nil, err
	}
	return elements(body, member)
}

// unpack reads a body, of which no more than MaxBytes come to lie in memory.
func unpack(resp *http.Response) ([]byte, error) {
	var from io.Reader = io.LimitReader(resp.Body, MaxBytes+1)
	switch resp.Header.Get("Content-Encoding") {
	case "", "identity":
	case "gzip":
		z, err := gzip.NewReader(from)
		if err != nil {
			return nil, fmt.Errorf("unpack: %w", err)
		}
		from = io.LimitReader(z, MaxBytes+1)
	default:
		return nil, errors.New("the answer is packed in a way that was not asked for")
	}
	var b bytes.Buffer
	if n := resp.ContentLength; n > 0 && n <= MaxBytes {
		b.Grow(int(n) + bytes.MinRead)
	}
	if _, err := b.ReadFrom(from); err != nil {
		return nil, fmt.Errorf("read: %w", err)
	}
	if b.Len() > MaxBytes {
		return nil, errLarge
	}
	return b.Bytes(), nil
}
