package reply

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"

	"github.com/signalcast/signalcast/deploy/venuesim/internal/world"
)

// JSON writes a body. What cannot be written as JSON is a fault of ours and is
// answered with 500.
func JSON(w http.ResponseWriter, status int, body any) {
	raw, err := json.Marshal(body)
	if err != nil {
		status, raw = http.StatusInternalServerError, []byte(`{"message":"internal error"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(raw)
}

// Over gives a recorded object with some members as they are in a fresh one;
// members that the fresh one lacks are taken away.
func Over(recorded json.RawMessage, fresh any, members ...string) any {
	var old, now map[string]json.RawMessage
	raw, err := json.Marshal(fresh)
	if err != nil || json.Unmarshal(recorded, &old) != nil || json.Unmarshal(raw, &now) != nil {
		return recorded
	}
	for _, name := range members {
		delete(old, name)
		if value, ok := now[name]; ok {
			old[name] = value
		}
	}
	return old
}

const (
	keepFor  = 10 // seconds, as an edge cache would
	keepMost = 32
)

// Kept holds sorted listings: every page of a walk asks for the same one. It is
// safe for concurrent use; its zero value is ready.
type Kept[T any] struct {
	mu    sync.Mutex
	stamp string
	lists map[string][]T
}

// Get gives the listing under a key, made by build when it is not kept or when
// the world has changed since.
func (k *Kept[T]) Get(w *world.World, key string, build func() []T) []T {
	stamp := fmt.Sprintf("%d/%d", w.Version(), w.Now().Unix()/keepFor)
	k.mu.Lock()
	if k.stamp != stamp || len(k.lists) >= keepMost {
		k.stamp, k.lists = stamp, map[string][]T{}
	}
	list, ok := k.lists[key]
	k.mu.Unlock()
	if ok {
		return list
	}
	list = build()
	k.mu.Lock()
	if k.stamp == stamp {
		k.lists[key] = list
	}
	k.mu.Unlock()
	return list
}
