package edge

import (
	"context"
	"sync"

	"github.com/signalcast/signalcast/services/hub/internal/card"
)

// Bounds of drawing, which costs a fiftieth of a second of a processor.
const (
	mostDrawn = 2
	mostKept  = 128
)

// pictures draws cards, few at a time, and keeps the newest.
type pictures struct {
	slots chan struct{}

	mu    sync.Mutex
	drawn map[string][]byte // by entity tag
	order []string          // oldest first
}

func newPictures() *pictures {
	return &pictures{slots: make(chan struct{}, mostDrawn), drawn: map[string][]byte{}}
}

// png is the picture of a card with that tag.
func (p *pictures) png(ctx context.Context, tag string, c *card.Card) ([]byte, error) {
	if kept := p.kept(tag); kept != nil {
		return kept, nil
	}
	select {
	case p.slots <- struct{}{}:
		defer func() { <-p.slots }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if kept := p.kept(tag); kept != nil { // drawn while we waited
		return kept, nil
	}
	drawn, err := c.PNG()
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.drawn[tag] == nil {
		p.drawn[tag], p.order = drawn, append(p.order, tag)
	}
	for len(p.order) > mostKept {
		delete(p.drawn, p.order[0])
		p.order = p.order[1:]
	}
	return drawn, nil
}

func (p *pictures) kept(tag string) []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.drawn[tag]
}
