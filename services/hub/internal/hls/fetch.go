package hls

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/signalcast/signalcast/services/hub/internal/clip"
)

// Limits of a clip from another server: bytes of all files, time, and number of segments.
const (
	maxFetch     = 64 << 20
	fetchTimeout = 18 * time.Second // with stillTimeout less than the lease of a clip
	maxFetched   = 100
)

// fetcher reads the files of one clip from another server. It counts the bytes of all files.
type fetcher struct {
	client *http.Client
	left   int64 // bytes that may still be read
}

// part is a file at another server, or a byte range of it.
type part struct {
	url    *url.URL
	offset int64
	length int64 // 0: the whole file
}

// refuse returns an error that ends a clip: another attempt would fail too.
func refuse(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{clip.ErrNoVideo}, args...)...)
}

// missing is the error of a file that the other server does not have.
type missing int

func (m missing) Error() string { return fmt.Sprintf("status %d", int(m)) }

// copy writes a file of at most limit bytes to w and returns the URL from which it was read after redirects. Errors: those of
// refuse, missing, and temporary ones.
func (f *fetcher) copy(ctx context.Context, w io.Writer, p part, limit int64) (*url.URL, error) {
	if p.url.Scheme != "https" || p.url.Host == "" || p.url.User != nil {
		return nil, refuse("the URL of a file must be an https URL without a user")
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url.String(), nil)
	if err != nil {
		return nil, err
	}
	status := http.StatusOK
	if p.length > 0 {
		status = http.StatusPartialContent
		r.Header["Range"] = []string{fmt.Sprintf("bytes=%d-%d", p.offset, p.offset+p.length-1)}
	}
	resp, err := f.client.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }() // the body was read or is not needed
	switch {
	case resp.StatusCode == http.StatusNotFound, resp.StatusCode == http.StatusGone:
		return nil, missing(resp.StatusCode)
	case resp.StatusCode != status:
		return nil, fmt.Errorf("status %d; want %d", resp.StatusCode, status)
	case p.length > 0 && !strings.HasPrefix(resp.Header.Get("Content-Range"), fmt.Sprintf("bytes %d-", p.offset)):
		return nil, refuse("the server answers with another byte range")
	}
	limit = min(limit, f.left)
	n, err := io.Copy(w, io.LimitReader(resp.Body, limit+1))
	f.left -= n
	switch {
	case err != nil:
		return nil, err
	case n > limit:
		return nil, refuse("a file is larger than %d bytes, or all files are larger than %d", limit, maxFetch)
	case p.length > 0 && n != p.length:
		return nil, refuse("the server answers with %d bytes of a range of %d", n, p.length)
	}
	return resp.Request.URL, nil
}
