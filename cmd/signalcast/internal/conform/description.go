package conform

import (
	"bytes"
	"context"
	"strconv"
	"strings"
)

func reach(ctx context.Context, r *run) {
	for range silentAfter {
		if a := r.reread(ctx, hub, "/openapi.json"); r.due(a.err == nil, a, "an answer") {
			return
		}
	}
}

// described reads the description; nil, with a finding, is none.
func (r *run) described(ctx context.Context) *answer {
	a := r.get(ctx, hub, "/openapi.json")
	if !r.status(a, 200) || !r.due(at(a.value, "paths") != nil, a, "an OpenAPI document") {
		return nil
	}
	return a
}

func description(ctx context.Context, r *run) {
	a := r.described(ctx)
	if a == nil {
		return
	}
	r.due(strings.HasPrefix(text(a.value, "openapi"), "3.1"), a, "openapi is 3.1", "openapi is "+say(at(a.value, "openapi")))
	version := text(a.value, "info.version")
	major, rest, _ := strings.Cut(version, ".")
	minor, _, _ := strings.Cut(rest, ".")
	n, err := strconv.Atoi(minor)
	r.due(major == "1" && err == nil && n >= 9, a, "info.version is 1.9 or later, and below 2", "info.version is "+say(version))
	for _, path := range []string{"/api/predictions", "/api/signals/{id}", "/api/signals/feed", "/api/resolution/outcome", "/api/protocol/v1"} {
		_, there := at(a.value, "paths").(map[string]any)[path]
		r.due(there, a, "the path "+path, "no such path")
	}
	if b := r.get(ctx, hub, "/docs/openapi.json"); r.status(b, 200) {
		r.due(bytes.Equal(a.body, b.body), b, "the bytes of /openapi.json", "other ones")
	}
}

// openPrefixes are the paths that any origin may read.
var openPrefixes = []string{
	"/api/broadcast/", "/api/oracle/featured", "/api/embed/", "/api/card/", "/api/c/", "/api/fashion/signals", "/api/network/", "/api/situations",
}

// closedUnder are keyed or administrative routes below one of them.
var closedUnder = []string{"/api/broadcast/preempt", "/api/network/field-record/me"}

func taggedOpen(ctx context.Context, r *run) {
	a := r.described(ctx)
	if a == nil {
		return
	}
	paths, _ := at(a.value, "paths").(map[string]any)
	for path, item := range paths {
		under := strings.HasPrefix(path, "/api/"+r.Venue+"/")
		for _, p := range openPrefixes {
			under = under || strings.HasPrefix(path, p)
		}
		for _, p := range closedUnder {
			under = under && path != p
		}
		op, isRead := at(item, "get").(map[string]any)
		if !under || !isRead {
			continue
		}
		tagged := false
		for name, v := range op {
			tagged = tagged || strings.HasPrefix(name, "x-") && strings.HasSuffix(name, "-cors-open") && v == true
		}
		r.due(tagged, a, "GET "+path+" has x-<service>-cors-open: true", "it has not")
	}
}
