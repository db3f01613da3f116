package hls

import (
	"context"
	"sync"
	"time"
)

const (
	withheldEvery   = 5 * time.Second // minimum time between two reads of the list
	withheldTimeout = time.Second
)

// withheld is the cached list of operators and clips whose media must not be served.
type withheld struct {
	mu   sync.Mutex
	keys map[string]bool
	read time.Time
}

// hidden reports whether the media of an operator or a clip must not be served. key is a handle or a clip id. While another
// request reads the list, or if the list cannot be read, the cached list applies.
func (o *Origin) hidden(ctx context.Context, key string) bool {
	if o.o.Withheld == nil {
		return false
	}
	w := &o.withheld
	w.mu.Lock()
	defer w.mu.Unlock()
	if now := o.o.Now(); w.read.IsZero() || now.Sub(w.read) >= withheldEvery {
		w.read = now
		w.mu.Unlock() // a slow database must not block other requests
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), withheldTimeout)
		keys, err := o.o.Withheld(ctx)
		cancel()
		w.mu.Lock()
		if err != nil {
			o.o.Log.Warn("reading the list of hidden media failed", "error", err)
		} else {
			w.keys = keys
		}
	}
	return w.keys[key]
}
