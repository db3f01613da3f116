package rows

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"time"
)

// absent takes a member away.
type absent struct{}

// poisonedTapes are rows that nobody may see, each wrong in one way; own is the
// partner's address, others are those of somebody else.
func poisonedTapes(own, name string, others ...string) []string {
	good := goodTape(own, "bad")
	script := `<script>alert(1)</script>`
	var out []string
	add := func(change map[string]any) {
		m := maps.Clone(good)
		m["id"] = fmt.Sprintf("%s-bad-%d", name, len(out))
		for member, value := range change {
			if m[member] = value; value == (absent{}) {
				delete(m, member)
			}
		}
		out = append(out, encoded(m))
	}
	for member := range good {
		add(map[string]any{member: absent{}})
		if member != "durationS" && member != "stance" {
			add(map[string]any{member: nil})
		}
		add(map[string]any{member: map[string]any{"a": []any{1}}})
		if member != "origin" { // which is never believed
			add(map[string]any{member: strings.Repeat("x", 9000)})
		}
	}
	for _, change := range []map[string]any{
		{"id": script},
		{"id": ""},
		{"id": 7},
		{"handle": script},
		{"handle": "a"},
		{"handle": "a b"},
		{"handle": strings.Repeat("h", 33)},
		{"url": "javascript:alert(1)"},
		{"url": "data:text/html," + script},
		{"url": "http://v.example/a.m3u8"},
		{"url": "https://v.example/a.html"},
		{"url": "https://v.example/\"><script>.m3u8"},
		{"href": "javascript:alert(1)"},
		{"href": own + `/u/"><script>`},
		{"href": own + "@evil.example/u/x"},
		{"href": "//" + strings.TrimPrefix(own, "http://")},
		{"marketId": "../../x"},
		{"marketId": script},
		{"durationS": -1},
		{"durationS": 1.5},
		{"durationS": "30"},
		{"views": -1},
		{"views": 1e300},
		{"views": "9"},
		{"stance": "MAYBE"},
		{"boosted": "true"},
		{"boosted": 1},
		{"createdAt": time.Now().Add(time.Hour).UTC().Format(time.RFC3339)},
		{"createdAt": "9999-12-31T23:59:59.000Z"},
		{"createdAt": "0001-01-01T00:00:00Z"},
		{"createdAt": "yesterday"},
	} {
		add(change)
	}
	for _, other := range others {
		add(map[string]any{"originUrl": other, "href": other + "/u/mara"})
		add(map[string]any{"originUrl": other})
		add(map[string]any{"href": other + "/u/mara"})
	}
	return append(out, `7`, `null`, `"x"`, `[]`, `{"id":}`, `{}`, strings.Repeat(`{"a":`, 50_000)+"1"+strings.Repeat("}", 50_000))
}

// goodTape is a row as it has to be.
func goodTape(own, id string) map[string]any {
	return map[string]any{
		"id": id, "origin": "hub", "originUrl": own, "handle": "otto", "url": "https://v.example/a.m3u8", "marketId": "1", "href": own + "/u/otto",
		"durationS": 30, "views": 4, "stance": "YES", "createdAt": "2026-01-01T00:00:00.000Z", "boosted": true,
	}
}

// goodOperator is a row as it has to be.
func goodOperator(own, handle string) map[string]any {
	return map[string]any{
		"origin": "hub", "originUrl": own, "handle": handle, "displayName": "Otto", "avatarUrl": nil, "score": 480_000, "accuracy": 60, "total": 10_002, "won": 6000, "lost": 4000, // above whoever else has called here
		"pending": 2, "followers": 3, "href": own + "/u/" + handle, "tier": "independent", "operatorType": "human", "isAi": false, "resolved": 10_000, "streak": 2, "avgClvBps": 5,
	}
}

// poisonedOperators are rows that nobody may see.
func poisonedOperators(own string, others ...string) []string {
	var out []string
	add := func(change map[string]any) {
		m := goodOperator(own, fmt.Sprintf("bad_%d", len(out)))
		maps.Copy(m, change)
		out = append(out, encoded(m))
	}
	for _, change := range []map[string]any{
		{"handle": `"><img src=x onerror=alert(1)>`},
		{"displayName": "a\u2028b"},
		{"displayName": ""},
		{"displayName": 7},
		{"displayName": strings.Repeat("x", 65)},
		{"avatarUrl": "javascript:alert(1)"},
		{"avatarUrl": "data:image/svg+xml,<svg onload=alert(1)>"},
		{"avatarUrl": 7},
		{"score": 1e18},
		{"score": 1_000_001},
		{"score": "480000"},
		{"score": nil},
		{"accuracy": 101},
		{"accuracy": -1},
		{"total": -1},
		{"total": 3},
		{"won": 1e12},
		{"pending": 99},
		{"followers": "many"},
		{"resolved": 12},
		{"streak": 10_001},
		{"avgClvBps": 1e6},
		{"operatorType": "ai_agent"},
		{"operatorType": "system_bot"},
		{"isAi": true},
		{"isAi": "yes"},
		{"tier": "automated"},
		{"tier": "gold"},
		{"href": "javascript:alert(1)"},
	} {
		add(change)
	}
	for _, other := range others {
		add(map[string]any{"originUrl": other, "href": other + "/u/mara"})
		add(map[string]any{"originUrl": other})
		add(map[string]any{"href": other + "/u/mara"})
	}
	return append(out, `7`, `null`, `{"handle":"x"}`)
}

func encoded(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // plain values
	}
	return string(raw)
}
