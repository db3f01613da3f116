package openapi_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/signalcast/signalcast/test/system/openapi"
)

// TestEdges: the bodies around a good one stand at each bound of the description and one
// step beyond, and nothing else of them changes.
func TestEdges(t *testing.T) {
	t.Parallel()
	doc := openapi.ForTest(t)
	key := openapi.BoundaryCases(find(t, doc, "POST hub/api/dev/keys").Body(), map[string]any{"label": "desk"})
	call := openapi.BoundaryCases(find(t, doc, "POST hub/api/predictions").Body(), map[string]any{"marketId": "701122", "direction": "YES", "priceAtPrediction": 5000})
	profile := openapi.BoundaryCases(find(t, doc, "POST hub/api/streamer/profile").Body(), map[string]any{"avatarUrl": "https://me.example/face.png"})
	event := openapi.BoundaryCases(find(t, doc, "POST hub/api/signals/{id}/events").Body().OneOf[0].Value, map[string]any{"type": "take", "payload": map[string]any{"text": "rain"}})
	for what, valid := range map[string]bool{
		"label is left out": false, "label is null": false, "label is of type integer": false, "label is as long as it may be": true,
		"label is one longer than it may be": false, "label is one longer than it may be in letters of four bytes": false, "label is one shorter than it may be": false,
		"permissions has one twice": false, "permissions has one that is no word of the list": false, "permissions has one that is signal": true, "permissions is of type string": false,
		"priceAtPrediction is the smallest": true, "priceAtPrediction is one below the smallest": false, "priceAtPrediction is the largest": true,
		"priceAtPrediction is one above the largest": false, "priceAtPrediction is no whole number": false, "direction is no word of the list": false, "direction is NO": true,
		"unknown is there": true, "avatarUrl is as long as it may be": true, "avatarUrl is one longer than it may be": false, "avatarUrl is not of its form": false,
		"payload has one whose text is one longer than it may be": false, "payload has one whose nothing is there": false,
	} {
		i := slices.IndexFunc(slices.Concat(key, call, profile, event), func(e openapi.BoundaryCase) bool { return e.What == what })
		if i < 0 {
			t.Errorf("there is no body where %s", what)
		} else if e := slices.Concat(key, call, profile, event)[i]; e.Valid != valid {
			t.Errorf("%s: valid %t, want %t", what, e.Valid, valid)
		}
	}
	for _, e := range key {
		label, there := e.Body["label"]
		if e.Field != "label" && label != "desk" || e.What == "label is left out" && there {
			t.Errorf("%s: %v", e.What, e.Body)
		}
		if n := len([]rune(textOf(label))); strings.HasPrefix(e.What, "label is as long") && n != 64 || strings.HasPrefix(e.What, "label is one longer") && n != 65 {
			t.Errorf("%s: %d letters", e.What, n)
		}
	}
	for _, e := range profile {
		if address := textOf(e.Body["avatarUrl"]); e.What == "avatarUrl is as long as it may be" && (len(address) != 500 || !strings.HasPrefix(address, "https://me.example/a") || !strings.HasSuffix(address, "aface.png")) {
			t.Errorf("%s", address)
		}
	}
}

func textOf(v any) string {
	s, _ := v.(string)
	return s
}
