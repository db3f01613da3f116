package rows

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
	"github.com/signalcast/signalcast/test/system/feedclient"
)

// e5 comes back with numbers that are none: dropped with their day, above the newest, or
// no numbers at all. The feed has no epochs; in place of a wrong one stands an id that is
// none of the feed's.
var e5 = frame.Row{
	ID: "E5", Title: "beyond what it keeps the feed says so",
	Fault: frame.Fault{What: "what is no longer kept is passed over in silence"},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		feed, err := newOwnFeed(ctx, env, "e5")
		if err != nil {
			return nil, err
		}
		defer feed.close(ctx)
		e := &edges{ownFeed: feed}
		if err := e.prepare(ctx, env.Of(20, 700, 5000)); err != nil {
			return nil, err
		}
		right := 0
		for _, c := range []struct {
			name string
			ask  func(context.Context) error
		}{
			{"a websocket, too old", e.oldSocket},
			{"a websocket, ahead", e.aheadSocket},
			{"a websocket, none of the feed's", e.foreignSocket},
			{"a stream, too old", e.oldStream},
			{"a stream, ahead", e.aheadStream},
			{"a stream, none of the feed's", e.foreignStream},
			{"a poll, too old", e.oldPoll},
			{"a poll, ahead", e.aheadPoll},
			{"a poll, none of the feed's", e.foreignPoll},
		} {
			if err := c.ask(ctx); err != nil {
				seen.Wrong("%s: %v", c.name, err)
				continue
			}
			right++
		}
		seen.Promise("3 of 3 at 3 doors", fmt.Sprintf("%d of 9", right))
		seen.Volume("%d cursors, %s events dropped with their day", e.cursors, frame.Number(int(e.oldest-1)))
		return seen, nil
	},
}

// edges are the two ends of what a feed keeps.
type edges struct {
	*ownFeed
	oldest  int64
	head    int64
	cursors int
}

// kept is how many facts are in the feed when its first day has been dropped.
const kept = 12

func (e *edges) prepare(ctx context.Context, dropped int) (err error) {
	if err := e.age(ctx, "1", dropped); err != nil {
		return err
	}
	e.oldest = int64(dropped) + 1
	if err := e.more(ctx, kept); err != nil {
		return err
	}
	// A process that has just begun remembers nothing of what was dropped.
	e.api.Kill()
	return e.api.Start(ctx)
}

func (e *edges) more(ctx context.Context, n int) (err error) {
	e.head, err = e.happen(ctx, "1", n, time.Now())
	return err
}

// socket resumes a market's channel with a number, and gives what the server has to say
// to it.
func (e *edges) socket(ctx context.Context, since any) (*feedclient.Socket, feedclient.Frame, error) {
	e.cursors++
	s, hello, err := feedclient.Dial(ctx, e.api.URL)
	if err != nil {
		return nil, hello, err
	}
	if hello.Head != e.head {
		s.Close()
		return nil, hello, fmt.Errorf("hello names %d as the newest, not %d", hello.Head, e.head)
	}
	err = s.Say(ctx, map[string]any{"op": "subscribe", "id": "s", "channels": []string{"market:1"}, "since": map[string]any{"market:1": since}})
	for err == nil {
		var f feedclient.Frame
		if f, err = s.Next(ctx); err == nil && f.Op != "ack" && f.Op != "snapshot" {
			return s, f, nil
		}
	}
	s.Close()
	return nil, feedclient.Frame{}, err
}

// live wants the next event to be the one that happens now.
func (e *edges) live(ctx context.Context, next func() (feedclient.Frame, error)) error {
	if err := e.more(ctx, 1); err != nil {
		return err
	}
	f, err := next()
	if err == nil && (f.Op != "event" || f.Seq != e.head || f.Prev != e.head-1) {
		err = fmt.Errorf("then comes %v and not event %d", f, e.head)
	}
	return err
}

// rest wants everything that is kept, in order.
func (e *edges) rest(next func() (feedclient.Frame, error)) error {
	for seq := e.oldest; seq <= e.head; seq++ {
		f, err := next()
		if err != nil {
			return err
		}
		if f.Op != "event" || f.Seq != seq || seq > e.oldest && f.Prev != seq-1 {
			return fmt.Errorf("behind the gap comes %v and not event %d", f, seq)
		}
	}
	return nil
}

func (e *edges) oldSocket(ctx context.Context) error {
	for _, since := range []int64{0, 3, e.oldest - 2} {
		s, f, err := e.socket(ctx, since)
		if err != nil {
			return err
		}
		if err = e.isGap(f, since); err == nil {
			err = e.rest(func() (feedclient.Frame, error) { return s.Next(ctx) })
		}
		if err == nil {
			err = e.live(ctx, func() (feedclient.Frame, error) { return s.Next(ctx) })
		}
		s.Close()
		if err != nil {
			return err
		}
	}
	// Up to the edge nothing is missing, and so it says nothing.
	s, f, err := e.socket(ctx, e.oldest-1)
	if err != nil {
		return err
	}
	defer s.Close()
	if f.Op != "event" || f.Seq != e.oldest {
		return fmt.Errorf("behind the edge comes %v", f)
	}
	return nil
}

func (e *edges) isGap(f feedclient.Frame, since int64) error {
	if f.Op != "gap" || f.Channel != "market:1" || f.From != since || f.Oldest != e.oldest {
		return fmt.Errorf("behind %d comes %v", since, f)
	}
	return nil
}

func (e *edges) isAhead(f feedclient.Frame, since int64) error {
	if f.Op != "error" || f.Error != "future_cursor" || f.Channel != "market:1" {
		return fmt.Errorf("behind %d comes %v", since, f)
	}
	return nil
}

// ahead are numbers above the newest.
func (e *edges) ahead() []int64 { return []int64{e.head + 1, 1 << 40, 1<<63 - 1} }

func (e *edges) aheadSocket(ctx context.Context) error {
	for i := range e.ahead() {
		since := e.ahead()[i]
		s, f, err := e.socket(ctx, since)
		if err != nil {
			return err
		}
		if err = e.isAhead(f, since); err == nil {
			err = e.live(ctx, func() (feedclient.Frame, error) { return s.Next(ctx) })
		}
		s.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

func (e *edges) foreignSocket(ctx context.Context) error {
	for _, since := range []any{-1, "x", "17", 1.5, true, []int{1}, map[string]any{}, uint64(1 << 63), "0199f0c0-0000-7000-8000-000000000001"} {
		s, f, err := e.socket(ctx, since)
		if err != nil {
			return err
		}
		if f.Op != "error" || f.Error != "invalid_since" || f.ID != "s" {
			err = fmt.Errorf("behind %v comes %v", since, f)
		}
		s.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// stream comes back with an event id.
func (e *edges) stream(ctx context.Context, last string) (*feedclient.Events, error) {
	e.cursors++
	return feedclient.Follow(ctx, http.DefaultClient, e.api.URL, last, "market:1", "resolutions")
}

// news is the next message of a stream that is no greeting.
func news(s *feedclient.Events) (feedclient.Frame, error) {
	for {
		f, err := s.Next()
		if err != nil || f.Op != "hello" && f.Op != "ack" && f.Op != "snapshot" && f.Op != "beat" {
			return f, err
		}
	}
}

// told wants what a stream says of its first channel, and that it loses nothing when it
// is cut right behind that and comes back with the id that it gave. Behind what is too old
// everything follows that is kept.
func (e *edges) told(ctx context.Context, last string, old bool, is func(feedclient.Frame) error) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	s, err := e.stream(ctx, last)
	if err != nil {
		return err
	}
	f, err := news(s)
	if err == nil {
		err = is(f)
	}
	s.Close()
	if err != nil {
		return err
	}
	return e.live(ctx, func() (f feedclient.Frame, err error) { // which happens before it is back
		if s, err = e.stream(ctx, s.Last()); err != nil {
			return f, err
		}
		defer s.Close()
		more := func() (f feedclient.Frame, err error) {
			for f.Channel != "market:1" && err == nil {
				f, err = news(s)
			}
			return f, err
		}
		if old {
			e.head-- // the rest is what was there before
			err = e.rest(more)
			e.head++
		}
		if err != nil {
			return f, err
		}
		return more()
	})
}

func (e *edges) oldStream(ctx context.Context) error {
	for _, since := range []int64{0, e.oldest - 2} {
		if err := e.told(ctx, fmt.Sprintf("%d-%d", since, e.head), true, func(f feedclient.Frame) error { return e.isGap(f, since) }); err != nil {
			return err
		}
	}
	return nil
}

func (e *edges) aheadStream(ctx context.Context) error {
	for i := range e.ahead() {
		since := e.ahead()[i]
		if err := e.told(ctx, fmt.Sprintf("%d-%d", since, e.head), false, func(f feedclient.Frame) error { return e.isAhead(f, since) }); err != nil {
			return err
		}
	}
	return nil
}

func (e *edges) foreignStream(ctx context.Context) error {
	for _, last := range []string{
		"x", "-1", "1-2-3", "1-", "1.5-2", "9223372036854775808", "1-x", "0199f0c0-0000-7000-8000-000000000001", "1,2", "１",
	} {
		s, err := e.stream(ctx, last)
		if err == nil {
			s.Close()
			return fmt.Errorf("%q opens a stream", last)
		}
		var no *feedclient.RefusedError
		if !errors.As(err, &no) || no.Status != http.StatusBadRequest || no.Code != "invalid_since" {
			return fmt.Errorf("%q: %w", last, err)
		}
	}
	return nil
}

// feedPage is an answer of the feed over plain HTTP.
type feedPage struct {
	Items []struct{ Seq int64 }
	Head  *int64
	Gap   *struct{ From, Oldest int64 }
}

func (e *edges) poll(ctx context.Context, query string) (p feedPage, err error) {
	e.cursors++
	return p, e.env.Client.Do(ctx, client.Request{URL: e.api.URL + "/api/v1/feed?limit=200&" + query}).Into(http.StatusOK, &p)
}

func (e *edges) oldPoll(ctx context.Context) error {
	for _, filter := range []string{"", "&types=market.status", "&types=market.resolved", "&lane=SCIENCE"} {
		for since := range map[int64]bool{0: true, 3: true, e.oldest - 2: true} {
			p, err := e.poll(ctx, fmt.Sprintf("after=%d%s", since, filter))
			if err != nil {
				return err
			}
			if p.Gap == nil || p.Gap.From != since || p.Gap.Oldest != e.oldest || p.Head == nil || *p.Head != e.head {
				return fmt.Errorf("behind %d%s comes %+v", since, filter, p)
			}
		}
		p, err := e.poll(ctx, fmt.Sprintf("after=%d%s", e.oldest-1, filter))
		if err != nil {
			return err
		}
		if p.Gap != nil || filter == "" && (len(p.Items) == 0 || p.Items[0].Seq != e.oldest) {
			return fmt.Errorf("behind the edge comes %+v", p)
		}
	}
	return nil
}

func (e *edges) aheadPoll(ctx context.Context) error {
	for _, after := range e.ahead() {
		p, err := e.poll(ctx, fmt.Sprint("after=", after))
		if err != nil {
			return err
		}
		if len(p.Items) != 0 || p.Head == nil || *p.Head != e.head || p.Gap != nil {
			return fmt.Errorf("behind %d comes %+v", after, p)
		}
	}
	return nil
}

// foreignPoll: parameters of lists never fail, so what is no number is as if it were not
// there. The answer is no continuation, and does not look like one: newest first, no head.
func (e *edges) foreignPoll(ctx context.Context) error {
	for _, after := range []string{"x", "-1", "1.5", "9223372036854775808", "0199f0c0-0000-7000-8000-000000000001", "1-2"} {
		p, err := e.poll(ctx, "after="+after)
		if err != nil {
			return err
		}
		descends := slices.IsSortedFunc(p.Items, func(a, b struct{ Seq int64 }) int { return int(b.Seq - a.Seq) })
		if p.Head != nil || !descends || len(p.Items) < 2 || p.Items[0].Seq != e.head {
			return fmt.Errorf("behind %s comes %s", after, strings.TrimSpace(fmt.Sprintf("%+v", p)))
		}
	}
	return nil
}
