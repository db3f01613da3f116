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
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/request"
)

// Bounds of records on their way out. A record has no limit of rows, so what is
// bounded is how many leave at once, and how long a reader may take nothing.
const (
	mostRecords     = 64
	recordsOfOne    = 4
	recordPatience  = 30 * time.Second
	recordRetry     = 2 * time.Second
	recordFlushSize = 64 << 10
)

// writer is a form in which a record is written down.
type writer interface {
	head(b *bytes.Buffer, o *exportv1.RecordHead) error
	call(b *bytes.Buffer, c *exportv1.Call) error
	end(b *bytes.Buffer, e *exportv1.RecordEnd) error
}

// Record is GET /api/operator/{handle}/record.
func (s *Server) Record(c echo.Context, handle protocol.Handle) error {
	leave, err := s.leaving.enter(request.AddressKey(c.RealIP()))
	if err != nil {
		return err
	}
	defer leave()
	ctx := c.Request().Context()
	out := &recordReader{c: c, name: string(handle)}
	if c.QueryParam("format") == "csv" {
		out.kind, out.form, out.ending = "text/csv; charset=utf-8; header=present", &csvRecord{}, ".csv"
	} else {
		out.kind, out.form, out.ending = "application/jsonl; charset=utf-8", newLines(s.HubURL), ".jsonl"
	}
	err = s.Ledger.ReadRecord(ctx, string(handle), out.take)
	switch {
	case errors.Is(err, errHeadOnly):
		return nil
	case err != nil && c.Response().Committed:
		// The connection is cut: what was written has no end, and a reader must not take it for a complete record.
		if ctx.Err() == nil {
			s.Log.Warn("record not finished", "handle", string(handle), "error", err)
		}
		panic(http.ErrAbortHandler)
	}
	return err
}

// errHeadOnly ends the reading for HEAD.
var errHeadOnly = errors.New("the head is enough")

// recordReader writes what comes to the caller. It returns when the caller has taken
// it, and so the ledger waits for the caller.
type recordReader struct {
	c                  echo.Context
	name, kind, ending string
	form               writer
	buf                bytes.Buffer
}

// take writes one message of the record.
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
		if r.buf.Len() >= recordFlushSize {
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

// flush hands on what is written. A caller that takes nothing for recordPatience has
// left.
func (r *recordReader) flush() error {
	if r.buf.Len() == 0 {
		return nil
	}
	w := r.c.Response()
	if err := httpx.SetWriteTimeout(w, recordPatience); err != nil {
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

// errManyRecords refuses one record more.
var errManyRecords = ratelimit.ErrLimited.With("limit", recordsOfOne).With("retryAfterMs", recordRetry.Milliseconds())

// recordRoom counts the records that are leaving, all and by address.
type recordRoom struct {
	mu  sync.Mutex
	all int
	of  map[string]int
}

// enter takes a place; leave gives it back. Fault: rate_limited.
func (r *recordRoom) enter(address string) (leave func(), err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all == mostRecords || r.of[address] == recordsOfOne {
		return nil, errManyRecords
	}
	if r.of == nil {
		r.of = map[string]int{}
	}
	r.all++
	r.of[address]++
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.all--
		if r.of[address]--; r.of[address] == 0 {
			delete(r.of, address)
		}
	}, nil
}
