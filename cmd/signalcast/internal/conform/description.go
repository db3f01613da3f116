package conform

import (
	"bytes"
	"context"
	"strconv"
	"strings"
)

// reach checks that the hub answers requests.
func reach(ctx context.Context, r *run) {
	for range silentAfter {
		if a := r.reread(ctx, hub, "/openapi.json"); r.expect(a.err == nil, a, "an answer") {
			return
		}
	}
}

// readDocument reads the OpenAPI document of the hub. It returns nil and adds a finding if the hub serves none.
func (r *run) readDocument(ctx context.Context) *answer {
	a := r.get(ctx, hub, "/openapi.json")
	if !r.status(a, 200) || !r.expect(at(a.value, "paths") != nil, a, "an OpenAPI document") {
		return nil
	}
	return a
}

// description checks that the OpenAPI document has a supported version and the most important paths, and that the second route of
// the document returns the same bytes.
func description(ctx context.Context, r *run) {
	a := r.readDocument(ctx)
	if a == nil {
		return
	}
	r.expect(strings.HasPrefix(text(a.value, "openapi"), "3.1"), a, "openapi is 3.1", "openapi is "+describe(at(a.value, "openapi")))
	version := text(a.value, "info.version")
	major, rest, _ := strings.Cut(version, ".")
	minor, _, _ := strings.Cut(rest, ".")
	n, err := strconv.Atoi(minor)
	r.expect(major == "1" && err == nil && n >= 9, a, "info.version is 1.9 or later, and below 2",
		"info.version is "+describe(version))
	for _, path := range []string{
		"/api/predictions", "/api/signals/{id}", "/api/signals/feed", "/api/resolution/outcome", "/api/protocol/v1",
	} {
		_, there := at(a.value, "paths").(map[string]any)[path]
		r.expect(there, a, "the path "+path, "the path is missing")
	}
	if b := r.get(ctx, hub, "/docs/openapi.json"); r.status(b, 200) {
		r.expect(bytes.Equal(a.body, b.body), b, "the bytes of /openapi.json", "other bytes")
	}
}

// openPrefixes are the prefixes of the paths that pages of any origin may read.
var openPrefixes = []string{
	"/api/broadcast/", "/api/oracle/featured", "/api/embed/", "/api/card/", "/api/c/", "/api/fashion/signals",
	"/api/network/", "/api/situations",
}

// closedUnder are routes below openPrefixes that require a key or the admin secret.
var closedUnder = []string{"/api/broadcast/preempt", "/api/network/field-record/me"}

// taggedOpen checks that the OpenAPI document has the tag x-<service>-cors-open on each read that pages of any origin may
// request.
func taggedOpen(ctx context.Context, r *run) {
	a := r.readDocument(ctx)
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
		r.expect(tagged, a, "GET "+path+" has x-<service>-cors-open: true", "it does not have the tag")
	}
}
