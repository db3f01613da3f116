package feed

import (
	"context"
	"time"
)

// Store stores numbered events, and the states and viewer counts that other services publish.
type Store interface {
	// NumberFeed moves up to limit committed outbox entries into the feed, where they get their numbers. It returns the number
	// of entries moved.
	NumberFeed(ctx context.Context, limit int) (int, error)
	// DrainFeed assigns numbers to up to chunk results of one resolved market that is not in skip.
	DrainFeed(ctx context.Context, chunk int, skip []string) (Drained, error)
	// MaintainFeed creates the partitions of the days to come and drops those that are too old.
	MaintainFeed(ctx context.Context) error
	// ListenOutbox calls ring when the outbox has entries, until it fails.
	ListenOutbox(ctx context.Context, ring func()) error

	// FeedHead returns the number of the newest event.
	FeedHead(ctx context.Context) (int64, error)
	// FeedOldest returns the number of the oldest stored event. In an empty feed, it returns the next number.
	FeedOldest(ctx context.Context) (int64, error)
	// FeedHeads returns the number of the last event on each channel that is not above upTo. It omits channels without such an
	// event.
	FeedHeads(ctx context.Context, upTo int64, channels []Channel) (map[Channel]int64, error)
	// ListFeedAfter returns up to limit events with numbers above after, in order.
	ListFeedAfter(ctx context.Context, after int64, limit int) ([]Event, error)
	// ListFeedEvents returns the page of the feed that q selects.
	ListFeedEvents(ctx context.Context, q Query) (Page, error)
	// ListFeedBrief searches up to limit numbers after a number and returns their events of the types, oldest first. An event has only
	// its number, type, time, market, operator, and data without receiptUrl. The data of a call has only the id.
	ListFeedBrief(ctx context.Context, types []Type, after int64, limit int) (Page, error)
	// ListFeedChannel returns up to limit events of one channel with after < number <= upTo, in order and without links. It has
	// searched all numbers up to through; the next call must continue from there.
	ListFeedChannel(ctx context.Context, c Channel, after, upTo int64, limit int) (events []Message, through int64, err error)
	// ModerationDigest returns a digest of all moderation decisions and of the number of deleted accounts. Each of them changes it.
	ModerationDigest(ctx context.Context) (string, error)

	// StoreFacts stores each fact once, by its id, and the copies: all or none.
	StoreFacts(ctx context.Context, facts []Fact, copies []Copy) error
	// FindCopy returns the state that another service published last for a channel; false if there is none.
	FindCopy(ctx context.Context, c Channel) (Copy, bool, error)
	// StoreViewers stores the number of viewers of each stream.
	StoreViewers(ctx context.Context, list []Watching) error
	// StoreViewerReports stores each report of watched time once, by its id. It ignores reports of unknown operators.
	StoreViewerReports(ctx context.Context, list []ViewerReport) error
	// StoreTapes stores the number of tapes of each market. A report that is older than the stored one changes nothing.
	StoreTapes(ctx context.Context, list []Tapes) error
	// ListWatched returns the number of viewers of the streams of each market, from reports after since.
	ListWatched(ctx context.Context, since time.Time) (map[string]int, error)
	// ListMarketTokens returns the order-book token of each market that has one.
	ListMarketTokens(ctx context.Context, ids []string) (map[string]string, error)
	// ListMarketStates returns the prices and crowds of markets; unknown ids are left out.
	ListMarketStates(ctx context.Context, ids []string) ([]MarketState, error)
}
