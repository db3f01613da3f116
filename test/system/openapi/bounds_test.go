package openapi_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/signalcast/signalcast/test/system/openapi"
)

// TestBoundaryCases checks that BoundaryCases returns bodies at each bound of a schema and just beyond it, and that each body
// has only one changed member.
func TestBoundaryCases(t *testing.T) {
	t.Parallel()
	doc := openapi.ForTest(t)
	key := openapi.BoundaryCases(find(t, doc, "POST hub/api/dev/keys").Body(), map[string]any{"label": "desk"})
	call := openapi.BoundaryCases(find(t, doc, "POST hub/api/predictions").Body(), map[string]any{"marketId": "701122", "direction": "YES", "priceAtPrediction": 5000})
	profile := openapi.BoundaryCases(find(t, doc, "POST hub/api/streamer/profile").Body(), map[string]any{"avatarUrl": "https://me.example/face.png"})
	event := openapi.BoundaryCases(find(t, doc, "POST hub/api/signals/{id}/events").Body().OneOf[0].Value, map[string]any{"type": "take", "payload": map[string]any{"text": "rain"}})
	for what, valid := range map[string]bool{
		"label is missing": false, "label is null": false, "label is of type integer": false, "label has the maximum length": true,
		"label is one character too long": false, "label is one character too long in four-byte characters": false, "label is one character too short": false,
		"permissions has a repeated item": false, "permissions has an item that is not an allowed value": false, "permissions has an item that is signal": true, "permissions is of type string": false,
		"priceAtPrediction is the minimum": true, "priceAtPrediction is one below the minimum": false, "priceAtPrediction is the maximum": true,
		"priceAtPrediction is one above the maximum": false, "priceAtPrediction is not an integer": false, "direction is not an allowed value": false, "direction is NO": true,
		"unknown is present": true, "avatarUrl has the maximum length": true, "avatarUrl is one character too long": false, "avatarUrl does not match its pattern": false,
		"payload has a value where text is one character too long": false, "payload has a value where all members are missing": false,
	} {
		i := slices.IndexFunc(slices.Concat(key, call, profile, event), func(e openapi.BoundaryCase) bool { return e.What == what })
		if i < 0 {
			t.Errorf("there is no case %q", what)
		} else if e := slices.Concat(key, call, profile, event)[i]; e.Valid != valid {
			t.Errorf("%s: valid is %t; want %t", what, e.Valid, valid)
		}
	}
	for _, e := range key {
		label, there := e.Body["label"]
		if e.Field != "label" && label != "desk" || e.What == "label is missing" && there {
			t.Errorf("case %q changes other members too: %v", e.What, e.Body)
		}
		if n := len([]rune(textOf(label))); strings.HasPrefix(e.What, "label has the maximum length") && n != 64 || strings.HasPrefix(e.What, "label is one character too long") && n != 65 {
			t.Errorf("case %q has a label of %d characters; want 64 at the maximum and 65 beyond it", e.What, n)
		}
	}
	for _, e := range profile {
		if address := textOf(e.Body["avatarUrl"]); e.What == "avatarUrl has the maximum length" && (len(address) != 500 || !strings.HasPrefix(address, "https://me.example/a") || !strings.HasSuffix(address, "aface.png")) {
			t.Errorf("the longest avatarUrl is %s; want 500 characters with the original beginning and end", address)
		}
	}
}

func textOf(v any) string {
	s, _ := v.(string)
	return s
}
