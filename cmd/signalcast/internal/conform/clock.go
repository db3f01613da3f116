package conform

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Lengths of a slot and of its bumper in seconds (docs/programme.md, Slots).
const (
	slot   = 610
	bumper = 10
)

// segment checks that the times and the kind of a segment match the slot in its id.
func (r *run) segment(a *answer, s any) {
	id := text(s, "segmentId")
	parts := strings.Split(id, ":")
	begins, ok := timeAt(s, "startsAt")
	ends, ok2 := timeAt(s, "endDate")
	if !r.expect(len(parts) >= 4 && ok && ok2, a, "segmentId <channel>:<lane>:<k>:b|c with startsAt and endDate", describe(s)) {
		return
	}
	k, err := strconv.ParseInt(parts[len(parts)-2], 10, 64)
	kind := map[string]string{"b": "bumper", "c": "content"}[parts[len(parts)-1]]
	r.expect(err == nil && kind == text(s, "kind"), a, "kind as in segmentId", describe(id)+" and "+describe(at(s, "kind")))
	from, to := k*slot, k*slot+bumper
	if kind == "content" {
		from, to = k*slot+bumper, (k+1)*slot
	}
	r.expect(begins.Equal(time.Unix(from, 0)) && ends.Equal(time.Unix(to, 0)), a,
		fmt.Sprintf("slot %d, %s: %s", k, kind, time.Unix(from, 0).UTC().Format(time.RFC3339)),
		text(s, "startsAt")+" to "+text(s, "endDate"))
}

// clockSlots checks the times and the order of the segments in the timeline and in two channels. It also checks that the
// current segment contains the time of the response, and that the next segment is of kind content.
func clockSlots(ctx context.Context, r *run) {
	for _, path := range []string{"/program/timeline", "/program/channel?preset=hot", "/program/channel?preset=close"} {
		a := r.get(ctx, clock, path)
		if !r.status(a, http.StatusOK) {
			continue
		}
		var last time.Time
		segments := list(a.value, "segments")
		for _, s := range segments {
			r.segment(a, s)
			begins, _ := timeAt(s, "startsAt")
			r.expect(!begins.Before(last), a, "segments by startsAt", text(s, "startsAt")+" after "+last.Format(time.RFC3339))
			last = begins
		}
		total, ok := integer(a.value, "total")
		r.expect(ok && total >= len(segments), a, fmt.Sprintf("total is at least %d", len(segments)), describe(at(a.value, "total")))
	}
	now := r.reread(ctx, clock, "/program/now")
	if at(now.value, "segment") != nil {
		r.segment(now, at(now.value, "segment"))
		begins, _ := timeAt(now.value, "segment.startsAt")
		ends, _ := timeAt(now.value, "segment.endDate")
		made, ok := timeAt(now.value, "generatedAt")
		r.expect(ok && !made.Before(begins) && made.Before(ends), now, "a segment that contains generatedAt",
			text(now.value, "segment.startsAt")+" at "+text(now.value, "generatedAt"))
	}
	next := r.reread(ctx, clock, "/program/next")
	if at(next.value, "segment") != nil {
		r.segment(next, at(next.value, "segment"))
		r.expect(text(next.value, "segment.kind") == "content", next, "content", describe(at(next.value, "segment.kind")))
		begins, _ := timeAt(next.value, "segment.startsAt")
		made, _ := timeAt(next.value, "generatedAt")
		r.expect(begins.After(made), next, "a segment that starts after generatedAt",
			text(next.value, "segment.startsAt")+" at "+text(next.value, "generatedAt"))
	}
}

// clockSame reads the timeline twice from the clock and once from the hub. A segment that has started must have the same
// market in all responses that contain it.
func clockSame(ctx context.Context, r *run) {
	started := func(a *answer) map[string]string {
		out := map[string]string{}
		made, _ := timeAt(a.value, "generatedAt")
		for _, s := range list(a.value, "segments") {
			if begins, ok := timeAt(s, "startsAt"); ok && !begins.After(made) {
				out[text(s, "segmentId")] = text(s, "id")
			}
		}
		return out
	}
	a := r.reread(ctx, clock, "/program/timeline?limit=400")
	if !r.status(a, http.StatusOK) {
		return
	}
	markets := started(a)
	for _, b := range []*answer{
		r.send(ctx, request{method: http.MethodGet, host: clock, path: "/program/timeline?limit=400"}),
		r.reread(ctx, hub, "/api/network/program?limit=400"),
	} {
		if b.status != http.StatusOK || at(b.value, "enabled") == false {
			continue
		}
		for id, market := range started(b) {
			if markets[id] != "" {
				r.expect(market == markets[id], b, id+" is "+markets[id]+", as before", market)
			}
		}
	}
}

// clockSpec checks that the clock refuses an invalid channel spec, and that the categories of a valid spec filter the segments.
func clockSpec(ctx context.Context, r *run) {
	for _, spec := range []string{
		`[]`, `{`, `{"minVolume":"x"}`, `{"minYes":90,"maxYes":10}`, `{"topPerCategory":51}`, `{"maxResolveHours":0}`,
	} {
		a := r.get(ctx, clock, "/program/channel?spec="+url.QueryEscape(spec))
		r.refused(a, http.StatusBadRequest, "invalid_spec")
	}
	want := []string{"science", "politics"}
	a := r.get(ctx, clock, "/program/channel?spec="+url.QueryEscape(`{"categories":["science","politics"],"unknownMember":1}`))
	if r.status(a, http.StatusOK) {
		for _, s := range list(a.value, "segments") {
			r.expect(slices.Contains(want, text(s, "category")), a, "science or politics", describe(at(s, "category")))
		}
	}
	r.status(r.get(ctx, clock, "/program/channel?preset=zz"), http.StatusOK)
}
