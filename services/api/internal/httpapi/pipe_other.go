//go:build !unix

package httpapi

import "net"

// nonblocking cannot write without waiting here: everything is left to the
// goroutine of a reader that lags.
type nonblocking struct{}

func (nonblocking) init(net.Conn) {}

// Try implements live.Pipe.
func (nonblocking) Try([]byte) (int, error) { return 0, nil }

// arrived leaves the waiting to the read.
func (nonblocking) arrived() error { return nil }
