package reads

import (
	"bytes"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/ratelimit"
	exportv1 "github.com/signalcast/signalcast/proto/export/v1"
)

// Limits of record exports, and the retry delay of a rejected export. A record can have any number of lines, so the number of
// concurrent exports and the time of one write are bounded. maxExportsPerIP is the limit of one IP address. exportFlushSize is in
// bytes.
const (
	maxExports         = 64
	maxExportsPerIP    = 4
	exportWriteTimeout = 30 * time.Second
	exportRetryAfter   = 2 * time.Second
	exportFlushSize    = 64 << 10
)

// recordWriter formats the parts of a record, as JSON lines or CSV, into b.
type recordWriter interface {
	head(b *bytes.Buffer, o *exportv1.RecordHead) error
	call(b *bytes.Buffer, c *exportv1.Call) error
	end(b *bytes.Buffer, e *exportv1.RecordEnd) error
}

// Record handles GET /api/operator/{handle}/record, which streams the whole record of an operator as JSON lines or CSV. Error:
// rate_limited if too many exports are in progress.
func (s *Server) Record(c echo.Context, handle protocol.Handle) error {
	release, err := s.exports.acquire(ratelimit.AddressKey(c.RealIP()))
	if err != nil {
		return err
	}
	defer release()
	ctx := c.Request().Context()
	out := &recordReader{c: c, name: string(handle)}
	if c.QueryParam("format") == "csv" {
		out.kind, out.form, out.ending = "text/csv; charset=utf-8; header=present", &csvRecord{}, ".csv"
	} else {
		out.kind, out.form, out.ending = "application/jsonl; charset=utf-8", newJSONLines(s.HubURL), ".jsonl"
	}
	err = s.Ledger.ReadRecord(ctx, string(handle), out.take)
	switch {
	case errors.Is(err, errHeadOnly):
		return nil
	case err != nil && c.Response().Committed:
		// Abort the connection, so that the client does not take the incomplete record for a complete one.
		if ctx.Err() == nil {
			s.Log.Warn("record export failed", "handle", string(handle), "error", err)
		}
		panic(http.ErrAbortHandler)
	}
	return err
}

// errHeadOnly stops the export after the headers, for HEAD requests.
var errHeadOnly = errors.New("HEAD needs no body")

// recordReader receives the messages of a record from the ledger and writes them to the client. Each call of the method take
// blocks until the data is written, so the ledger sends no faster than the client reads.
type recordReader struct {
	c                  echo.Context
	name, kind, ending string
	form               recordWriter
	buf                bytes.Buffer
}

// take formats one message of the record and sends it to the client. It returns errHeadOnly after the headers of a HEAD request.
func (r *recordReader) take(m *exportv1.RecordResponse) error {
	switch {
	case m.GetHead() != nil:
		return r.head(m.GetHead())
	case m.GetEnd() != nil:
		if err := r.form.end(&r.buf, m.GetEnd()); err != nil {
			return err
		}
	}
	for _, c := range m.GetCalls() {
		if err := r.form.call(&r.buf, c); err != nil {
			return err
		}
		if r.buf.Len() >= exportFlushSize {
			if err := r.flush(); err != nil {
				return err
			}
		}
	}
	return r.flush()
}

func (r *recordReader) head(o *exportv1.RecordHead) error {
	h := r.c.Response().Header()
	h.Set("Content-Type", r.kind)
	h.Set("Content-Disposition", `attachment; filename="`+r.name+r.ending+`"`)
	h.Set("X-Accel-Buffering", "no")
	if r.c.Request().Method == http.MethodHead {
		r.c.Response().WriteHeader(http.StatusOK)
		return errHeadOnly
	}
	return r.form.head(&r.buf, o)
}

// flush sends the buffered data. It fails if the client reads nothing within exportWriteTimeout.
func (r *recordReader) flush() error {
	if r.buf.Len() == 0 {
		return nil
	}
	w := r.c.Response()
	if err := httpx.SetWriteTimeout(w, exportWriteTimeout); err != nil {
		return err
	}
	if _, err := w.Write(r.buf.Bytes()); err != nil {
		return err
	}
	r.buf.Reset()
	if err := http.NewResponseController(w).Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	return nil
}

// errTooManyExports is the error of an export above maxExports or maxExportsPerIP.
var errTooManyExports = ratelimit.ErrLimited.With("limit", maxExportsPerIP).With("retryAfterMs", exportRetryAfter.Milliseconds())

// exportLimiter counts the exports in progress, in total and by IP address.
type exportLimiter struct {
	mu    sync.Mutex
	total int
	byIP  map[string]int
}

// acquire counts a new export of an IP address. The caller must call release when the export ends. Error: rate_limited if
// maxExports or maxExportsPerIP is reached.
func (r *exportLimiter) acquire(address string) (release func(), err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.total == maxExports || r.byIP[address] == maxExportsPerIP {
		return nil, errTooManyExports
	}
	if r.byIP == nil {
		r.byIP = map[string]int{}
	}
	r.total++
	r.byIP[address]++
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.total--
		if r.byIP[address]--; r.byIP[address] == 0 {
			delete(r.byIP, address)
		}
	}, nil
}
