package rows

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
)

// hearing is which events of a stretch of the feed came to each of some readers, and
// when. A reader notes only what is its own, so that nobody waits for anybody.
type hearing struct {
	began   time.Time
	base    int64            // events behind this number count
	when    [][]atomic.Int32 // by reader and number: microseconds since it began; 0: not
	last    []int64          // by reader: the number that it saw last
	acked   atomic.Int64
	blind   atomic.Int64 // the state of a channel could not be read; its events come
	twice   atomic.Int64 // came more than once
	holes   atomic.Int64 // the one before was not there
	strange atomic.Int64 // neither expected frames nor expected numbers
	got     atomic.Int64

	mu   sync.Mutex
	odd  string               // the first frame that was strange
	sent map[string]time.Time // by name of the call
}

// listening begins a stretch at the end of the feed.
func listening(ctx context.Context, env *frame.Env, readers, events int) (*hearing, error) {
	h := &hearing{began: time.Now(), when: newWhen(readers, events), last: make([]int64, readers), sent: map[string]time.Time{}}
	err := env.DB.QueryRow(ctx, "SELECT seq FROM api.feed_head").Scan(&h.base)
	return h, err
}

func newWhen(readers, events int) [][]atomic.Int32 {
	when := make([][]atomic.Int32, readers)
	for i := range when {
		when[i] = make([]atomic.Int32, events)
	}
	return when
}

// note takes a text that reader i was sent.
func (h *hearing) note(i int, text []byte) {
	rest, ok := bytes.CutPrefix(text, []byte(`{"op":"event","channel":"`))
	if !ok {
		switch {
		case bytes.HasPrefix(text, []byte(`{"op":"ack"`)):
			h.acked.Add(1)
		case bytes.HasPrefix(text, []byte(`{"op":"error","error":"db_unavailable"`)):
			h.blind.Add(1)
		case bytes.HasPrefix(text, []byte(`{"op":"gap"`)), bytes.HasPrefix(text, []byte(`{"op":"error"`)):
			h.wonder(text)
		}
		return
	}
	_, rest, _ = bytes.Cut(rest, []byte{'"'})
	rest, ok = bytes.CutPrefix(rest, []byte(`,"seq":`))
	if !ok {
		return // it has no number
	}
	seq, rest := number(rest)
	prev := int64(0)
	if rest, ok = bytes.CutPrefix(rest, []byte(`,"prev":`)); ok {
		prev, _ = number(rest)
	}
	at := seq - h.base - 1
	switch {
	case at < 0 || at >= int64(len(h.when[i])):
		h.wonder(text)
	case h.when[i][at].Load() != 0:
		h.twice.Add(1)
	default:
		h.when[i][at].Store(int32(max(1, time.Since(h.began).Microseconds())))
		h.got.Add(1)
		if h.last[i] != 0 && prev != h.last[i] {
			h.holes.Add(1)
		}
	}
	h.last[i] = seq
}

// wonder counts a text that was not expected, and keeps the first.
func (h *hearing) wonder(text []byte) {
	if h.strange.Add(1) == 1 {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.odd = string(text)
	}
}

// number reads digits; null is 0.
func number(b []byte) (int64, []byte) {
	end := bytes.IndexAny(b, ",}")
	if end < 0 {
		return 0, nil
	}
	n, err := strconv.ParseInt(string(b[:end]), 10, 64)
	if err != nil {
		return 0, b[end:]
	}
	return n, b[end:]
}

// call files one call and remembers when it was sent. On a busy machine it may take a
// second try: then it must come to everybody all the same, but says nothing about times.
func (h *hearing) call(ctx context.Context, env *frame.Env, i int, op client.Operator, market string) error {
	var a client.Answer
	tries := 0
	_, err := frame.Until(ctx, 15*time.Second, func() (bool, error) {
		tries++
		a = env.Client.File(ctx, env.Hub(i), op.Keys[0], client.Call{Market: market, Yes: i%2 == 0, Price: 5000})
		return a.Err == nil && a.Status != http.StatusServiceUnavailable, nil
	})
	filed := a.Status == http.StatusOK || tries > 1 && a.Status == http.StatusConflict
	if err != nil || !filed {
		return fmt.Errorf("file a call: %s, %w", a, err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sent[a.Text("id")] = a.Began
	if tries > 1 {
		h.sent[a.Text("id")] = time.Time{}
	}
	return nil
}

// told waits until every reader was told of every call, while something still comes.
func (h *hearing) told(ctx context.Context, readers int, patience time.Duration) error {
	h.mu.Lock()
	want := int64(len(h.sent) * readers)
	h.mu.Unlock()
	last, since := h.got.Load(), time.Now()
	for h.got.Load() < want && time.Since(since) < patience {
		if n := h.got.Load(); n != last {
			last, since = n, time.Now()
		}
		if err := wait(ctx, time.Now().Add(5*time.Millisecond)); err != nil {
			return err
		}
	}
	return nil
}

// outcome is what came of the calls.
type outcome struct {
	each   []*frame.Times // of each call: from sending it to its coming to each reader
	behind frame.Times    // of all: from its coming to the witness
	wanted int            // deliveries
	lost   int            // of them
}

// heard compares with the record what came to some of the readers. The witness is a
// reader, too.
func (h *hearing) heard(ctx context.Context, env *frame.Env, readers []int, witness int) (o *outcome, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	o = &outcome{}
	rows, err := env.DB.Query(ctx, "SELECT seq, signal_id::text FROM api.protocol_events WHERE seq > $1 AND type = 'signal.created' ORDER BY seq", h.base)
	if err != nil {
		return o, err
	}
	defer rows.Close()
	found := 0
	for rows.Next() {
		var seq int64
		var id string
		if err := rows.Scan(&seq, &id); err != nil {
			return o, err
		}
		sent, ours := h.sent[id]
		at := seq - h.base - 1
		if !ours || at >= int64(len(h.when[0])) {
			continue
		}
		found++
		times, seen := &frame.Times{}, h.when[witness][at].Load()
		for _, i := range readers {
			o.wanted++
			after := h.when[i][at].Load()
			if after == 0 {
				o.lost++
				continue
			}
			if seen != 0 {
				o.behind.Add(max(0, time.Duration(after-seen)*time.Microsecond))
			}
			times.Add(h.began.Add(time.Duration(after) * time.Microsecond).Sub(sent))
		}
		if !sent.IsZero() {
			o.each = append(o.each, times)
		}
	}
	if found != len(h.sent) && rows.Err() == nil {
		return o, fmt.Errorf("%d of %d acknowledged calls are in the feed", found, len(h.sent))
	}
	return o, rows.Err()
}

// faults tells what should not have come.
func (h *hearing) faults(seen *frame.Seen) {
	seen.Check(h.twice.Load() == 0, "%d events came once more", h.twice.Load())
	seen.Check(h.holes.Load() == 0, "%d events came without the one before", h.holes.Load())
	seen.Check(h.strange.Load() == 0, "%d frames were not expected: %.200s", h.strange.Load(), h.odd)
}

// together is all of some times.
func together(list []*frame.Times) *frame.Times {
	all := &frame.Times{}
	for _, t := range list {
		t.Each(all.Add)
	}
	return all
}

// upTo are the numbers from 0 on.
func upTo(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}
