//go:build !unix

package httpapi

import "net"

// nonblocking is the implementation for systems without nonblocking writes. The goroutine of the broker.Reader does all
// writes.
type nonblocking struct{}

func (nonblocking) init(net.Conn) {}

// TryWrite implements broker.Conn.
func (nonblocking) TryWrite([]byte) (int, error) { return 0, nil }

// waitReadable returns at once; the following read blocks.
func (nonblocking) waitReadable() error { return nil }
