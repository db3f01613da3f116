//go:build !unix

package httpapi

import "net"

// nonblocking is the fallback for systems without nonblocking writes. All writes are done by the goroutine of the
// broker.Reader, which may block.
type nonblocking struct{}

func (nonblocking) init(net.Conn) {}

// TryWrite implements broker.Conn. It writes nothing.
func (nonblocking) TryWrite([]byte) (int, error) { return 0, nil }

// waitReadable returns at once. The read that follows it blocks.
func (nonblocking) waitReadable() error { return nil }
