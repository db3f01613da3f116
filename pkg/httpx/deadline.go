package httpx

import (
	"errors"
	"io"
	"net/http"
	"time"
)

// LimitBodyTime makes reads of the request body fail when no byte arrives within the duration idle, or when the body is
// not complete within the duration total. It replaces the read timeout of the server for this request.
func LimitBodyTime(w http.ResponseWriter, r *http.Request, idle, total time.Duration) {
	r.Body = &timedBody{ReadCloser: r.Body, conn: http.NewResponseController(w), idle: idle, end: time.Now().Add(total)}
}

// timedBody is a request body that sets a read deadline before each read.
type timedBody struct {
	io.ReadCloser
	conn *http.ResponseController
	idle time.Duration
	end  time.Time
}

// Read implements io.Reader. It waits for at most idle, and not beyond end. After the last byte it removes the deadline.
func (d *timedBody) Read(b []byte) (int, error) {
	limit := time.Now().Add(d.idle)
	if limit.After(d.end) {
		limit = d.end
	}
	_ = d.conn.SetReadDeadline(limit) // a writer without a connection, as in tests, needs no deadline
	n, err := d.ReadCloser.Read(b)
	if errors.Is(err, io.EOF) {
		_ = d.conn.SetReadDeadline(time.Time{}) // processing of the body may take longer than reading it
	}
	return n, err
}

// SetWriteTimeout sets the write deadline to d from now. It replaces the write timeout of the server for the whole
// response, so that a long response can be sent in parts. It does nothing if w does not support deadlines, as in
// tests.
func SetWriteTimeout(w http.ResponseWriter, d time.Duration) error {
	err := http.NewResponseController(w).SetWriteDeadline(time.Now().Add(d))
	if errors.Is(err, http.ErrNotSupported) {
		return nil
	}
	return err
}
