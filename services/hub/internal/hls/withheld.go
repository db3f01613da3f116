package hls

import (
	"context"
	"sync"
	"time"
)

const (
	withheldEvery  = 5 * time.Second // age of the list at which it is read again
	withheldWithin = time.Second
)

// withheld is the last list of media that must not be served.
type withheld struct {
	mu   sync.Mutex
	keys map[string]bool
	read time.Time
}

// hidden reports whether the media of a handle, or a clip, must not be served. While the
// list is being read or cannot be read, the last one applies.
func (o *Origin) hidden(ctx context.Context, key string) bool {
	if o.o.Withheld == nil {
		return false
	}
	w := &o.withheld
	w.mu.Lock()
	defer w.mu.Unlock()
	if now := o.o.Now(); w.read.IsZero() || now.Sub(w.read) >= withheldEvery {
		w.read = now
		w.mu.Unlock() // a database that hangs must not stop other requests
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), withheldWithin)
		keys, err := o.o.Withheld(ctx)
		cancel()
		w.mu.Lock()
		if err != nil {
			o.o.Log.Warn("list of withheld media not read", "err", err)
		} else {
			w.keys = keys
		}
	}
	return w.keys[key]
}
