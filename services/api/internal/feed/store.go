package feed

import (
	"context"
	"time"
)

// Store stores the feed and what other services publish. Each method is one transaction.
type Store interface {
	// NumberFeed moves up to limit committed outbox entries into the feed.
	NumberFeed(ctx context.Context, limit int) (int, error)
	// DrainFeed numbers up to chunk results of one resolved market that is not in skip.
	DrainFeed(ctx context.Context, chunk int, skip []string) (Drained, error)
	// MaintainFeed creates the partitions of the days to come and drops those that are too old.
	MaintainFeed(ctx context.Context) error
	// ListenOutbox calls ring when the outbox has entries, until it fails.
	ListenOutbox(ctx context.Context, ring func()) error

	// FeedHead returns the newest number.
	FeedHead(ctx context.Context) (int64, error)
	// FeedOldest returns the oldest number that is stored; in an empty feed the next one.
	FeedOldest(ctx context.Context) (int64, error)
	// FeedHeads returns the last number on each channel up to and including upTo. Channels without an event are left out.
	FeedHeads(ctx context.Context, upTo int64, channels []Channel) (map[Channel]int64, error)
	// ListFeedAfter returns the events with numbers above after, in order.
	ListFeedAfter(ctx context.Context, after int64, limit int) ([]Event, error)
	// ListFeedEvents returns a page of the feed.
	ListFeedEvents(ctx context.Context, q Query) (Page, error)
	// ListFeedChannel returns events of one channel in order; all numbers up to and including through were searched.
	ListFeedChannel(ctx context.Context, c Channel, after, upTo int64, limit int) (events []Message, through int64, err error)
	// ModerationDigest returns a digest that each decision about text changes.
	ModerationDigest(ctx context.Context) (string, error)

	// StoreFacts stores each fact once, by its id, and the copies: all or none.
	StoreFacts(ctx context.Context, facts []Fact, copies []Copy) error
	// FindCopy returns the state that another service published last for a channel; false if there is none.
	FindCopy(ctx context.Context, c Channel) (Copy, bool, error)
	// StoreViewers stores the number of viewers of each stream.
	StoreViewers(ctx context.Context, list []Watching) error
	// ListWatched returns the number of viewers of the streams of each market, from reports after since.
	ListWatched(ctx context.Context, since time.Time) (map[string]int, error)
	// ListMarketStates returns the prices and crowds of markets; unknown ids are left out.
	ListMarketStates(ctx context.Context, ids []string) ([]MarketState, error)
}
