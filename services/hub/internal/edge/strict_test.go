package edge_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// strictKey mints a strict key of mara's as her pages do.
func (b *bench) strictKey(permissions ...string) string {
	b.t.Helper()
	w := b.send("POST", "/api/dev/keys", object("label", "bot", "permissions", permissions, "strict", true), byLogin("mara_k"))
	want(b.t, w, 201, "")
	if field(w, "strict") != "true" {
		b.t.Errorf("not strict: %s", w.Body)
	}
	return field(w, "key")
}

func TestStrictKeyNeedsThePermissionOfEveryRoute(t *testing.T) {
	t.Parallel()
	b := setup(t)
	all := []string{"read", "signal", "broadcast"}
	without := map[string]header{}
	for _, p := range all {
		without[p] = bearer(b.strictKey(slices.DeleteFunc(slices.Clone(all), func(q string) bool { return q == p })...))
	}
	agents := []string{"/api/mcp"} // each tool names its permission
	params := regexp.MustCompile(`:\w+`)
	checked := 0
	for _, route := range b.server.Table() {
		if !slices.Contains(route.Who, "key") {
			if route.Permission != "" && !slices.Contains(route.Who, "token") {
				t.Errorf("%s %s takes no key but names the permission %q", route.Method, route.Path, route.Permission)
			}
			continue
		}
		if slices.Contains(agents, route.Path) {
			continue
		}
		as, known := without[route.Permission]
		if !known {
			t.Errorf("%s %s takes keys and names no permission", route.Method, route.Path)
			continue
		}
		checked++
		path := params.ReplaceAllString(route.Path, "0199f0a4-0000-7000-8000-000000000001")
		w := b.send(route.Method, path, "", as)
		if want(t, w, 403, "insufficient_scope"); w.Code != 403 {
			t.Errorf("%s %s with a strict key without %s", route.Method, route.Path, route.Permission)
		}
	}
	if checked < 20 {
		t.Errorf("only %d routes take keys", checked)
	}
}

func TestReadOnlyStrictKeyCannotCallOrGoOnAir(t *testing.T) {
	t.Parallel()
	b := setup(t)
	strict := bearer(b.strictKey("read"))
	w := b.send("POST", "/api/dev/keys", `{"label":"old","permissions":["read"]}`, byLogin("mara_k"))
	if field(w, "strict") != "false" {
		t.Errorf("strict is the default: %s", w.Body)
	}
	loose := bearer(field(w, "key"))
	for range 2 { // before and after the key is cached
		want(t, b.send("POST", "/api/predictions", fullDraft, strict), 403, "insufficient_scope")
		want(t, b.send("POST", "/api/streamer/heartbeat", "", strict), 403, "insufficient_scope")
	}
	want(t, b.send("GET", "/api/network/field-record/me", "", strict), 200, "")
	// The older write routes only record the permissions of other keys.
	want(t, b.send("POST", "/api/predictions", fullDraft, loose), 200, "")
}

func TestRevokedStrictKeyIsUnauthenticated(t *testing.T) {
	t.Parallel()
	b := setup(t)
	key := bearer(b.strictKey("read"))
	want(t, b.send("POST", "/api/predictions", fullDraft, key), 403, "insufficient_scope")
	list := b.send("GET", "/api/dev/keys", "", byLogin("mara_k"))
	body := list.Body.String()
	if !strings.Contains(body, `"permissions":["read"],"strict":true`) || !strings.Contains(body, `"lastUsedAt":`) {
		t.Errorf("the list: %s", body)
	}
	at := strings.Index(body, `"strict":true`)
	from := strings.LastIndex(body[:at], `{"id":"`) + len(`{"id":"`)
	id := body[from : from+36]
	b.send("DELETE", "/api/dev/keys?id="+id, "", byLogin("mara_k"))
	want(t, b.send("POST", "/api/predictions", fullDraft, key), 401, "unauthenticated")
}
