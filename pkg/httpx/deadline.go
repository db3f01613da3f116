package httpx

import (
	"errors"
	"io"
	"net/http"
	"time"
)

// DripLimit cuts the body of a request off when nothing of it comes for idle, or not all
// of it within most. It takes the place of the server's own limit on reading.
func DripLimit(w http.ResponseWriter, r *http.Request, idle, most time.Duration) {
	r.Body = &drip{ReadCloser: r.Body, conn: http.NewResponseController(w), idle: idle, end: time.Now().Add(most)}
}

// drip is a body that is read with a limit for each read.
type drip struct {
	io.ReadCloser
	conn *http.ResponseController
	idle time.Duration
	end  time.Time
}

// Read implements io.Reader.
func (d *drip) Read(b []byte) (int, error) {
	limit := time.Now().Add(d.idle)
	if limit.After(d.end) {
		limit = d.end
	}
	_ = d.conn.SetReadDeadline(limit) // where there is no connection, nothing waits
	n, err := d.ReadCloser.Read(b)
	if errors.Is(err, io.EOF) {
		_ = d.conn.SetReadDeadline(time.Time{}) // what is done with it may take longer
	}
	return n, err
}

// Patience sets the deadline of the next writes to d from now, in place of the server's limit for a whole answer, so that a
// long answer may be sent in parts. It does nothing on a writer without deadlines, as in tests.
func Patience(w http.ResponseWriter, d time.Duration) error {
	err := http.NewResponseController(w).SetWriteDeadline(time.Now().Add(d))
	if errors.Is(err, http.ErrNotSupported) {
		return nil
	}
	return err
}
