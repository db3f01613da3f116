package conform

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// public contains the routes that return public lists. The field rows is the name of the member of the response that contains
// the list. The field most is the maximum number of its elements.
var public = []struct {
	host  host
	path  string
	rows  string
	most  int
	words []string // parameters with unknown values
}{
	{hub, "/api/signals/feed", "signals", 50, []string{"type=zz"}},
	{hub, "/api/network/tapes", "tapes", 48, nil},
	{hub, "/api/network/operators", "operators", 40, nil},
	{hub, "/api/network/program", "segments", 400, []string{"preset=zz"}},
	{hub, "/api/operator/leaderboard", "leaderboard", 100, []string{"operators=zz", "window=zz", "lane=ZZ"}},
	{hub, "/api/wire", "items", 200, []string{"window=zz", "lane=ZZ"}},
	{hub, "/api/situations", "situations", 100, []string{"window=zz", "lane=ZZ"}},
	{hub, "/api/markets/airable", "markets", 400, []string{"lane=ZZ"}},
	{hub, "/api/{venue}/markets", "markets", 100, []string{"lane=ZZ", "sort=zz", "cursor=!!", "cursor=eyJrIjpbMV19"}},
	{hub, "/api/{venue}/resolved", "markets", 100, []string{"cursor=zz"}},
	{hub, "/api/broadcast/feed", "items", 100, []string{"types=zz", "cursor=zz"}},
	{hub, "/api/resolution/markets", "markets", 100, []string{"status=zz", "due=zz"}},
	{api, "/api/v1/feed", "items", 200, []string{"lane=ZZ"}},
	{api, "/api/v1/signals", "signals", 100, []string{"status=zz", "cursor=zz"}},
	{api, "/api/v1/signals/leaderboard", "leaderboard", 200, []string{"operators=zz", "lane=ZZ"}},
}

// lists passes each public list to the function f if the service of the list has a configured address. In the path, it
// replaces {venue} with r.Venue.
func (r *run) lists(f func(h host, path, rows string, most int, words []string)) {
	for _, l := range public {
		if r.at(l.host) != "" {
			f(l.host, strings.Replace(l.path, "{venue}", r.Venue, 1), l.rows, l.most, l.words)
		}
	}
}

// listsNeverFail sends invalid parameters to each public list. The response must have status 200 and contain the list.
func listsNeverFail(ctx context.Context, r *run) {
	r.lists(func(h host, path, rows string, _ int, words []string) {
		sizes := []string{"limit=999999999999999999999", "limit=-1", "limit=zz"}
		if path == "/api/v1/feed" { // it rejects invalid parameters, because a reader must not miss an event
			sizes = sizes[:1]
		}
		for _, query := range append(sizes, words...) {
			a := r.get(ctx, h, path+"?"+query)
			if r.status(a, http.StatusOK) {
				_, isList := at(a.value, rows).([]any)
				r.expect(isList, a, "a list "+rows, rows+" is "+describe(at(a.value, rows)))
			}
		}
	})
}

// pageSizes reads each public list with a huge limit and with limit=1. The first response must not exceed the maximum number
// of elements of the list. The second must have at most 1 element.
func pageSizes(ctx context.Context, r *run) {
	r.lists(func(h host, path, rows string, most int, _ []string) {
		a := r.get(ctx, h, path+"?limit=999999999999999999999")
		n := len(list(a.value, rows))
		r.expect(n <= most, a, fmt.Sprintf("at most %d of %s", most, rows), fmt.Sprint(n))
		if one := r.get(ctx, h, path+"?limit=1"); n > 0 && one.status == http.StatusOK {
			n := len(list(one.value, rows))
			r.expect(n <= 1, one, "at most 1 of "+rows, fmt.Sprint(n))
		}
	})
}

// cursors reads the first two pages of several lists, with two elements each. The second page must not repeat an element.
func cursors(ctx context.Context, r *run) {
	for _, l := range []struct {
		host           host
		path, rows, id string
	}{
		{hub, "/api/" + r.Venue + "/markets", "markets", "id"},
		{api, "/api/v1/feed", "items", "id"},
		{api, "/api/v1/signals", "signals", "id"},
	} {
		if r.at(l.host) == "" {
			continue
		}
		// The order of a list may change between two requests, so only a second failure is a finding.
		if !r.pageContinues(ctx, l.host, l.path, l.rows, l.id, false) {
			r.pageContinues(ctx, l.host, l.path, l.rows, l.id, true)
		}
	}
}

// pageContinues reads two pages of a list and reports whether the second continues the first. It adds findings only if sure is
// true.
func (r *run) pageContinues(ctx context.Context, h host, path, rows, id string, sure bool) bool {
	expect := func(ok bool, a *answer, due, came string) bool {
		if sure || ok {
			r.expect(ok, a, due, came)
		}
		return ok
	}
	a := r.reread(ctx, h, path+"?limit=2")
	next := text(a.value, "next_cursor")
	if next == "" || len(next) > 1024 || strings.ContainsAny(next, "&#? %\r\n") {
		return expect(next == "", a, "next_cursor is base64url", "next_cursor is "+describe(next))
	}
	b := r.reread(ctx, h, path+"?limit=2&cursor="+next)
	if !expect(b.status == http.StatusOK, b, "200", b.summary()) {
		return false
	}
	seen, ok := map[string]bool{}, true
	for _, row := range list(a.value, rows) {
		seen[text(row, id)] = true
	}
	for _, row := range list(b.value, rows) {
		ok = expect(!seen[text(row, id)], b, "elements that are not on the previous page", id+" "+describe(at(row, id))+" again") && ok
	}
	return ok
}

const (
	noSignal = "0199f0a4-0000-7000-8000-00000000ffff"
	noMarket = "99999999999999999999"
	noHandle = "unknown_of_conform"
)

// emptyStates checks that reads of resources that do not exist return 404, and that the lists of an unknown market are [].
func emptyStates(ctx context.Context, r *run) {
	for _, path := range []string{
		"/api/signals/" + noSignal, "/api/operator/" + noHandle, "/api/network/field-record/" + noHandle,
		"/api/network/identity/" + noHandle, "/api/" + r.Venue + "/market?id=" + noMarket,
	} {
		r.status(r.get(ctx, hub, path), http.StatusNotFound)
	}
	market := "/api/m/native-zzzzzzzzzzzzzzzz"
	for _, c := range []struct{ path, rows string }{
		{market + "/signals", "signals"},
		{market + "/streams", "streams"},
		{market + "/clips", "clips"},
		{"/api/" + r.Venue + "/market-history?tokenId=1", "history"},
	} {
		a := r.get(ctx, hub, c.path)
		if r.status(a, http.StatusOK) {
			l, isList := at(a.value, c.rows).([]any)
			r.expect(isList && len(l) == 0, a, c.rows+" is []", c.rows+" is "+describe(at(a.value, c.rows)))
		}
	}
	if a := r.get(ctx, hub, market+"/signals"); a.status == http.StatusOK {
		r.expect(at(a.value, "yes") == nil && at(a.value, "no") == nil, a, "yes and no are null, because count is 0",
			"yes "+describe(at(a.value, "yes")))
	}
	for _, c := range []struct {
		path    string
		members map[string]any
	}{
		{market + "/crowd", map[string]any{"totalSignals": float64(0), "yesPercent": nil}},
		{"/api/resolution/outcome?market=native-zzzzzzzzzzzzzzzz", map[string]any{"outcome": nil}},
		{"/api/network/payout/" + noHandle, map[string]any{"eligible": false}},
	} {
		if a := r.get(ctx, hub, c.path); r.status(a, http.StatusOK) {
			for _, name := range slices.Sorted(maps.Keys(c.members)) {
				r.same(a, name, c.members[name])
			}
		}
	}
	if a := r.get(ctx, hub, "/api/streamer/signal?handle="+noHandle); r.status(a, http.StatusOK) {
		o, isObject := a.value.(map[string]any)
		_, present := o["marketId"]
		r.expect(isObject && present && o["marketId"] == nil, a, "marketId: null", describe(a.value))
	}
}
