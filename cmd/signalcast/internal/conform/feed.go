package conform

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
)

// newest reads the newest page of the feed. It returns the response, the sequence numbers in ascending order, and the event types
// by sequence number.
func (r *run) newest(ctx context.Context) (a *answer, seqs []int, types map[int]string) {
	a = r.reread(ctx, api, "/api/v1/feed?limit=100")
	types = map[int]string{}
	for _, item := range list(a.value, "items") {
		seq, ok := integer(item, "seq")
		if r.expect(ok && seq > 0, a, "seq is a number above 0", describe(at(item, "seq"))) {
			seqs = append(seqs, seq)
			types[seq] = text(item, "type")
		}
	}
	slices.Reverse(seqs)
	return a, seqs, types
}

// feedSequence reads the newest page of the feed, and then the page after its oldest event. Each sequence number must be one more
// than the previous one. A page after a number above the newest event must be an error.
func feedSequence(ctx context.Context, r *run) {
	a, seqs, _ := r.newest(ctx)
	if len(seqs) == 0 {
		return
	}
	for i := 1; i < len(seqs); i++ {
		r.expect(seqs[i] == seqs[i-1]+1, a, fmt.Sprintf("seq %d after %d", seqs[i-1]+1, seqs[i-1]), strconv.Itoa(seqs[i]))
	}
	before := seqs[0]
	b := r.reread(ctx, api, "/api/v1/feed?limit=200&after="+strconv.Itoa(before))
	if !r.status(b, http.StatusOK) {
		return
	}
	for _, item := range list(b.value, "items") {
		seq, _ := integer(item, "seq")
		r.expect(seq == before+1, b, fmt.Sprintf("seq %d after %d", before+1, before), strconv.Itoa(seq))
		before = seq
	}
	last := seqs[len(seqs)-1]
	r.expect(before >= last, b, fmt.Sprintf("all events up to %d, the newest one", last), strconv.Itoa(before))
	ahead := r.reread(ctx, api, "/api/v1/feed?after="+strconv.Itoa(before+1_000_000))
	r.expect(ahead.status == http.StatusBadRequest && text(ahead.value, "error") == "future_cursor", ahead,
		"400 future_cursor", ahead.summary())
}
