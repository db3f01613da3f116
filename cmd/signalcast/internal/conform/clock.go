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

// Lengths of the programme, in seconds (contract 4.9.2).
const (
	slot   = 610
	bumper = 10
)

// segment compares one segment with the arithmetic of slots.
func (r *run) segment(a *answer, s any) {
	id := text(s, "segmentId")
	parts := strings.Split(id, ":")
	begins, ok := moment(s, "startsAt")
	ends, ok2 := moment(s, "endDate")
	if !r.due(len(parts) >= 4 && ok && ok2, a, "segmentId <channel>:<lane>:<k>:b|c with startsAt and endDate", say(s)) {
		return
	}
	k, err := strconv.ParseInt(parts[len(parts)-2], 10, 64)
	kind := map[string]string{"b": "bumper", "c": "content"}[parts[len(parts)-1]]
	r.due(err == nil && kind == text(s, "kind"), a, "kind as in segmentId", say(id)+" and "+say(at(s, "kind")))
	from, to := k*slot, k*slot+bumper
	if kind == "content" {
		from, to = k*slot+bumper, (k+1)*slot
	}
	r.due(begins.Equal(time.Unix(from, 0)) && ends.Equal(time.Unix(to, 0)), a,
		fmt.Sprintf("slot %d, %s: %s", k, kind, time.Unix(from, 0).UTC().Format(time.RFC3339)), text(s, "startsAt")+" to "+text(s, "endDate"))
}

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
			begins, _ := moment(s, "startsAt")
			r.due(!begins.Before(last), a, "segments by startsAt", text(s, "startsAt")+" behind "+last.Format(time.RFC3339))
			last = begins
		}
		total, ok := whole(a.value, "total")
		r.due(ok && total >= len(segments), a, fmt.Sprintf("total is at least %d", len(segments)), say(at(a.value, "total")))
	}
	now := r.reread(ctx, clock, "/program/now")
	if at(now.value, "segment") != nil {
		r.segment(now, at(now.value, "segment"))
		begins, _ := moment(now.value, "segment.startsAt")
		ends, _ := moment(now.value, "segment.endDate")
		made, ok := moment(now.value, "generatedAt")
		r.due(ok && !made.Before(begins) && made.Before(ends), now, "a segment that airs at generatedAt", text(now.value, "segment.startsAt")+" at "+text(now.value, "generatedAt"))
	}
	next := r.reread(ctx, clock, "/program/next")
	if at(next.value, "segment") != nil {
		r.segment(next, at(next.value, "segment"))
		r.due(text(next.value, "segment.kind") == "content", next, "content", say(at(next.value, "segment.kind")))
		begins, _ := moment(next.value, "segment.startsAt")
		made, _ := moment(next.value, "generatedAt")
		r.due(begins.After(made), next, "a segment that is still to come", text(next.value, "segment.startsAt")+" at "+text(next.value, "generatedAt"))
	}
}

// clockSame reads the stored programme twice, and from the hub: segments that have begun are the same in each answer.
func clockSame(ctx context.Context, r *run) {
	begun := func(a *answer) map[string]string {
		out := map[string]string{}
		made, _ := moment(a.value, "generatedAt")
		for _, s := range list(a.value, "segments") {
			if begins, ok := moment(s, "startsAt"); ok && !begins.After(made) {
				out[text(s, "segmentId")] = text(s, "id")
			}
		}
		return out
	}
	a := r.reread(ctx, clock, "/program/timeline?limit=400")
	if !r.status(a, http.StatusOK) {
		return
	}
	airs := begun(a)
	for _, b := range []*answer{
		r.send(ctx, request{method: http.MethodGet, host: clock, path: "/program/timeline?limit=400"}),
		r.reread(ctx, hub, "/api/network/program?limit=400"),
	} {
		if b.status != http.StatusOK || at(b.value, "enabled") == false {
			continue
		}
		for id, market := range begun(b) {
			if airs[id] != "" {
				r.due(market == airs[id], b, id+" is "+airs[id]+", as before", market)
			}
		}
	}
}

func clockSpec(ctx context.Context, r *run) {
	for _, spec := range []string{`[]`, `{`, `{"minVolume":"x"}`, `{"minYes":90,"maxYes":10}`, `{"topPerCategory":51}`, `{"maxResolveHours":0}`} {
		a := r.get(ctx, clock, "/program/channel?spec="+url.QueryEscape(spec))
		r.refused(a, http.StatusBadRequest, "invalid_spec")
	}
	want := []string{"science", "politics"}
	a := r.get(ctx, clock, "/program/channel?spec="+url.QueryEscape(`{"categories":["science","politics"],"unknownMember":1}`))
	if r.status(a, http.StatusOK) {
		for _, s := range list(a.value, "segments") {
			r.due(slices.Contains(want, text(s, "category")), a, "science or politics", say(at(s, "category")))
		}
	}
	r.status(r.get(ctx, clock, "/program/channel?preset=zz"), http.StatusOK)
}
