package download

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/signalcast/signalcast/pkg/safedial"
)

const (
	timeout   = 5 * time.Second // of a download
	redirects = 3
)

// Client downloads files.
type Client struct{ HTTP *http.Client }

// New returns a Client that connects to public addresses only. A download takes at most 5 seconds and follows at most 3 redirects.
func New() *Client {
	return &Client{HTTP: safedial.Client(safedial.Options{Timeout: timeout, Redirects: redirects})}
}

// ErrScheme is the error of an address that is not an https URL.
var ErrScheme = errors.New("the address is not an https URL")

// Open requests the file at an address. accept is the value of the header Accept. It returns the body, which the caller must close,
// and its length in bytes; -1: unknown.
func (c *Client) Open(ctx context.Context, address, accept string) (body io.ReadCloser, length int64, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, 0, err
	}
	if r.URL.Scheme != "https" {
		return nil, 0, ErrScheme
	}
	r.Header.Set("Accept", accept)
	a, err := c.HTTP.Do(r)
	if err != nil {
		return nil, 0, err
	}
	if a.StatusCode != http.StatusOK {
		_ = a.Body.Close()
		return nil, 0, fmt.Errorf("status %d", a.StatusCode)
	}
	return a.Body, a.ContentLength, nil
}
