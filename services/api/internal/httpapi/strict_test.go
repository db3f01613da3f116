package httpapi_test

import (
	"net/http"
	"regexp"
	"slices"
	"testing"

	"github.com/signalcast/signalcast/services/api/internal/operator"
)

// strictKey mints a strict key with the given permissions, or with all of them if none is given.
func (b *bundle) strictKey(name string, permissions ...string) string {
	b.t.Helper()
	plaintext, _, _ := b.mint(name, true, permissions...)
	return plaintext
}

func TestStrictKeyNeedsThePermissionOfEveryRoute(t *testing.T) {
	t.Parallel()
	b := setup(t, options{memory: 1})
	all := []string{"read", "signal", "broadcast"}
	without := map[string]string{}
	for _, p := range all {
		without[p] = "Bearer " + b.strictKey("mara", slices.DeleteFunc(slices.Clone(all), func(q string) bool { return q == p })...)
	}
	params := regexp.MustCompile(`:\w+`)
	checked := 0
	for _, route := range b.server.Table() {
		if !slices.Contains(route.Who, "key") {
			if route.Permission != "" {
				t.Errorf("%s %s takes no key but requires the permission %q", route.Method, route.Path, route.Permission)
			}
			continue
		}
		as, known := without[route.Permission]
		if !known {
			t.Errorf("%s %s takes keys and requires no permission", route.Method, route.Path)
			continue
		}
		checked++
		if route.Path == "/ws" {
			_, resp, err := b.dial("127.0.0.1", http.Header{"Authorization": {as}})
			if err == nil || resp == nil || resp.StatusCode != http.StatusForbidden {
				t.Errorf("websocket with a strict key without %s: %v", route.Permission, err)
			}
			continue
		}
		a := b.do(route.Method, params.ReplaceAllString(route.Path, "0199f0a4-0000-7000-8000-000000000001"), "", "Authorization", as)
		if a.status != http.StatusForbidden || a.body["error"] != "insufficient_scope" || a.body["required"] != route.Permission {
			t.Errorf("%s %s with a strict key without %s: %d %s", route.Method, route.Path, route.Permission, a.status, a.raw)
		}
	}
	if checked < 15 {
		t.Errorf("only %d routes take keys", checked)
	}
}

func TestStrictKeyWithoutReadCannotAuthenticateASocket(t *testing.T) {
	t.Parallel()
	b := setup(t, options{memory: 1})
	c := b.socket()
	c.send(`{"op":"auth","id":"a","token":"` + b.strictKey("mara", "signal") + `"}`)
	c.want(frame{"op": "error", "id": "a", "error": "insufficient_scope", "message": "the key lacks the permission read; use a key that has it"})
	c.send(`{"op":"auth","id":"b","token":"` + b.strictKey("mara", "read") + `"}`)
	c.want(frame{"op": "ack", "id": "b", "channels": []any{}})
}

func TestAgentKeyRouteMintsStrictKeys(t *testing.T) {
	t.Parallel()
	b := setup(t, options{memory: 1})
	for body, strict := range map[string]bool{
		`{"label":"bot","permissions":["read"]}`:                false,
		`{"label":"bot","permissions":["read"],"strict":false}`: false,
		`{"label":"bot","permissions":["read"],"strict":true}`:  true,
	} {
		a := b.do(http.MethodPost, "/api/v1/agent/keys", body, "Authorization", "Bearer mara.b.c")
		if a.status != http.StatusCreated || a.body["strict"] != strict {
			t.Errorf("%s: %d %s", body, a.status, a.raw)
			continue
		}
		key, _ := a.body["key"].(string)
		_, k, err := b.operators.Verify(t.Context(), operator.Hash(key))
		if err != nil || k.Strict != strict {
			t.Errorf("%s: stored as strict %t, %v", body, k.Strict, err)
		}
	}
	if a := b.do(http.MethodPost, "/api/v1/agent/keys", `{"label":"bot","strict":"yes"}`, "Authorization", "Bearer mara.b.c"); a.status != http.StatusBadRequest {
		t.Errorf("strict that is no boolean: %d %s", a.status, a.raw)
	}
}
