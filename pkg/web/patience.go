package web

import (
	"errors"
	"net/http"
	"time"
)

// Patience gives the reader of a long answer so much time to take the next part,
// whatever the server allows for a whole answer. Writers without deadlines, as in
// tests, are left as they are.
func Patience(w http.ResponseWriter, d time.Duration) error {
	err := http.NewResponseController(w).SetWriteDeadline(time.Now().Add(d))
	if errors.Is(err, http.ErrNotSupported) {
		return nil
	}
	return err
}
