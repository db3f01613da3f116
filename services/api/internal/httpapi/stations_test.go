package httpapi_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/signalcast/signalcast/services/api/internal/delivery"
	"github.com/signalcast/signalcast/services/api/internal/httpapi"
	"github.com/signalcast/signalcast/services/api/internal/station"
)

const (
	stationsPath = "/api/v1/stations"
	adminSecret  = "0123456789abcdef-the-admin-secret"
)

func (b *bundle) stations() *station.Service {
	return station.NewService(b.store, "https://hub.example", delivery.AllowedURL(false), time.Now)
}

// TestStationRoutes checks the routes of stations with one station, from its creation to its deletion.
func TestStationRoutes(t *testing.T) {
	t.Parallel()
	b := setup(t, options{memory: 1})
	key, _, _ := b.keyWith("mara", "broadcast")
	other, _, _ := b.keyWith("otto", "broadcast", "read")
	as, theirs := "Bearer "+key, "Bearer "+other
	made := b.do("POST", stationsPath, `{"stationId":"river-tv","name":"River TV","url":"https://River.example:443/live","lanes":["SCIENCE"],"tapesUrl":"https://river.example/tapes","more":1}`, "Authorization", as)
	st, _ := made.body["station"].(map[string]any)
	if made.status != 201 || made.body["ok"] != true {
		t.Fatalf("create a station: %d %s", made.status, made.raw)
	}
	want := map[string]any{
		"stationId": "river-tv", "name": "River TV", "ownerHandle": "mara", "url": "https://River.example:443/live", "origin": "river-tv", "description": nil,
		"lanes": []any{"SCIENCE"}, "providers": []any{}, "tapesUrl": "https://river.example/tapes", "operatorsUrl": nil, "status": "pending", "lastSeenAt": nil,
		"createdAt": st["createdAt"], "updatedAt": st["createdAt"],
	}
	if diff := cmp.Diff(want, st); diff != "" || st["createdAt"] == "" {
		t.Fatalf("(-want +got):\n%s", diff)
	}
	one := stationsPath + "/river-tv"
	if a := b.get(one); a.status != 200 || cmp.Diff(any(want), any(a.body)) != "" || a.header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("get the station: %d %s", a.status, a.raw)
	}
	if a := b.get(stationsPath); a.status != 200 || fmt.Sprint(a.body) != "map[next_cursor:<nil> stations:[]]" {
		t.Errorf("before it is active: %s", a.raw)
	}
	for name, c := range map[string]struct {
		method, path, body, as string
		status                 int
		code                   string
	}{
		"id taken":             {"POST", stationsPath, `{"stationId":"river-tv","name":"x","url":"https://a.example"}`, theirs, 409, "station_exists"},
		"id of the hub":        {"POST", stationsPath, `{"stationId":"hub","name":"x","url":"https://a.example"}`, theirs, 409, "station_exists"},
		"URL of the hub":       {"POST", stationsPath, `{"stationId":"abc","name":"x","url":"https://HUB.example.:443/x"}`, as, 409, "station_exists"},
		"moved to the hub":     {"PUT", one, `{"url":"https://hub.example"}`, as, 409, "station_exists"},
		"no id":                {"POST", stationsPath, `{"name":"x","url":"https://a.example"}`, as, 400, "missing_station_id"},
		"bad id":               {"POST", stationsPath, `{"stationId":"River","name":"x","url":"https://a.example"}`, as, 400, "invalid_station_id"},
		"no name":              {"POST", stationsPath, `{"stationId":"abc","url":"https://a.example"}`, as, 400, "missing_name"},
		"name on two lines":    {"POST", stationsPath, `{"stationId":"abc","name":"a\nb","url":"https://a.example"}`, as, 400, "invalid_name"},
		"http":                 {"POST", stationsPath, `{"stationId":"abc","name":"x","url":"http://a.example"}`, as, 400, "invalid_url"},
		"private URL":          {"POST", stationsPath, `{"stationId":"abc","name":"x","url":"https://127.0.0.1"}`, as, 400, "invalid_url"},
		"private tapes URL":    {"PUT", one, `{"tapesUrl":"https://10.0.0.1/x"}`, as, 400, "invalid_tapes_url"},
		"unknown lane":         {"PUT", one, `{"lanes":["MOON"]}`, as, 400, "invalid_lanes"},
		"provider twice":       {"PUT", one, `{"providers":["kalshi","kalshi"]}`, as, 400, "invalid_providers"},
		"not approved":         {"PUT", one, `{"status":"active"}`, as, 403, "not_approved"},
		"an admin's status":    {"PUT", one, `{"status":"suspended"}`, as, 400, "invalid_status"},
		"change by another":    {"PUT", one, `{"name":"mine"}`, theirs, 403, "forbidden"},
		"heartbeat by another": {"POST", one + "/heartbeat", "", theirs, 403, "forbidden"},
		"deletion by another":  {"DELETE", one, "", theirs, 403, "forbidden"},
		"unknown":              {"PUT", stationsPath + "/unknown", `{"name":"x"}`, as, 404, "not_found"},
		"no key":               {"POST", one + "/heartbeat", "", "", 401, "unauthenticated"},
	} {
		headers := []string{"Authorization", c.as}
		if c.as == "" {
			headers = nil
		}
		if a := b.do(c.method, c.path, c.body, headers...); a.status != c.status || a.body["error"] != c.code {
			t.Errorf("%s: %d %s", name, a.status, a.raw)
		}
	}
	reader, _, _ := b.keyWith("rita", "read", "signal")
	if a := b.do("POST", one+"/heartbeat", "", "Authorization", "Bearer "+reader); a.status != 403 || a.body["required"] != "broadcast" {
		t.Errorf("without broadcast: %d %s", a.status, a.raw)
	}
	b.approve("river-tv", "active", 200)
	if a := b.get(stationsPath + "?lane=SCIENCE"); len(a.body["stations"].([]any)) != 1 {
		t.Errorf("list after approval: %s", a.raw)
	}
	if a := b.get(stationsPath + "?lane=SPORT"); len(a.body["stations"].([]any)) != 0 {
		t.Errorf("of another lane: %s", a.raw)
	}
	beat := b.do("POST", one+"/heartbeat", "", "Authorization", as)
	if beat.status != 200 || string(beat.raw) != `{"ok":true,"intervalS":60}` || b.get(one).body["lastSeenAt"] == nil {
		t.Errorf("heartbeat: %d %s", beat.status, beat.raw)
	}
	status := func(body string) any {
		t.Helper()
		a := b.do("PUT", one, body, "Authorization", as)
		st, _ := a.body["station"].(map[string]any)
		return st["status"]
	}
	for _, step := range [][2]string{
		{`{"status":"paused"}`, "paused"},
		{`{"status":"active","name":"River"}`, "active"},
		{`{"url":"https://river.example/elsewhere"}`, "active"}, // the origin does not change
		{`{"tapesUrl":"https://elsewhere.example/t"}`, "pending"},
	} {
		if got := status(step[0]); got != step[1] {
			t.Errorf("%s: %v, want %s", step[0], got, step[1])
		}
	}
	if a := b.do("DELETE", one, "", "Authorization", as); a.status != 200 || b.get(one).status != 404 {
		t.Errorf("delete the station: %d %s", a.status, a.raw)
	}
	if a := b.do("POST", stationsPath, `{"stationId":"river-tv","name":"x","url":"https://a.example"}`, "Authorization", theirs); a.body["error"] != "station_exists" {
		t.Errorf("an id that was ended: %s", a.raw)
	}
}

func (b *bundle) approve(id, status string, want int) {
	b.t.Helper()
	a := b.do("POST", stationsPath+"/"+id+"/status", `{"status":"`+status+`","reason":"seen"}`, "X-Admin-Secret", adminSecret)
	if a.status != want {
		b.t.Errorf("%s becomes %s: %d %s", id, status, a.status, a.raw)
	}
}

// TestStationAddressBelongsToOne checks that of several stations with the same origin, at most one is active.
func TestStationAddressBelongsToOne(t *testing.T) {
	t.Parallel()
	b := setup(t, options{memory: 1})
	key, _, _ := b.keyWith("mara", "broadcast")
	for _, id := range []string{"one", "two"} {
		if a := b.do("POST", stationsPath, `{"stationId":"`+id+`","name":"x","url":"https://same.example./`+id+`"}`, "Authorization", "Bearer "+key); a.status != 201 {
			t.Fatalf("create a station: %d %s", a.status, a.raw)
		}
	}
	b.approve("one", "active", 200)
	b.approve("two", "active", 409)
	b.approve("one", "suspended", 200)
	b.approve("two", "active", 200)
	if a := b.do("PUT", stationsPath+"/one", `{"status":"active"}`, "Authorization", "Bearer "+key); a.body["error"] != "not_approved" {
		t.Errorf("a suspended station, activated by its owner: %s", a.raw)
	}
	for i := 3; i <= station.MaxOwned; i++ {
		b.do("POST", stationsPath, fmt.Sprintf(`{"stationId":"st-%d","name":"x","url":"https://same.example"}`, i), "Authorization", "Bearer "+key)
	}
	if a := b.do("POST", stationsPath, `{"stationId":"too-many","name":"x","url":"https://same.example"}`, "Authorization", "Bearer "+key); a.body["error"] != "limit_reached" {
		t.Errorf("one too many: %s", a.raw)
	}
}

// TestDeletedStations checks that only the former owner can create a station with the id of a deleted one. The earlier state
// must not be restored, and the id must count towards the owner's limit of ids.
func TestDeletedStations(t *testing.T) {
	t.Parallel()
	b := setup(t, options{memory: 1})
	key, _, _ := b.keyWith("mara", "broadcast")
	other, _, _ := b.keyWith("otto", "broadcast")
	create := func(id, key string) answer {
		return b.do("POST", stationsPath, `{"stationId":"`+id+`","name":"`+id+`","url":"https://`+id+`.example"}`, "Authorization", "Bearer "+key)
	}
	end := func(id string) { b.do("DELETE", stationsPath+"/"+id, "", "Authorization", "Bearer "+key) }
	create("first", key)
	b.approve("first", "active", 200)
	b.do("POST", stationsPath+"/first/heartbeat", "", "Authorization", "Bearer "+key)
	end("first")
	if a := create("first", other); a.status != 409 || a.body["error"] != "station_exists" {
		t.Errorf("by another operator: %d %s", a.status, a.raw)
	}
	a := create("first", key)
	st, _ := a.body["station"].(map[string]any)
	if a.status != 201 || st["status"] != "pending" || st["lastSeenAt"] != nil || st["ownerHandle"] != "mara" {
		t.Errorf("by its owner: %d %s", a.status, a.raw)
	}
	if a := create("first", key); a.body["error"] != "station_exists" {
		t.Errorf("while it exists: %s", a.raw)
	}
	for i := 1; i < station.MaxIDs; i++ {
		id := fmt.Sprintf("burnt-%d", i)
		if a := create(id, key); a.status != 201 {
			t.Fatalf("create station %d: %s", i, a.raw)
		}
		end(id)
	}
	if a := create("one-more", key); a.status != 409 || a.body["error"] != "limit_reached" || a.body["limit"] != float64(station.MaxIDs) {
		t.Errorf("one id too many: %d %s", a.status, a.raw)
	}
	if a := create("burnt-1", key); a.status != 201 {
		t.Errorf("the operator's deleted id: %d %s", a.status, a.raw)
	}
	if a := create("one-more", other); a.status != 201 {
		t.Errorf("the rejected id, by another operator: %d %s", a.status, a.raw)
	}
}

// TestStationAtTheHub checks a stored station with the URL of the hub, which older releases accepted. It must not be listed and
// must not become active.
func TestStationAtTheHub(t *testing.T) {
	t.Parallel()
	b := setup(t, options{memory: 1})
	key, mara, _ := b.keyWith("mara", "broadcast")
	b.do("POST", stationsPath, `{"stationId":"shadow","name":"x","url":"https://shadow.example"}`, "Authorization", "Bearer "+key)
	if _, err := b.admin.Exec(t.Context(), `UPDATE api.stations SET url = 'https://hub.example/', origin_url = 'https://hub.example', status = 'active'`); err != nil {
		t.Fatal(err)
	}
	if list, err := b.stations().Active(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("the station is listed: %v %v", list, err)
	}
	b.approve("shadow", "suspended", 200)
	b.approve("shadow", "active", 409)
	if a := b.do("PUT", stationsPath+"/shadow", `{"name":"y"}`, "Authorization", "Bearer "+key); a.status != 409 || a.body["field"] != "url" {
		t.Errorf("by its owner: %d %s", a.status, a.raw)
	}
	// The messages station.create and station.update use these methods.
	text := "https://hub.example"
	for name, err := range map[string]error{
		"create": b.stations().Create(t.Context(), mara, "", station.Draft{ID: "shadow-2", Name: &text, URL: &text}),
		"update": b.stations().Change(t.Context(), mara, "", station.Draft{ID: "shadow", URL: &text}),
	} {
		if !errors.Is(err, station.ErrHubURL) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if a := b.do("PUT", stationsPath+"/shadow", `{"url":"https://shadow.example"}`, "Authorization", "Bearer "+key); a.status != 200 {
		t.Errorf("a change to another URL: %d %s", a.status, a.raw)
	}
}

// TestStationAdmin checks that the routes for administrators require the admin secret and no other credential, and that changes
// are in the audit log.
func TestStationAdmin(t *testing.T) {
	t.Parallel()
	b := setup(t, options{memory: 1})
	key, _, _ := b.keyWith("mara", "broadcast")
	b.do("POST", stationsPath, `{"stationId":"one","name":"x","url":"https://same.example"}`, "Authorization", "Bearer "+key)
	path := stationsPath + "/one/status"
	for name, c := range map[string]struct {
		headers []string
		status  int
	}{
		"nothing": {nil, 401}, "a key": {[]string{"Authorization", "Bearer " + key}, 401},
		"both": {[]string{"Authorization", "Bearer " + key, "X-Admin-Secret", adminSecret}, 401}, "wrong": {[]string{"X-Admin-Secret", "guess"}, 403},
	} {
		if a := b.do("POST", path, `{"status":"active"}`, c.headers...); a.status != c.status {
			t.Errorf("%s: %d %s", name, a.status, a.raw)
		}
	}
	for body, code := range map[string]string{`{}`: "missing_status", `{"status":"gone"}`: "invalid_status", `{"status":"active","reason":"` + strings.Repeat("x", 281) + `"}`: "invalid_reason"} {
		if a := b.do("POST", path, body, "X-Admin-Secret", adminSecret); a.status != 400 || a.body["error"] != code {
			t.Errorf("%s: %d %s", body, a.status, a.raw)
		}
	}
	b.approve("one", "active", 200)
	b.approve("unknown", "active", 404)
	if a := b.do("DELETE", stationsPath+"/one", "", "X-Admin-Secret", adminSecret); a.status != 200 {
		t.Errorf("delete as administrator: %d %s", a.status, a.raw)
	}
	var n int
	if err := b.admin.QueryRow(t.Context(), `SELECT count(*) FROM api.audit_log WHERE subject = 'one' AND actor = 'admin' AND action IN ('station.ruled', 'station.dropped')`).Scan(&n); err != nil || n != 2 {
		t.Errorf("%d changes in the audit log, want 2 (%v)", n, err)
	}
	for range httpapi.MaxFailures {
		b.do("POST", path, `{"status":"active"}`, "X-Admin-Secret", "guess")
	}
	if a := b.do("POST", path, `{"status":"active"}`, "X-Admin-Secret", adminSecret); a.status != 429 {
		t.Errorf("after ten wrong secrets: %d %s", a.status, a.raw)
	}
}

// TestStationPagesAndProgramme checks the pages of the list of stations. The programme of a station must be the stored copy.
func TestStationPagesAndProgramme(t *testing.T) {
	t.Parallel()
	b := setup(t, options{memory: 1})
	key, _, _ := b.keyWith("mara", "broadcast")
	for _, id := range []string{"aaa", "bbb", "ccc"} {
		b.do("POST", stationsPath, `{"stationId":"`+id+`","name":"x","url":"https://`+id+`.example"}`, "Authorization", "Bearer "+key)
		b.approve(id, "active", 200)
	}
	first := b.get(stationsPath + "?limit=2")
	next, _ := first.body["next_cursor"].(string)
	rest := b.get(stationsPath + "?limit=2&cursor=" + next)
	if len(first.body["stations"].([]any)) != 2 || len(rest.body["stations"].([]any)) != 1 || rest.body["next_cursor"] != nil {
		t.Errorf("first page %s, second page %s", first.raw, rest.raw)
	}
	if a := b.get(stationsPath + "/aaa/program"); a.status != 200 || a.body["total"] != 0.0 {
		t.Errorf("programme without a copy: %d %s", a.status, a.raw)
	}
	if a := b.get(stationsPath + "/zzz/program"); a.status != 404 {
		t.Errorf("programme of an unknown station: %d %s, want 404", a.status, a.raw)
	}
}
