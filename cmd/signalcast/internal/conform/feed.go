package conform

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
)

// newest are the numbers of the newest page of the whole feed, oldest first, with the
// types of their events.
func (r *run) newest(ctx context.Context) (a *answer, seqs []int, types map[int]string) {
	a = r.reread(ctx, api, "/api/v1/feed?limit=100")
	types = map[int]string{}
	for _, item := range list(a.value, "items") {
		seq, ok := whole(item, "seq")
		if r.due(ok && seq > 0, a, "seq is a number above 0", say(at(item, "seq"))) {
			seqs = append(seqs, seq)
			types[seq] = text(item, "type")
		}
	}
	slices.Reverse(seqs)
	return a, seqs, types
}

// feedSequence reads the newest page, and the same forward: each number is one more
// than the one before, and nothing is left out.
func feedSequence(ctx context.Context, r *run) {
	a, seqs, _ := r.newest(ctx)
	if len(seqs) == 0 {
		return
	}
	for i := 1; i < len(seqs); i++ {
		r.due(seqs[i] == seqs[i-1]+1, a, fmt.Sprintf("seq %d behind %d", seqs[i-1]+1, seqs[i-1]), strconv.Itoa(seqs[i]))
	}
	before := seqs[0]
	b := r.reread(ctx, api, "/api/v1/feed?limit=200&after="+strconv.Itoa(before))
	if !r.status(b, http.StatusOK) {
		return
	}
	for _, item := range list(b.value, "items") {
		seq, _ := whole(item, "seq")
		r.due(seq == before+1, b, fmt.Sprintf("seq %d behind %d", before+1, before), strconv.Itoa(seq))
		before = seq
	}
	last := seqs[len(seqs)-1]
	r.due(before >= last, b, fmt.Sprintf("everything up to %d, which the newest page has", last), strconv.Itoa(before))
	ahead := r.reread(ctx, api, "/api/v1/feed?after="+strconv.Itoa(before+1_000_000))
	if r.status(ahead, http.StatusOK) {
		n := len(list(ahead.value, "items"))
		r.due(n == 0, ahead, "nothing behind the newest", fmt.Sprintf("%d items", n))
	}
}
