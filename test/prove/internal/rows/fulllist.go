package rows

import (
	"context"
	"strings"
	"sync/atomic"
	"time"

	"github.com/signalcast/signalcast/test/prove/internal/frame"
	"github.com/signalcast/signalcast/test/system/feedclient"
)

// happened is one event of the feed as the database has it.
type happened struct {
	feedclient.Told
	kind, market, lane, handle string
}

// fullList is the feed behind a number.
type fullList []happened

// settled waits until everything that was committed has its number.
func settled(ctx context.Context, env *frame.Env, seen *frame.Seen, within time.Duration) error {
	waiting := 0
	done, err := frame.Until(ctx, within, func() (ok bool, err error) {
		waiting, err = env.Count(ctx, "SELECT (SELECT count(*) FROM api.outbox) + (SELECT count(*) FROM api.feed_drains) + (SELECT count(*) FROM api.score_drains)")
		return waiting == 0, err
	})
	seen.Check(done || err != nil, "%d facts have no numbers after %v", waiting, within)
	return err
}

// readFull reads the feed behind a number.
func readFull(ctx context.Context, env *frame.Env, after int64) (fullList, error) {
	rows, err := env.DB.Query(ctx, `SELECT e.seq, e.type, coalesce(e.market_id, ''), coalesce(e.lane, ''), coalesce(u.handle, ''), e.data::text
		FROM api.protocol_events e LEFT JOIN api.users u ON u.id = e.user_id WHERE e.seq > $1 ORDER BY e.seq`, after)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list fullList
	for rows.Next() {
		var h happened
		var data string
		if err := rows.Scan(&h.Seq, &h.kind, &h.market, &h.lane, &h.handle, &data); err != nil {
			return nil, err
		}
		h.Sum = feedclient.Sum(h.kind, []byte(data))
		list = append(list, h)
	}
	return list, rows.Err()
}

// broken counts the numbers that were given twice or not at all.
func (l fullList) broken(after int64) (n int) {
	for _, h := range l {
		if h.Seq != after+1 {
			n++
		}
		after = h.Seq
	}
	return n
}

// on tells whether an event is on a channel, by the table of docs/protocol/ws.md.
func (h *happened) on(channel string) bool {
	signal := strings.HasPrefix(h.kind, "signal.")
	kind, name, _ := strings.Cut(channel, ":")
	switch {
	case channel == feedclient.Everything:
		return true
	case channel == "signals":
		return signal
	case kind == "signals":
		return signal && "lane:"+h.lane == name
	case kind == "market":
		return h.market == name && (signal || strings.HasPrefix(h.kind, "market.") || strings.HasPrefix(h.kind, "stream."))
	case kind == "operator":
		return h.handle == name && (h.kind == "signal.created" || h.kind == "signal.resolved" || strings.HasPrefix(h.kind, "operator.") || h.kind == "moment.minted" || h.kind == "clip.ready")
	case channel == "resolutions":
		return h.kind == "market.resolved" || strings.HasPrefix(h.kind, "market.dispute")
	}
	return false
}

func (l fullList) of(channel string, since int64) (out []feedclient.Told) {
	for i := range l {
		if l[i].Seq > since && l[i].on(channel) {
			out = append(out, l[i].Told)
		}
	}
	return out
}

// reckoning is what became of everything that readers were to be told.
type reckoning struct {
	want, missing, doubled, disordered, wrong int
}

func (r *reckoning) add(o reckoning) {
	r.want += o.want
	r.missing += o.missing
	r.doubled += o.doubled
	r.disordered += o.disordered
	r.wrong += o.wrong
}

// reckon compares what a reader was told on one channel with the full list of it.
func reckon(want, got []feedclient.Told) reckoning {
	r := reckoning{want: len(want)}
	due := make(map[int64]uint64, len(want))
	for _, t := range want {
		due[t.Seq] = t.Sum
	}
	seen := make(map[int64]bool, len(got))
	last := int64(0)
	for _, t := range got {
		sum, is := due[t.Seq]
		switch {
		case seen[t.Seq]:
			r.doubled++
		case !is || sum != t.Sum:
			r.wrong++
		case t.Seq < last:
			r.disordered++
		}
		seen[t.Seq] = true
		last = max(last, t.Seq)
	}
	for _, t := range want {
		if !seen[t.Seq] {
			r.missing++
		}
	}
	return r
}

// audience is many readers of one feed.
type audience []*feedclient.Reader

// arrived waits until every reader has the last event of each of its channels, and tells
// how many have not.
func (a audience) arrived(ctx context.Context, full fullList, within time.Duration) (late int, err error) {
	last := map[string]int64{}
	due := func(r *feedclient.Reader, channel string) int64 {
		if _, known := last[channel]; !known {
			last[channel] = 0
			if all := full.of(channel, 0); len(all) > 0 {
				last[channel] = all[len(all)-1].Seq
			}
		}
		return last[channel]
	}
	_, err = frame.Until(ctx, within, func() (bool, error) {
		late = 0
		for _, r := range a {
			places := r.Places()
			for channel := range r.Channels {
				if places[channel] < due(r, channel) {
					late++
				}
			}
		}
		return late == 0, nil
	})
	return late, err
}

// judge compares what every reader was told with the full list.
func (a audience) judge(seen *frame.Seen, full fullList) (all reckoning) {
	var holes, repeats, connections, refusals atomic.Int64
	each := make([]reckoning, len(a))
	frame.Each(len(a), 4, func(i int) {
		r := a[i]
		for channel := range r.Channels {
			one := reckon(full.of(channel, r.Since(channel)), r.Got(channel))
			if one.missing+one.doubled+one.disordered+one.wrong > 0 {
				seen.Wrong("reader %d (%s) on %s: of %d events %d are missing, %d came twice, %d out of order, %d are others",
					i, r.Kind, channel, one.want, one.missing, one.doubled, one.disordered, one.wrong)
			}
			each[i].add(one)
		}
		so := r.So()
		holes.Add(int64(so.Holes))
		repeats.Add(int64(so.Repeats))
		connections.Add(int64(so.Connections))
		seen.Check(so.Gaps == 0, "reader %d (%s) was told of %d gaps", i, r.Kind, so.Gaps)
		for _, what := range so.Refused {
			// What the database cannot do right now is told, and done when it can.
			if code, _, _ := strings.Cut(what, ":"); code == "db_unavailable" {
				refusals.Add(1)
				continue
			}
			seen.Wrong("reader %d (%s): %s", i, r.Kind, what)
		}
	})
	for _, one := range each {
		all.add(one)
	}
	seen.Check(holes.Load() == 0, "readers saw %d holes, which the server had to fill", holes.Load())
	seen.Check(repeats.Load() == 0, "%d events came again", repeats.Load())
	seen.Figure("deliveries", all.want)
	seen.Figure("connections", connections.Load())
	seen.Figure("toldOfTrouble", refusals.Load())
	return all
}

func (a audience) close() {
	frame.Each(len(a), len(a), func(i int) { a[i].Close() })
}
