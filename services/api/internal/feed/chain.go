package feed

import (
	"context"
	"fmt"
)

// maxHeads is the maximum number of channels in a Chain. A larger Chain is cleared and reads the last event numbers again,
// which costs one index lookup per channel.
const maxHeads = 100_000

// Chain converts events to messages. For each channel of the event, a message has a link with the number of the previous
// event on the channel. Chain is not safe for concurrent use.
type Chain struct {
	store Store
	last  map[Channel]int64 // number of the last event on each channel; 0: none
	seq   int64             // last includes the events up to this number
}

// NewChain returns a Chain that reads the last event number of a channel from store when it first needs it.
func NewChain(store Store) *Chain {
	return &Chain{store: store, last: make(map[Channel]int64)}
}

// Read reads up to limit events after a number from the store, and returns them with their links.
func (c *Chain) Read(ctx context.Context, after int64, limit int) ([]Message, error) {
	events, err := c.store.ListFeedAfter(ctx, after, limit)
	if err != nil {
		return nil, err
	}
	return c.Link(ctx, events)
}

// Link converts events with consecutive numbers to messages with links. If the events do not follow the events of the previous
// call, it reads the last event number of each channel again.
func (c *Chain) Link(ctx context.Context, events []Event) ([]Message, error) {
	if len(events) == 0 {
		return nil, nil
	}
	before := events[0].Seq - 1
	if before != c.seq || len(c.last) > maxHeads {
		clear(c.last)
		c.seq = before
	}
	channels := make([][]Channel, len(events))
	var unknown []Channel
	for i := range events {
		channels[i] = events[i].Channels()
		for _, ch := range channels[i] {
			if _, ok := c.last[ch]; !ok {
				c.last[ch] = 0
				unknown = append(unknown, ch)
			}
		}
	}
	if len(unknown) > 0 {
		found, err := c.store.FeedHeads(ctx, before, unknown)
		if err != nil {
			for _, ch := range unknown {
				delete(c.last, ch)
			}
			return nil, fmt.Errorf("read channel heads: %w", err)
		}
		for ch, seq := range found {
			c.last[ch] = seq
		}
	}
	out := make([]Message, len(events))
	for i := range events {
		e := &events[i]
		links := make([]Link, len(channels[i]))
		for j, ch := range channels[i] {
			links[j] = Link{Channel: ch, Prev: c.last[ch]}
			c.last[ch] = e.Seq
		}
		out[i] = Message{ID: e.ID, Seq: e.Seq, Type: e.Type, At: e.At, Data: e.Data, Links: links}
	}
	c.seq = events[len(events)-1].Seq
	return out, nil
}
