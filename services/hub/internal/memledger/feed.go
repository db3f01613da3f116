package memledger

import (
	"context"
	"sync"

	"google.golang.org/protobuf/proto"

	feedv1 "github.com/signalcast/signalcast/proto/feed/v1"
)

// Heard is what the feed was told, in the order in which it came.
type Heard struct {
	feedv1.UnimplementedFeedServiceServer

	mu       sync.Mutex
	facts    []*feedv1.Fact
	ids      map[string]bool
	news     []*feedv1.News
	watching []*feedv1.Watching
	copies   map[string]*feedv1.Copy
}

// Publish takes each fact once and the newest copy of each channel.
func (h *Heard) Publish(_ context.Context, r *feedv1.PublishRequest) (*feedv1.PublishResponse, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ids == nil {
		h.ids, h.copies = map[string]bool{}, map[string]*feedv1.Copy{}
	}
	for _, f := range r.GetFacts() {
		if !h.ids[f.GetId()] {
			h.ids[f.GetId()] = true
			h.facts = append(h.facts, proto.CloneOf(f))
		}
	}
	for _, c := range r.GetCopies() {
		if old := h.copies[c.GetChannel()]; old == nil || !c.GetAt().AsTime().Before(old.GetAt().AsTime()) {
			h.copies[c.GetChannel()] = proto.CloneOf(c)
		}
	}
	for _, n := range r.GetNews() {
		h.news = append(h.news, proto.CloneOf(n))
	}
	for _, w := range r.GetWatching() {
		h.watching = append(h.watching, proto.CloneOf(w))
	}
	return &feedv1.PublishResponse{}, nil
}

// Facts are the types of the facts about an operator, in order.
func (h *Heard) Facts(handle string) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []string
	for _, f := range h.facts {
		if f.GetHandle() == handle {
			out = append(out, f.GetType())
		}
	}
	return out
}

// Fact is the data of the newest fact of a type; empty: there is none.
func (h *Heard) Fact(kind string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := ""
	for _, f := range h.facts {
		if f.GetType() == kind {
			out = f.GetData()
		}
	}
	return out
}

// Copy is how a channel begins; empty: nobody told.
func (h *Heard) Copy(channel string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.copies[channel].GetData()
}

// News is the data of the newest news of a type on a channel; empty: there was none.
func (h *Heard) News(channel, kind string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := ""
	for _, n := range h.news {
		if n.GetChannel() == channel && n.GetType() == kind {
			out = n.GetData()
		}
	}
	return out
}

// Watching is how many watch an operator, as told last; -1: nobody told.
func (h *Heard) Watching(handle string) int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := int64(-1)
	for _, w := range h.watching {
		if w.GetHandle() == handle {
			out = w.GetViewers()
		}
	}
	return out
}
