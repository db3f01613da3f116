package relay

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/signalcast/signalcast/pkg/redisx"
	"github.com/signalcast/signalcast/services/api/internal/feed"
)

const (
	// streamLength is the approximate number of events in the Redis stream. Redis removes older ones.
	streamLength = 10_000
	// streamLife is the time after the last event at which Redis deletes the stream. It removes the stream of an installation
	// that no longer runs.
	streamLife = 24 * time.Hour
	// addSize is the maximum number of events of one Redis pipeline, so that it stays within the time limit of a command.
	addSize = 100
)

// streamKey is the Redis key of the stream of numbered events.
var streamKey = redisx.Key("feed")

// addEvents appends messages to the stream. The id of an entry is the event number. Redis rejects an id that is not greater
// than the last one, so no event is added twice.
func addEvents(ctx context.Context, c *redisx.Client, messages []feed.Message) error {
	for part := range slices.Chunk(messages, addSize) {
		_, err := c.Pipelined(ctx, func(p redis.Pipeliner) error {
			for i := range part {
				p.XAdd(ctx, &redis.XAddArgs{
					Stream: streamKey, MaxLen: streamLength, Approx: true,
					ID: entryID(part[i].Seq), Values: fields(&part[i]),
				})
			}
			p.Expire(ctx, streamKey, streamLife)
			return nil
		})
		if err != nil {
			return fmt.Errorf("add to stream: %w", err)
		}
	}
	return nil
}

// forgetEvents deletes the stream. The relay fills it again from the database, without hidden texts.
func forgetEvents(ctx context.Context, c *redis.Client) error { return c.Del(ctx, streamKey).Err() }

// lastEvent returns the newest message of the stream, or the zero value if the stream is empty.
func lastEvent(ctx context.Context, c *redisx.Client) (feed.Message, error) {
	found, err := c.XRevRangeN(ctx, streamKey, "+", "-", 1).Result()
	if err != nil || len(found) == 0 {
		return feed.Message{}, err
	}
	return parseEntry(found[0])
}

// nextEvents returns the next messages of the stream after an event number, at most pageSize. If there are none, it waits up
// to the time wait for them, and then returns nil without an error.
func nextEvents(ctx context.Context, c *redis.Client, after int64, wait time.Duration) ([]feed.Message, error) {
	// If Redis hangs, the blocking read does not end without this timeout.
	ctx, cancel := context.WithTimeout(ctx, wait+wait/2)
	defer cancel()
	found, err := c.XRead(ctx, &redis.XReadArgs{
		Streams: []string{streamKey, entryID(after)}, Count: pageSize, Block: wait,
	}).Result()
	if errors.Is(err, redis.Nil) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []feed.Message
	for _, s := range found {
		for _, entry := range s.Messages {
			m, err := parseEntry(entry)
			if err != nil {
				return nil, err
			}
			out = append(out, m)
		}
	}
	return out, nil
}

func entryID(seq int64) string { return strconv.FormatInt(seq, 10) + "-0" }

// fields returns the fields of a stream entry: i is the event id, t the type, a the time in microseconds, d the data. Field c
// has one line for each channel: its name and the number of the previous event on it.
func fields(m *feed.Message) []string {
	links := make([]string, len(m.Links))
	for i, l := range m.Links {
		links[i] = fmt.Sprintf("%s %d", l.Channel, l.Prev)
	}
	return []string{
		"i", m.ID, "t", string(m.Type), "a", strconv.FormatInt(m.At.UnixMicro(), 10),
		"d", string(m.Data), "c", strings.Join(links, "\n"),
	}
}

func parseEntry(entry redis.XMessage) (feed.Message, error) {
	text := func(name string) string {
		s, _ := entry.Values[name].(string)
		return s
	}
	number, _, _ := strings.Cut(entry.ID, "-")
	seq, err := strconv.ParseInt(number, 10, 64)
	micros, atErr := strconv.ParseInt(text("a"), 10, 64)
	if err = errors.Join(err, atErr); err != nil {
		return feed.Message{}, fmt.Errorf("stream entry %s: %w", entry.ID, err)
	}
	m := feed.Message{ID: text("i"), Seq: seq, Type: feed.Type(text("t")), At: time.UnixMicro(micros).UTC(), Data: []byte(text("d"))}
	for line := range strings.SplitSeq(text("c"), "\n") {
		if line == "" {
			continue
		}
		channel, before, _ := strings.Cut(line, " ")
		prev, err := strconv.ParseInt(before, 10, 64)
		if err != nil {
			return feed.Message{}, fmt.Errorf("stream entry %s: %w", entry.ID, err)
		}
		m.Links = append(m.Links, feed.Link{Channel: feed.Channel(channel), Prev: prev})
	}
	return m, nil
}
